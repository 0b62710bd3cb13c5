// SPDX-License-Identifier: Apache-2.0

#include "audit/write_support.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "core/file.h"

namespace mcpac::audit {
namespace {

// Those in strings, too: mostly there are few of either.
std::size_t openings_in(std::string_view text) {
  std::size_t count = 0;
  for (const char bracket : {'{', '['}) {
    for (auto at = text.find(bracket); at != std::string_view::npos;
         at = text.find(bracket, at + 1))
      ++count;
  }
  return count;
}

}  // namespace

std::string reason_of(int error) {
  return std::system_category().message(error);
}

std::unexpected<Error> unwritable(const std::filesystem::path& path, std::string_view why_not) {
  return fail(ErrorId::kAuditUnwritable,
              fmt::format("cannot record in {}: {}", path.string(), why_not),
              {.where = path.string(),
               .why = "what cannot be recorded does not happen",
               .fix = "free space, or point XDG_STATE_HOME at a folder that you can write"});
}

std::unexpected<Error> unwritable(const std::filesystem::path& path, int error) {
  auto said = unwritable(path, reason_of(error));
  said.error().fix = remedy_of(error, path);
  return said;
}

Result<void> prepare_folder(const std::filesystem::path& folder) {
  std::error_code above;
  if (folder.has_parent_path()) std::filesystem::create_directories(folder.parent_path(), above);
  if (::mkdir(folder.c_str(), 0700) == 0) return {};
  if (errno != EEXIST) return unwritable(folder, above ? above.value() : errno);
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0) return unwritable(folder, errno);
  if (!S_ISDIR(info.st_mode)) return unwritable(folder, "it is not a folder");
  if (info.st_uid != ::geteuid()) return unwritable(folder, "the folder belongs to another user");
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return unwritable(folder, "other users can write the folder (chmod 700 it)");
  }
  return {};
}

bool is_deeper_than(const Json& value, std::size_t limit) {
  std::vector<std::pair<const Json*, std::size_t>> open{{&value, 1}};
  while (!open.empty()) {
    const auto [item, depth] = open.back();
    open.pop_back();
    if (!item->is_structured()) continue;
    if (depth > limit) return true;
    for (const Json& child : *item) open.emplace_back(&child, depth + 1);
  }
  return false;
}

bool is_deeper_than(std::string_view text, std::size_t limit) {
  if (openings_in(text) <= limit) return false;
  std::size_t depth = 0;
  bool is_in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') is_in_string = !is_in_string;
    if (c == '\\') ++i;  // within a string: what follows does not end it
    if (is_in_string) continue;
    if ((c == '{' || c == '[') && ++depth > limit) return true;
    if (c == '}' || c == ']') --depth;
  }
  return false;
}

}  // namespace mcpac::audit
