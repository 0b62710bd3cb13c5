# The three programs: mcpac itself, and the two that it starts.
function(mcpac_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "LIBEXEC" "MAIN" "DEPS")
  if(NOT EXISTS "${PROJECT_SOURCE_DIR}/${arg_MAIN}")
    return()
  endif()
  add_executable(${name} "${arg_MAIN}")
  target_link_libraries(${name} PRIVATE mcpac::warnings ${arg_DEPS})
  if(arg_LIBEXEC)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${MCPAC_LIBEXEC_OUTPUT}")
    install(TARGETS ${name} RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/mcpac")
  endif()  # mcpac itself is installed with the package, cmake/Install.cmake
endfunction()

mcpac_program(mcpac MAIN src/cli/mcpac_main.cpp DEPS mcpac::cli)
if(MCPAC_STATIC_RUNTIME)  # not the analyzer: libclang brings the shared one
  target_link_options(mcpac PRIVATE -static-libstdc++ -static-libgcc)
endif()
# Reads untrusted C++ with libclang; runs in the sandbox, one process a question.
mcpac_program(mcpac-analyzer LIBEXEC MAIN analyzer/clang/worker_main.cpp DEPS mcpac::analyzer_clang)
# Makes sandboxes; small, single-threaded, without secrets (docs/architecture.md, "the warden"). Static, so
# that it starts fast and needs nothing of the machine; Debian has {fmt} as a shared library only, so the
# few sources are compiled once more with the header-only one. A sanitizer's runtime cannot be static.
set(MCPAC_WARDEN_MAIN "${PROJECT_SOURCE_DIR}/src/sandbox/warden_main.cpp")
if(EXISTS "${MCPAC_WARDEN_MAIN}")
  file(GLOB warden_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/sandbox/*.cpp")
  foreach(name IN ITEMS abandoned error error_id file hash)
    list(APPEND warden_sources "${PROJECT_SOURCE_DIR}/src/core/${name}.cpp")
  endforeach()
  add_executable(mcpac-warden ${warden_sources})
  target_include_directories(mcpac-warden PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(mcpac-warden PRIVATE mcpac::warnings fmt::fmt-header-only)
  if(MCPAC_SANITIZED)
    target_link_libraries(mcpac-warden PRIVATE mcpac::seccomp mcpac::sodium)
  else()
    target_link_libraries(mcpac-warden PRIVATE "${MCPAC_SECCOMP_STATIC}" "${MCPAC_SODIUM_STATIC}")
    target_link_options(mcpac-warden PRIVATE -static)
  endif()
  set_target_properties(mcpac-warden PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${MCPAC_LIBEXEC_OUTPUT}")
  install(TARGETS mcpac-warden RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/mcpac")
endif()
