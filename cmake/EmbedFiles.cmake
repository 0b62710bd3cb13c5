# SPDX-License-Identifier: Apache-2.0
# mcpac_embed(<output.cpp> FILES ... BASE dir [FUNCTION name]): files as string constants in the program,
# so that an installed mcpac does not depend on where its data lies. Run as a script it writes the file.
if(CMAKE_SCRIPT_MODE_FILE)
  set(text "// Made by cmake/EmbedFiles.cmake; do not edit.\n#include \"codegen/embedded.h\"\n\nnamespace mcpac::codegen {\n\nstd::span<const EmbeddedFile> ${FUNCTION}() {\n  static constexpr EmbeddedFile kFiles[] = {\n")
  string(REPLACE "|" ";" files "${FILES}")
  foreach(file IN LISTS files)
    file(RELATIVE_PATH name "${BASE}" "${file}")
    file(READ "${file}" content HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" escaped "${content}")
    # Pieces of 4,000 bytes: compilers limit the length of one literal.
    string(LENGTH "${escaped}" length)
    set(pieces "")
    set(at 0)
    while(at LESS length)
      string(SUBSTRING "${escaped}" ${at} 16000 piece)
      string(APPEND pieces "\n       \"${piece}\"")
      math(EXPR at "${at} + 16000")
    endwhile()
    math(EXPR bytes "${length} / 4")
    string(APPEND text "      {\"${name}\", std::string_view(${pieces}, ${bytes})},\n")
  endforeach()
  string(APPEND text "  };\n  return kFiles;\n}\n\n}  // namespace mcpac::codegen\n")
  file(WRITE "${OUTPUT}" "${text}")
  return()
endif()

function(mcpac_embed output)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "BASE;FUNCTION" "FILES")
  if(NOT arg_FUNCTION)
    set(arg_FUNCTION embedded_files)
  endif()
  string(REPLACE ";" "|" joined "${arg_FILES}")
  add_custom_command(OUTPUT "${output}"
    COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${output}" "-DBASE=${arg_BASE}" "-DFILES=${joined}" "-DFUNCTION=${arg_FUNCTION}"
            -P "${PROJECT_SOURCE_DIR}/cmake/EmbedFiles.cmake"
    DEPENDS ${arg_FILES} "${PROJECT_SOURCE_DIR}/cmake/EmbedFiles.cmake" VERBATIM
    COMMENT "Embedding ${output}")
endfunction()
