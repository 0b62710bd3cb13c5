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

# What the cases read first is compiled once. The headers alone do without: they must name what they use.
string(RANDOM LENGTH 12 random)
set(scratch "/tmp/mcpac-compile-cases-${random}")
file(WRITE "${scratch}/first.hpp" "#include <mcpac/runtime.hpp>\n")
if(COMPILER MATCHES "clang")
  set(precompiled "${scratch}/first.pch")
  set(first -include-pch "${precompiled}")
else()
  set(precompiled "${scratch}/first.hpp.gch")
  set(first -include "${scratch}/first.hpp" -Winvalid-pch)
endif()
set(precompile_flags ${flags})
list(REMOVE_ITEM precompile_flags -fsyntax-only)
execute_process(COMMAND "${compiler}" ${std} ${precompile_flags} -x c++-header "${scratch}/first.hpp" -o "${precompiled}"
                COMMAND_ERROR_IS_FATAL ANY)

function(must_compile file)  # must_compile(<file> <flag>...); as the main file a header would warn about "#pragma once"
  execute_process(COMMAND "${compiler}" ${std} ${flags} -Werror ${ARGN} -include "${file}" -x c++ /dev/null
                  RESULT_VARIABLE result ERROR_VARIABLE said)
  if(NOT result EQUAL 0)
    message("${said}")
    set(failures ${failures} "${file} does not compile" PARENT_SCOPE)
  endif()
endfunction()

file(GLOB passing "${SOURCE_DIR}/tests/templates/compile_pass/*.cpp")
foreach(file IN LISTS passing)
  must_compile("${file}" ${first})
endforeach()

# What a header forgets to include depends on the standard library: clang 14 reads the one of g++.
file(GLOB headers "${SOURCE_DIR}/templates/mcpac/*.hpp" "${SOURCE_DIR}/tests/templates/headers/*.hpp")
list(FILTER headers EXCLUDE REGEX "warm_uses\\.hpp$")  # a part of warm.hpp
if(NOT COMPILER STREQUAL "clang++-19")
  list(FILTER headers EXCLUDE REGEX "warm\\.hpp$")  # for the agents' compiler only
endif()
if(COMPILER STREQUAL "clang++-14")
  set(headers "")
endif()
foreach(file IN LISTS headers)
  must_compile("${file}")
endforeach()

file(GLOB failing "${SOURCE_DIR}/tests/templates/compile_fail/*.cpp")
foreach(file IN LISTS failing)
  file(STRINGS "${file}" promise LIMIT_COUNT 1)
  if(NOT promise MATCHES "^// expect-error: (.+)$")
    list(APPEND failures "${file} does not say what error it expects")
    continue()
  endif()
  set(expected "${CMAKE_MATCH_1}")
  execute_process(COMMAND "${compiler}" ${std} ${flags} ${first} "${file}" RESULT_VARIABLE result ERROR_VARIABLE said)
  if(result EQUAL 0)
    list(APPEND failures "${file} compiles")
  elseif(NOT said MATCHES "${expected}")
    list(APPEND failures "${file}: no error matches ${expected}")
    message("${said}")
  endif()
endforeach()

file(REMOVE_RECURSE "${scratch}")
list(LENGTH failing n)
if(failures)
  list(JOIN failures "\n  " text)
  message(FATAL_ERROR "with ${COMPILER}:\n  ${text}")
endif()
message("${COMPILER}: everything compiles that must, and ${n} programs do not that must not")
