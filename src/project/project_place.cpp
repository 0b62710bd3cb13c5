// SPDX-License-Identifier: Apache-2.0

#include "project/project_place.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <system_error>

#include "project/project.h"

namespace mcpac::project {

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

bool lies_in(const std::filesystem::path& path, const std::filesystem::path& folder) {
  return std::ranges::mismatch(path, folder).in2 == folder.end();
}

policy::FilePlace place_of_entry(std::string_view text, const Project& project,
                                 const std::string& server) {
  policy::FilePlace place;
  place.said_in =
      fmt::format("{}: mcpServers.{}.sandbox.files", project.config_file.string(), server);
  if (text.ends_with(":rw")) {
    place.mode = policy::FileMode::kReadWrite;
    text.remove_suffix(3);
  } else if (text.ends_with(":ro")) {
    text.remove_suffix(3);
  }
  std::filesystem::path path;
  if (const std::string home = home_of_user();
      !home.empty() && (text == "~" || text.starts_with("~/"))) {
    path = std::filesystem::path(home) / text.substr(std::min<std::size_t>(text.size(), 2));
  } else {
    // The folder by its real name: a place that leads through a link is refused.
    std::error_code error;
    const auto folder = std::filesystem::weakly_canonical(project.folder, error);
    path = (error ? project.folder : folder) / text;
  }
  path = path.lexically_normal();
  if (!path.has_filename() && path != path.root_path()) path = path.parent_path();
  place.path = path.string();
  return place;
}

bool ServerPlaces::speaks_of(const std::filesystem::path& path) const {
  const auto concerns = [&](const Place& place) {
    return lies_in(path, place.path) || lies_in(place.path, path);
  };
  return std::ranges::any_of(given, concerns) || std::ranges::any_of(entry, concerns);
}

}  // namespace mcpac::project
