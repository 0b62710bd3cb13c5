# What must compile and what must not, with one compiler: cmake -DCOMPILER=… -DSOURCE_DIR=… -P this.
#
# compile_pass/*.cpp must compile without a warning, and so must each runtime header alone.
# compile_fail/*.cpp begin with "// expect-error: REGEX": they must not compile, and the compiler's words
# must match, so that a case does not pass for another reason (a misspelt include, say).
find_program(compiler "${COMPILER}")
if(NOT compiler)
  message("${COMPILER} is not installed")
  return()
endif()

set(flags -Wall -Wextra -Wpedantic -Wshadow -Wconversion -fsyntax-only -I${SOURCE_DIR}/templates
    -I${SOURCE_DIR}/tests/templates/headers)
set(std -std=c++20)
if(COMPILER STREQUAL "clang++-19")
  set(std -std=c++23 -stdlib=libc++)
endif()
set(failures "")

file(GLOB passing "${SOURCE_DIR}/tests/templates/compile_pass/*.cpp")
file(GLOB headers "${SOURCE_DIR}/templates/mcpac/*.hpp" "${SOURCE_DIR}/tests/templates/headers/*.hpp")
list(FILTER headers EXCLUDE REGEX "warm\\.hpp$")  # for the agents' compiler only
if(COMPILER STREQUAL "clang++-19")
  list(APPEND passing "${SOURCE_DIR}/templates/mcpac/warm.hpp")
endif()
foreach(file IN LISTS passing headers)
  # As the main file a header would warn about its "#pragma once".
  execute_process(COMMAND "${compiler}" ${std} ${flags} -Werror -include "${file}" -x c++ /dev/null
                  RESULT_VARIABLE result ERROR_VARIABLE said)
  if(NOT result EQUAL 0)
    list(APPEND failures "${file} does not compile")
    message("${said}")
  endif()
endforeach()

file(GLOB failing "${SOURCE_DIR}/tests/templates/compile_fail/*.cpp")
foreach(file IN LISTS failing)
  file(STRINGS "${file}" first LIMIT_COUNT 1)
  if(NOT first MATCHES "^// expect-error: (.+)$")
    list(APPEND failures "${file} does not say what error it expects")
    continue()
  endif()
  set(expected "${CMAKE_MATCH_1}")
  execute_process(COMMAND "${compiler}" ${std} ${flags} "${file}" RESULT_VARIABLE result ERROR_VARIABLE said)
  if(result EQUAL 0)
    list(APPEND failures "${file} compiles")
  elseif(NOT said MATCHES "${expected}")
    list(APPEND failures "${file}: no error matches ${expected}")
    message("${said}")
  endif()
endforeach()

list(LENGTH failing n)
if(failures)
  list(JOIN failures "\n  " text)
  message(FATAL_ERROR "with ${COMPILER}:\n  ${text}")
endif()
message("${COMPILER}: everything compiles that must, and ${n} programs do not that must not")
