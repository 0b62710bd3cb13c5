#include "execute/project/project_place.h"

#include <pwd.h>
#include <unistd.h>

#include <mutex>
#include <string>
#include <system_error>

namespace mcpac::execute {

std::filesystem::path place_of_project(const std::filesystem::path& config_file) {
  std::error_code error;
  const auto whole = std::filesystem::absolute(config_file, error);
  const auto folder = std::filesystem::canonical(whole.parent_path(), error);
  return error ? whole.lexically_normal() : folder / whole.filename();
}

std::string home_of_user() {
  static std::mutex one_at_a_time;
  static std::string known;
  const std::lock_guard lock(one_at_a_time);
  if (known.empty()) {
    const passwd* user = ::getpwuid(::geteuid());
    if (user != nullptr && user->pw_dir != nullptr) known = user->pw_dir;
  }
  return known;
}

}  // namespace mcpac::execute
