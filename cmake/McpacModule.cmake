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
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict -Wno-maybe-uninitialized -Wno-mismatched-new-delete>)

# mcpac_module(<name> DIR <folder> [DEPS mcpac::a ...] [PRIVATE_DEPS ...])
# A module is every .cpp of its folder except *_main.cpp, which are programs. It sees only what DEPS
# names, so the floor plan in docs/architecture.md is enforced here and by tools/check_layers.py.
function(mcpac_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "DIR" "DEPS;PRIVATE_DEPS;SOURCES")
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${arg_DIR}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "_main\\.cpp$")
  if(NOT sources)
    file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/${name}_empty.cpp" "")
    set(sources "${CMAKE_CURRENT_BINARY_DIR}/${name}_empty.cpp")
  endif()
  add_library(mcpac_${name} STATIC ${sources} ${arg_SOURCES})
  add_library(mcpac::${name} ALIAS mcpac_${name})
  target_include_directories(mcpac_${name} PUBLIC "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/src")
  target_compile_definitions(mcpac_${name} PRIVATE MCPAC_VERSION="${PROJECT_VERSION}")
  target_link_libraries(mcpac_${name} PUBLIC ${arg_DEPS} PRIVATE mcpac::warnings ${arg_PRIVATE_DEPS})
endfunction()

# mcpac_test(<name> [DEPS ...] [SANITIZED ...]): tests/<name>/*_test.cpp as one doctest program, test_<name>;
# SANITIZED are arguments that leave out what a sanitizer has nothing to say about.
function(mcpac_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPS;LABELS;SANITIZED")
  if(NOT MCPAC_SANITIZED)
    set(arg_SANITIZED "")
  endif()
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/${name}/*_test.cpp"
       "${PROJECT_SOURCE_DIR}/tests/${name}/support_*.cpp")
  if(NOT sources)
    return()
  endif()
  add_executable(test_${name} ${sources})
  target_link_libraries(test_${name} PRIVATE mcpac::test_main mcpac::warnings ${arg_DEPS})
  target_include_directories(test_${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_compile_definitions(test_${name} PRIVATE
    MCPAC_SOURCE_DIR="${PROJECT_SOURCE_DIR}" MCPAC_BUILD_DIR="${PROJECT_BINARY_DIR}")
  add_test(NAME ${name} COMMAND test_${name} ${arg_SANITIZED})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}")
endfunction()
