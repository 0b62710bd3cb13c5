// SPDX-License-Identifier: Apache-2.0

#include "toolchain/source_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <system_error>

namespace mcpac::toolchain {
namespace {

namespace fs = std::filesystem;

// Each file is one run of the compiler; an agent of more files than this is an application.
constexpr std::size_t kMaxSources = 64;
constexpr std::size_t kMaxBytes = std::size_t{16} << 20U;
// Names looked at below one folder: a home directory named by mistake ends here.
constexpr std::size_t kMaxEntries = 20'000;

// Files and the folder that everything lies in.
struct Found {
  std::vector<fs::path> files;
  fs::path folder;
};

std::unexpected<Error> unusable(const fs::path& path, std::string why) {
  return fail(ErrorId::kSourceUnreadable,
              fmt::format("{} cannot be read as one program", path.string()),
              {.where = path.string(),
               .why = std::move(why),
               .fix = "name the files: -f main.cpp -f util.cpp"});
}

bool is_skipped(const fs::path& folder) {
  const std::string name = folder.filename().string();
  constexpr std::array<std::string_view, 4> kOthers{"build", "out", "servers", "node_modules"};
  std::error_code error;
  return name.starts_with('.') || name.starts_with("cmake-build") ||
         std::ranges::find(kOthers, std::string_view(name)) != kOthers.end() ||
         fs::exists(folder / "CMakeCache.txt", error);
}

Result<std::vector<fs::path>> sources_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  std::size_t entries = 0;
  fs::recursive_directory_iterator at(folder, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (++entries > kMaxEntries)
      return unusable(folder, fmt::format("it holds more than {} entries", kMaxEntries));
    const auto kind = at->symlink_status(error).type();
    if (error) break;
    if (kind == fs::file_type::directory && is_skipped(at->path())) at.disable_recursion_pending();
    const std::string name = at->path().filename().string();
    if (kind == fs::file_type::regular && name.ends_with(".cpp") && !name.starts_with('.'))
      files.push_back(at->path());
  }
  if (error) return unusable(folder, error.message());
  if (files.empty()) return unusable(folder, "there is no *.cpp below it");
  std::ranges::sort(files);
  return files;
}

fs::path common_of(const fs::path& left, const fs::path& right) {
  fs::path common;
  const auto end = std::ranges::mismatch(left, right).in1;
  for (auto part = left.begin(); part != end; ++part) common /= *part;
  return common;
}

fs::path whole_path(const fs::path& path) {
  std::error_code error;
  fs::path whole = fs::absolute(path, error).lexically_normal();
  // "agent/" and "agent" are the same folder.
  return whole.has_filename() ? whole : whole.parent_path();
}

Result<Found> find(const std::vector<fs::path>& paths) {
  Found found;
  const auto widen = [&found](const fs::path& folder) {
    found.folder = found.folder.empty() ? folder : common_of(found.folder, folder);
  };
  std::set<fs::path> seen;
  for (const fs::path& path : paths) {
    std::error_code error;
    std::vector<fs::path> here{path};
    if (fs::is_directory(path, error)) {
      auto below = sources_below(path);
      if (!below) return pass_on(below);
      here = std::move(*below);
      widen(whole_path(path));
    } else {
      widen(whole_path(path).parent_path());
    }
    for (fs::path& file : here) {
      if (seen.insert(whole_path(file)).second) found.files.push_back(std::move(file));
    }
  }
  if (found.files.size() > kMaxSources)
    return unusable(paths.front(), fmt::format("it has more than {} source files", kMaxSources));
  if (found.folder == found.folder.root_path())
    return unusable(paths.back(), "the files have no folder in common");
  return found;
}

}  // namespace

Result<Source> source_from_files(const std::vector<fs::path>& paths) {
  std::error_code error;
  if (paths.size() == 1 && !fs::is_directory(paths.front(), error))
    return source_from_file(paths.front());
  auto found = find(paths);
  if (!found) return pass_on(found);
  Source program;
  std::size_t bytes = 0;
  for (const fs::path& file : found->files) {
    auto source = source_from_file(file);
    if (!source) return pass_on(source);
    bytes += source->text.size();
    if (bytes > kMaxBytes)
      return unusable(paths.front(), fmt::format("it is larger than {} bytes", kMaxBytes));
    source->folder = found->folder;
    source->name = whole_path(file).lexically_relative(found->folder).string();
    if (program.name.empty()) {
      program = std::move(*source);
    } else {
      program.further.push_back(
          {std::move(source->display), std::move(source->name), std::move(source->text)});
    }
  }
  return program;
}

}  // namespace mcpac::toolchain
