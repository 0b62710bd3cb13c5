# Every third-party library, found once, as an imported target; package names are in ./dev.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(doctest REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(Boost 1.81 EXACT REQUIRED)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(SECCOMP REQUIRED IMPORTED_TARGET libseccomp)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(IDN2 REQUIRED IMPORTED_TARGET libidn2)
pkg_check_modules(PSL REQUIRED IMPORTED_TARGET libpsl)

add_library(mcpac::sodium ALIAS PkgConfig::SODIUM)
add_library(mcpac::seccomp ALIAS PkgConfig::SECCOMP)
add_library(mcpac::re2 ALIAS PkgConfig::RE2)
add_library(mcpac::idn2 ALIAS PkgConfig::IDN2)
add_library(mcpac::psl ALIAS PkgConfig::PSL)

add_library(mcpac_boost INTERFACE)
add_library(mcpac::boost ALIAS mcpac_boost)
target_link_libraries(mcpac_boost INTERFACE Boost::headers Threads::Threads)
target_compile_definitions(mcpac_boost INTERFACE BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_SEPARATE_COMPILATION
  BOOST_BEAST_SEPARATE_COMPILATION)

# libclang 19 by its full name: the stable C API, never the C++ one.
set(MCPAC_LLVM_DIR "/usr/lib/llvm-19" CACHE PATH "where clang 19 is installed")
find_library(MCPAC_LIBCLANG NAMES clang-19 libclang-19.so.1 clang PATHS "${MCPAC_LLVM_DIR}/lib" NO_DEFAULT_PATH REQUIRED)
add_library(mcpac_libclang INTERFACE)
add_library(mcpac::libclang ALIAS mcpac_libclang)
target_include_directories(mcpac_libclang SYSTEM INTERFACE "${MCPAC_LLVM_DIR}/include")
target_link_libraries(mcpac_libclang INTERFACE "${MCPAC_LIBCLANG}")
