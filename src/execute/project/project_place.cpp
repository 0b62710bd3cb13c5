#include "execute/project/project_place.h"

#include <system_error>

namespace mcpac::execute {

std::filesystem::path place_of_project(const std::filesystem::path& config_file) {
  std::error_code error;
  const auto whole = std::filesystem::absolute(config_file, error);
  const auto folder = std::filesystem::canonical(whole.parent_path(), error);
  return error ? whole.lexically_normal() : folder / whole.filename();
}

}  // namespace mcpac::execute
