// ProjectPlace: one name for a project, however its mcpac.json was spelled.
#pragma once

#include <filesystem>

namespace mcpac::execute {

// The folder with its links and dots resolved, and the file's own name: a file that is a link
// stands in the project where the link lies. Absolute, also where there is no such folder.
[[nodiscard]] std::filesystem::path place_of_project(const std::filesystem::path& config_file);

}  // namespace mcpac::execute
