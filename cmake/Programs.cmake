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
  else()
    install(TARGETS ${name} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  endif()
endfunction()

mcpac_program(mcpac MAIN src/cli/mcpac_main.cpp DEPS mcpac::cli)
# Reads untrusted C++ with libclang; runs in the sandbox, one process a question.
mcpac_program(mcpac-analyzer LIBEXEC MAIN analyzer/clang/worker_main.cpp DEPS mcpac::analyzer_clang)
# Makes sandboxes; small, single-threaded, without secrets (docs/architecture.md, "the warden").
mcpac_program(mcpac-warden LIBEXEC MAIN src/sandbox/warden_main.cpp DEPS mcpac::sandbox)
if(TARGET mcpac-warden)
  target_link_options(mcpac-warden PRIVATE $<$<NOT:$<BOOL:${MCPAC_SANITIZED}>>:-static>)
endif()
