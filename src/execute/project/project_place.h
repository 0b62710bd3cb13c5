// ProjectPlace: one name for a project, however its mcpac.json was spelled.
#pragma once

#include <filesystem>
#include <string>

namespace mcpac::execute {

// The folder with its links and dots resolved, and the file's own name: a file that is a link
// stands in the project where the link lies. Absolute, also where there is no such folder.
[[nodiscard]] std::filesystem::path place_of_project(const std::filesystem::path& config_file);

// "Home of the policy's owner" (docs/grants.md): the user's entry, not a variable that a
// script set. Looked up once in a process, which takes a while; empty where it is not known (yet).
[[nodiscard]] std::string home_of_user();

}  // namespace mcpac::execute
