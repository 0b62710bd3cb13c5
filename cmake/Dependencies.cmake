# SPDX-License-Identifier: Apache-2.0
# Every third-party library, found once, as an imported target; package names are in ./dev.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(tomlplusplus 3.3 REQUIRED)  # its headers alone (core/toml_text.cpp): the shared library throws
find_package(doctest REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(Boost 1.81 EXACT REQUIRED)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(SECCOMP REQUIRED IMPORTED_TARGET libseccomp)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(IDN2 REQUIRED IMPORTED_TARGET libidn2)
pkg_check_modules(PSL REQUIRED IMPORTED_TARGET libpsl)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
# libunistring ships no .pc file
find_library(MCPAC_UNISTRING NAMES unistring REQUIRED)

# mcpac_library(<name> <imported target> <archive> [what the archive needs ...]): mcpac::<name>, which is the shared
# library, or Debian's archive of it where MCPAC_STATIC_LIBRARIES wants that and it is installed. What uses it is
# compiled with the same words either way, so that both kinds of build share what ccache keeps.
function(mcpac_library name target archive)
  if(MCPAC_STATIC_LIBRARIES)
    find_library(MCPAC_ARCHIVE_${name} NAMES lib${archive}.a)
  endif()
  if(NOT MCPAC_STATIC_LIBRARIES OR NOT MCPAC_ARCHIVE_${name})
    if(MCPAC_STATIC_LIBRARIES)
      message(STATUS "lib${archive}.a is not installed: the shared library stays")
    endif()
    add_library(mcpac::${name} ALIAS ${target})
    return()
  endif()
  add_library(mcpac_${name}_archive INTERFACE)
  target_include_directories(mcpac_${name}_archive SYSTEM INTERFACE $<TARGET_PROPERTY:${target},INTERFACE_INCLUDE_DIRECTORIES>)
  target_compile_options(mcpac_${name}_archive INTERFACE $<TARGET_PROPERTY:${target},INTERFACE_COMPILE_OPTIONS>)
  target_link_libraries(mcpac_${name}_archive INTERFACE "${MCPAC_ARCHIVE_${name}}" ${ARGN})
  add_library(mcpac::${name} ALIAS mcpac_${name}_archive)
endfunction()

mcpac_library(sodium PkgConfig::SODIUM sodium Threads::Threads)
add_library(mcpac::seccomp ALIAS PkgConfig::SECCOMP)
find_library(MCPAC_SECCOMP_STATIC NAMES libseccomp.a REQUIRED)
find_library(MCPAC_SODIUM_STATIC NAMES libsodium.a REQUIRED)
# Since 2023-07 re2 is made of abseil, whose archives are many: that archive alone would not link.
if(RE2_STATIC_LIBRARIES MATCHES "absl")
  add_library(mcpac::re2 ALIAS PkgConfig::RE2)
else()
  mcpac_library(re2 PkgConfig::RE2 re2 Threads::Threads)
endif()
add_library(mcpac::idn2 ALIAS PkgConfig::IDN2)
add_library(mcpac::psl ALIAS PkgConfig::PSL)
mcpac_library(sqlite PkgConfig::SQLITE sqlite3 m ${CMAKE_DL_LIBS} Threads::Threads)
# Debian has no archive of {fmt}, but its headers hold what it is made of; what that is changes with the version.
set(MCPAC_STATIC_RUNTIME OFF)
if(MCPAC_STATIC_LIBRARIES AND fmt_VERSION MATCHES "^9\\.")
  add_library(mcpac_fmt STATIC "${PROJECT_SOURCE_DIR}/cmake/fmt_library.cpp")
  target_compile_definitions(mcpac_fmt PUBLIC $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>)
  target_include_directories(mcpac_fmt SYSTEM PUBLIC $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
  add_library(mcpac::fmt ALIAS mcpac_fmt)
  # The C++ library becomes part of mcpac only where no shared library brings it along: a process has one.
  if(TARGET mcpac_re2_archive AND NOT MCPAC_SANITIZED)
    set(MCPAC_STATIC_RUNTIME ON)
  endif()
else()
  add_library(mcpac::fmt ALIAS fmt::fmt)
endif()
add_library(mcpac_unistring INTERFACE)
add_library(mcpac::unistring ALIAS mcpac_unistring)
target_link_libraries(mcpac_unistring INTERFACE "${MCPAC_UNISTRING}")

add_library(mcpac_boost INTERFACE)
add_library(mcpac::boost ALIAS mcpac_boost)
target_link_libraries(mcpac_boost INTERFACE Boost::headers Threads::Threads)
# A call is a dozen coroutines and operations deep; of what two do not hold, Asio asks the heap for each: by operator
# new, as aligned_alloc goes the long way through glibc's heap. Nothing here wants more than operator new's alignment.
target_compile_definitions(mcpac_boost INTERFACE BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_SEPARATE_COMPILATION
  BOOST_BEAST_SEPARATE_COMPILATION BOOST_ASIO_RECYCLING_ALLOCATOR_CACHE_SIZE=16
  BOOST_ASIO_DISABLE_STD_ALIGNED_ALLOC BOOST_ASIO_DISABLE_BOOST_ALIGN)

# libclang 19 by its full name: the stable C API, never the C++ one.
set(MCPAC_LLVM_DIR "/usr/lib/llvm-19" CACHE PATH "where clang 19 is installed")
find_library(MCPAC_LIBCLANG NAMES clang-19 libclang-19.so.1 clang PATHS "${MCPAC_LLVM_DIR}/lib" NO_DEFAULT_PATH REQUIRED)
add_library(mcpac_libclang INTERFACE)
add_library(mcpac::libclang ALIAS mcpac_libclang)
target_include_directories(mcpac_libclang SYSTEM INTERFACE "${MCPAC_LLVM_DIR}/include")
target_link_libraries(mcpac_libclang INTERFACE "${MCPAC_LIBCLANG}")
