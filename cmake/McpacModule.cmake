# SPDX-License-Identifier: Apache-2.0
# How a room of the house is declared: one static library a module, one test program a module.

# One flag set for our code only: dependencies come in as SYSTEM and stay quiet.
add_library(mcpac_warnings INTERFACE)
add_library(mcpac::warnings ALIAS mcpac_warnings)
target_compile_options(mcpac_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor
  -Woverloaded-virtual -Wimplicit-fallthrough
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>
  # g++ 12 reports these falsely for inlined std::string, std::optional
  # and for coroutine frames (GCC bugs 105329, 105562, 109224); clang's own checks and the sanitizers cover them.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict -Wno-maybe-uninitialized -Wno-mismatched-new-delete>
  # And these where headers come precompiled: moved and joined strings (GCC bug 105329). The dev build keeps them.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${MCPAC_PRECOMPILED}>>:-Wno-array-bounds -Wno-stringop-overread -Wno-stringop-overflow>
  # What a coroutine of one file keeps is no part of the interface, also where the compiler sees several files.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${MCPAC_TOGETHER}>>:-Wno-subobject-linkage>
  # Nor does a name shadow another file's. The dev build with clang keeps this.
  $<$<AND:$<CXX_COMPILER_ID:Clang>,$<BOOL:${MCPAC_TOGETHER}>>:-Wno-shadow>)

# What most files read first. The builds of CI compile it once a family of targets with the same flags instead of
# once a file, which saves 25 to 53 % of a file's processor time; the dev builds go on proving that each file
# includes what it uses.
set(MCPAC_USUAL_HEADERS <algorithm> <array> <chrono> <expected> <filesystem> <functional> <map> <memory> <optional>
  <set> <span> <string> <string_view> <utility> <variant> <vector> <fmt/format.h> <nlohmann/json.hpp>)
set(MCPAC_HEADERS_OF_usual ${MCPAC_USUAL_HEADERS})
set(MCPAC_HEADERS_OF_fuzzed_usual ${MCPAC_USUAL_HEADERS})
# Not CLI11: each file that reads it makes its validators, which takes longer than all else in a small file.
set(MCPAC_ASIO_HEADERS <boost/asio/any_io_executor.hpp> <boost/asio/as_tuple.hpp> <boost/asio/awaitable.hpp>
  <boost/asio/co_spawn.hpp> <boost/asio/post.hpp> <boost/asio/steady_timer.hpp> <boost/asio/use_awaitable.hpp>)
set(MCPAC_HEADERS_OF_asio ${MCPAC_USUAL_HEADERS} ${MCPAC_ASIO_HEADERS})
set(MCPAC_HEADERS_OF_fuzzed_asio ${MCPAC_HEADERS_OF_asio})
set(MCPAC_HEADERS_OF_test <doctest/doctest.h> ${MCPAC_USUAL_HEADERS})
set(MCPAC_HEADERS_OF_loop_test ${MCPAC_HEADERS_OF_test} ${MCPAC_ASIO_HEADERS})
set(MCPAC_HEADERS_OF_program_test ${MCPAC_HEADERS_OF_test})  # of what programs see, which knows no other library
function(mcpac_precompile target family)  # the first target of a family compiles the headers, the others share them
  if(MCPAC_PRECOMPILED)
    get_property(first GLOBAL PROPERTY MCPAC_PRECOMPILED_${family})
    if(first)
      target_precompile_headers(${target} REUSE_FROM ${first})
    else()
      target_precompile_headers(${target} PRIVATE ${MCPAC_HEADERS_OF_${family}})
      set_property(GLOBAL PROPERTY MCPAC_PRECOMPILED_${family} ${target})
    endif()
    # So that ccache can know it again: without the time in it; with what it stands for in the text.
    target_compile_options(${target} PRIVATE "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>"
                           $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  endif()
endfunction()

# mcpac_together(<target>): about eight files of a folder are one for the compiler, which then makes what they share
# of templates once (docs/adr/0048). A file's place follows from its name alone, so that a new file moves no other.
# What lies in nameless namespaces of files that are compiled together must have different names.
function(mcpac_together target)
  if(NOT MCPAC_TOGETHER)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  get_target_property(base ${target} SOURCE_DIR)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  set(folders "")
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${base}" NORMALIZE)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    list(APPEND folders "${folder}")
    list(APPEND in_${folder} "${source}")
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder ${folders})
    list(LENGTH in_${folder} length)
    set(groups 1)
    while(length GREATER 12)
      math(EXPR groups "2 * ${groups}")
      math(EXPR length "${length} / 2")
    endwhile()
    foreach(source ${in_${folder}})
      cmake_path(GET source FILENAME name)
      string(MD5 digest "${name}")
      string(SUBSTRING "${digest}" 0 4 digest)
      math(EXPR group "0x${digest} % ${groups}")
      set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${folder}_${group}")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# mcpac_module(<name> DIR <folder> [CORNERS folder ...] [FUZZED] [DEPS mcpac::a ...] [PRIVATE_DEPS ...])
# A module is every .cpp of its folder and its corners (a folder a subject) except *_main.cpp, which are programs. It sees only what DEPS
# names, so the floor plan in docs/architecture.md is enforced here and by tools/check_layers.py.
# FUZZED modules tell a fuzzer where an input went, and are optimised, since inputs a second count there.
function(mcpac_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "FUZZED" "DIR" "CORNERS;DEPS;PRIVATE_DEPS;SOURCES")
  set(patterns "${PROJECT_SOURCE_DIR}/${arg_DIR}/*.cpp")
  foreach(corner ${arg_CORNERS})
    list(APPEND patterns "${PROJECT_SOURCE_DIR}/${arg_DIR}/${corner}/*.cpp")
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  list(FILTER sources EXCLUDE REGEX "_main\\.cpp$")
  add_library(mcpac_${name} STATIC ${sources} ${arg_SOURCES})
  add_library(mcpac::${name} ALIAS mcpac_${name})
  target_include_directories(mcpac_${name} PUBLIC "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/src")
  target_compile_definitions(mcpac_${name} PRIVATE MCPAC_VERSION="${PROJECT_VERSION}")
  target_link_libraries(mcpac_${name} PUBLIC ${arg_DEPS} PRIVATE mcpac::warnings ${arg_PRIVATE_DEPS})
  set(family usual)
  if("mcpac::ipc" IN_LIST arg_DEPS OR "mcpac::mcp" IN_LIST arg_DEPS OR "mcpac::run" IN_LIST arg_DEPS OR name MATCHES "^(ipc|run)$")
    set(family asio)
  endif()
  if(MCPAC_FUZZ AND arg_FUZZED)
    target_compile_options(mcpac_${name} PRIVATE -O1 -fsanitize=fuzzer-no-link)
    string(PREPEND family "fuzzed_")
  endif()
  mcpac_precompile(mcpac_${name} ${family})
  mcpac_together(mcpac_${name})
endfunction()

# mcpac_test(<name> [HEADERS family] [DEPS ...] [BESIDE file ...] [SANITIZED ...]): tests/<name>/*_test.cpp as one
# doctest program, test_<name>, and one test, <name>. What the files of BESIDE test is a test of its own,
# <name>_beside: where <name> measures and runs alone, that need not. SANITIZED are arguments that leave out what a
# sanitizer has nothing to say about.
function(mcpac_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "HEADERS" "DEPS;BESIDE;SANITIZED")
  if(NOT arg_HEADERS)
    set(arg_HEADERS test)
  endif()
  if(NOT MCPAC_SANITIZED)
    set(arg_SANITIZED "")
  endif()
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/${name}/*_test.cpp"
       "${PROJECT_SOURCE_DIR}/tests/${name}/support_*.cpp")
  add_executable(test_${name} ${sources})
  target_link_libraries(test_${name} PRIVATE mcpac::test_main mcpac::warnings ${arg_DEPS})
  target_include_directories(test_${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_compile_definitions(test_${name} PRIVATE $<$<BOOL:${MCPAC_SANITIZED}>:MCPAC_SANITIZED>)
  # Tests are not shipped: what is optimised in a release build is what they test.
  target_compile_options(test_${name} PRIVATE $<$<CONFIG:Release>:-O0 -U_FORTIFY_SOURCE>)
  mcpac_precompile(test_${name} ${arg_HEADERS})
  cmake_language(EVAL CODE "cmake_language(DEFER CALL mcpac_together test_${name})")  # with sources added later
  set(all_but_beside "")
  if(arg_BESIDE)
    list(TRANSFORM arg_BESIDE REPLACE ".+" "*/\\0_test.cpp")
    list(JOIN arg_BESIDE "," beside)
    add_test(NAME ${name}_beside COMMAND test_${name} -sf=${beside} ${arg_SANITIZED})
    set(all_but_beside -sfe=${beside})
  endif()
  add_test(NAME ${name} COMMAND test_${name} ${all_but_beside} ${arg_SANITIZED})
endfunction()
