// SPDX-License-Identifier: Apache-2.0

#include "project/header_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <system_error>

#include "codegen/emit.h"
#include "core/file.h"
#include "core/hash.h"
#include "project/implied.h"

namespace mcpac::project {
namespace {

namespace fs = std::filesystem;

// Every header of ours lies in one of these; what is deeper is foreign.
constexpr std::array kOurFolders{"", "mcpac"};

// Only a file itself, never what a link shows.
bool is_generated_header(const fs::directory_entry& entry) {
  std::error_code error;
  if (entry.path().extension() != ".hpp") return false;
  if (entry.symlink_status(error).type() != fs::file_type::regular) return false;
  std::ifstream stream(entry.path());
  std::string first(codegen::kMaxBanner, '\0');
  stream.read(first.data(), static_cast<std::streamsize>(first.size()));
  first.resize(static_cast<std::size_t>(stream.gcount()));
  return codegen::begins_with_banner(first);
}

// Headers of ours that nothing names any more, by their path below `folder`. A folder is often the
// user's own (`--output .`), so whatever does not say that it is ours stays.
std::vector<std::string> leftovers(const fs::path& folder, const HeaderFiles& files) {
  std::vector<std::string> names;
  for (const fs::path below : kOurFolders) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder / below, error)) {
      const std::string name = (below / entry.path().filename()).string();
      if (!files.contains(name) && is_generated_header(entry)) names.push_back(name);
    }
  }
  std::ranges::sort(names);
  return names;
}

Result<void> write_one(const fs::path& folder, const std::string& name, const std::string& text,
                       HeaderChanges& changes) {
  const auto old = read_file(folder / name);
  if (old && *old == text) return {};
  std::error_code error;
  fs::create_directories((folder / name).parent_path(), error);
  if (auto written = write_file_atomic(folder / name, text); !written) return written;
  changes.written.push_back(name);
  return {};
}

Result<fs::path> inside_servers(const Project& project, const std::string& name) {
  const fs::path relative = fs::path(name).lexically_normal();
  if (relative.is_absolute() || relative.empty() || *relative.begin() == "..") {
    return fail(ErrorId::kLockInvalid,
                fmt::format("mcpac.lock names a file outside servers/: {}", name),
                {.where = project.lock_file().string(),
                 .why = "no mcpac writes that; it was edited",
                 .fix = "restore it from your repository, then `mcpac generate --offline`"});
  }
  return project.headers() / relative;
}

Result<std::string> kept_header(const KeptProject& kept, const std::string& name) {
  const auto found = kept.headers.find(name);
  if (found != kept.headers.end()) return found->second;
  return fail(ErrorId::kFileUnreadable, fmt::format("servers/{} was not kept", name));
}

}  // namespace

std::string word_of(const codegen::LockedServer& server) {
  const auto last = server.cpp_name.rfind(':');
  return server.cpp_name.substr(last == std::string::npos ? 0 : last + 1);
}

std::string header_file_of(const codegen::LockedServer& server) {
  return word_of(server) + ".hpp";
}

Result<HeaderChanges> write_headers(const fs::path& folder, const HeaderFiles& files) {
  HeaderChanges changes;
  std::error_code error;
  // A cloned project could aim these at another folder of the user.
  for (const fs::path& place : {folder, folder / "mcpac"}) {
    if (fs::is_symlink(place, error)) {
      return fail(ErrorId::kFileUnwritable, fmt::format("{} is a link", place.string()),
                  {.why = "generated headers are written into the project itself",
                   .fix = "remove the link"});
    }
  }
  static const std::string kFirst = "mcpac/lock.hpp";
  if (const auto first = files.find(kFirst); first != files.end()) {
    if (auto done = write_one(folder, kFirst, first->second, changes); !done) return pass_on(done);
  }
  for (const auto& [name, text] : files) {
    if (auto done = write_one(folder, name, text, changes); !done) return pass_on(done);
  }
  for (const std::string& name : leftovers(folder, files)) {
    if (fs::remove(folder / name, error)) changes.removed.push_back(name);
  }
  return changes;
}

std::vector<std::string> foreign_files(const fs::path& folder, const HeaderFiles& files) {
  std::vector<std::string> foreign;
  for (const auto& [name, text] : files) {
    std::error_code error;
    const fs::directory_entry entry(folder / name, error);
    const bool taken = !error && entry.symlink_status(error).type() != fs::file_type::not_found;
    if (taken && !is_generated_header(entry)) foreign.push_back(name);
  }
  return foreign;
}

fs::path place_of_header(const Project& project, const std::string& name) {
  return project.headers() / fs::path(name).lexically_normal();
}

Result<std::string> read_header(const Project& project, const codegen::Lock& lock,
                                const std::string& name) {
  auto path = inside_servers(project, name);
  if (!path) return pass_on(path);
  auto bytes = project.kept ? kept_header(*project.kept, name) : read_file(*path);
  if (const auto* implied = implied_output(project); implied != nullptr && is_absent(*path)) {
    if (const auto text = implied->files.find(name); text != implied->files.end())
      bytes = text->second;
  }
  const auto locked = lock.headers.find(name);
  if (bytes && locked != lock.headers.end() && sha256_hex(*bytes) == locked->second) return bytes;
  return fail(ErrorId::kHeaderDrift,
              fmt::format("servers/{} is not the header that mcpac.lock names", name),
              {.where = path->string(),
               .why = bytes ? "it was edited, or is older or newer than the lock" : "it is missing",
               .fix = "run `mcpac generate` (with --offline it asks no server)"});
}

std::vector<HeaderProblem> check_headers(const Project& project, const codegen::Lock& lock) {
  std::vector<HeaderProblem> problems;
  for (const auto& [name, digest] : lock.headers) {
    const auto path = inside_servers(project, name);
    const auto bytes = path ? read_file(*path) : fail(ErrorId::kLockInvalid, "");
    if (bytes && sha256_hex(*bytes) == digest) continue;
    problems.push_back(
        {bytes ? HeaderProblem::Kind::kDiffers : HeaderProblem::Kind::kMissing, "servers/" + name});
  }
  return problems;
}

}  // namespace mcpac::project
