# SPDX-License-Identifier: Apache-2.0
# The five programs: all of mcpac, what people start in front of it, and the three that it starts.
function(mcpac_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "LIBEXEC" "MAIN" "DEPS")
  add_executable(${name} "${arg_MAIN}")
  target_link_libraries(${name} PRIVATE mcpac::warnings ${arg_DEPS})
  if(arg_LIBEXEC)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${MCPAC_LIBEXEC_OUTPUT}")
    install(TARGETS ${name} RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/mcpac")
  endif()  # mcpac itself is installed with the package, cmake/Install.cmake
endfunction()

mcpac_program(mcpac-whole LIBEXEC MAIN src/cli/mcpac_main.cpp DEPS mcpac::cli)
set_target_properties(mcpac-whole PROPERTIES OUTPUT_NAME mcpac)
if(MCPAC_STATIC_RUNTIME)  # not the analyzer: libclang brings the shared one
  target_link_options(mcpac-whole PRIVATE -static-libstdc++ -static-libgcc)
endif()
# Reads untrusted C++ with libclang; runs in the sandbox, one process a question.
mcpac_program(mcpac-analyzer LIBEXEC MAIN analyzer/clang/worker_main.cpp DEPS mcpac::analyzer_clang)
# mcpac_static_program(<name> SOURCES ... SHARED ... ARCHIVES ...): starts fast and needs nothing of the machine, so
# few sources are compiled once more, with the {fmt} that is all headers, since Debian has it as a shared library
# only. A sanitizer's runtime cannot be static: there the same libraries are shared.
function(mcpac_static_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;SHARED;ARCHIVES")
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/src")
  target_compile_definitions(${name} PRIVATE MCPAC_VERSION="${PROJECT_VERSION}")
  target_link_libraries(${name} PRIVATE mcpac::warnings fmt::fmt-header-only nlohmann_json::nlohmann_json)
  if(MCPAC_SANITIZED)
    target_link_libraries(${name} PRIVATE ${arg_SHARED})
  else()
    target_link_libraries(${name} PRIVATE ${arg_ARCHIVES})
    target_link_options(${name} PRIVATE -static)
  endif()
  mcpac_together(${name})
endfunction()

# Makes sandboxes; small, single-threaded, without secrets (docs/architecture.md, "the warden").
file(GLOB warden_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/sandbox/*.cpp")
foreach(name IN ITEMS abandoned characters error error_id file folded_name hash repository write_all)
  list(APPEND warden_sources "${PROJECT_SOURCE_DIR}/src/core/${name}.cpp")
endforeach()
mcpac_static_program(mcpac-warden SOURCES ${warden_sources} SHARED mcpac::seccomp mcpac::sodium
  ARCHIVES "${MCPAC_SECCOMP_STATIC}" "${MCPAC_SODIUM_STATIC}")
set_target_properties(mcpac-warden PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${MCPAC_LIBEXEC_OUTPUT}")
install(TARGETS mcpac-warden RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/mcpac")

# The parent of one server: nothing of that stays (src/mcp/keeper_main.cpp).
mcpac_static_program(mcpac-keeper SOURCES "${PROJECT_SOURCE_DIR}/src/mcp/keeper_main.cpp")
set_target_properties(mcpac-keeper PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${MCPAC_LIBEXEC_OUTPUT}")
install(TARGETS mcpac-keeper RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/mcpac")
add_dependencies(mcpac-whole mcpac-keeper)

# What people start: has a worker do the command, or becomes all of mcpac (docs/adr/0043). Installed with the
# package, cmake/Install.cmake.
set(front_sources "")
foreach(name IN ITEMS
    cli/front_main cli/user_folders cli/worker_choice
    resident/client resident/door resident/handshake resident/nonce resident/passed_signals resident/patience
    resident/request resident/sealed_memory resident/standing resident/exec_handover resident/wire
    project/project_place
    core/abandoned core/characters core/error core/error_id core/error_json core/file core/file_stamp core/hash core/json core/json_escape core/json_reader
    core/json_writer core/printable core/socket_folder core/write_all)
  list(APPEND front_sources "${PROJECT_SOURCE_DIR}/src/${name}.cpp")
endforeach()
mcpac_static_program(mcpac SOURCES ${front_sources} SHARED mcpac::sodium ARCHIVES "${MCPAC_SODIUM_STATIC}")
add_dependencies(mcpac mcpac-whole)
# All that an installation has; `./dev quickstart` builds neither tests nor benchmarks.
add_custom_target(product DEPENDS mcpac mcpac-whole mcpac-analyzer mcpac-warden mcpac-keeper)
