# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts below a prefix: the programs (cmake/Programs.cmake), the runtime headers, the
# CMake package and the documents. Nothing in it names the prefix, so the folder can be moved: mcpac finds
# libexec/mcpac/ from its own place, and the package finds everything from its own.
include(CMakePackageConfigHelpers)

# warm.hpp and warm_uses.hpp are what mcpac precompiles for agents: C++23 and every header of the library; not for applications.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/templates/mcpac" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.hpp" PATTERN "warm*.hpp" EXCLUDE)

add_library(mcpac_runtime INTERFACE)
set_target_properties(mcpac_runtime PROPERTIES EXPORT_NAME runtime)
target_compile_features(mcpac_runtime INTERFACE cxx_std_20)
target_include_directories(mcpac_runtime INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_link_libraries(mcpac_runtime INTERFACE nlohmann_json::nlohmann_json)

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/mcpac")
install(TARGETS mcpac_runtime mcpac EXPORT mcpacTargets RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(EXPORT mcpacTargets NAMESPACE mcpac:: DESTINATION "${package}")
configure_package_config_file(cmake/mcpacConfig.cmake.in "${PROJECT_BINARY_DIR}/mcpacConfig.cmake"
  INSTALL_DESTINATION "${package}" NO_SET_AND_CHECK_MACRO)
# Before 1.0 every minor version may change the generated form.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/mcpacConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/mcpacConfig.cmake" "${PROJECT_BINARY_DIR}/mcpacConfigVersion.cmake"
  cmake/mcpacGenerate.cmake DESTINATION "${package}")

install(FILES README.md SECURITY.md CHANGELOG.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY docs/ DESTINATION "${CMAKE_INSTALL_DOCDIR}/docs")
