#include "execute/generate_offline.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <system_error>

#include "codegen/embedded.h"
#include "codegen/generate.h"
#include "core/file.h"

namespace mcpac::execute {
namespace {

namespace fs = std::filesystem;

Result<codegen::Lock> read_lock(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) {
    return fail(ErrorId::kLockMissing, fmt::format("there is no {}", file.string()),
                {.where = file.string(),
                 .why = "without asking the servers, headers can be made from a lock only",
                 .fix = "run `mcpac generate`, look at what it found, and commit mcpac.lock"});
  }
  auto text = read_file(file);
  if (!text) return pass_on(text);
  return codegen::parse_lock(*text, file.string());
}

std::vector<ServerListing> listings_of(const codegen::Lock& lock) {
  std::vector<ServerListing> listings;
  for (const auto& server : lock.servers) {
    ServerListing listing{
        server.name, server.identity, server.implementation, server.protocol_version, {}};
    for (const auto& tool : server.tools) listing.tools.push_back({tool.name, tool.definition});
    listings.push_back(std::move(listing));
  }
  return listings;
}

// A program was written against the names of the lock.
Result<void> check_names(const codegen::Lock& lock, const codegen::Lock& made) {
  for (const auto& server : lock.servers) {
    for (const auto& tool : server.tools) {
      const auto* now = made.find_tool(server.name, tool.name);
      if (now != nullptr && now->cpp_name == tool.cpp_name) continue;
      return fail(ErrorId::kLockDrift,
                  fmt::format("{}.{} is {} in the lock, but not for this mcpac", server.name,
                              tool.name, tool.cpp_name),
                  {.fix = "mcpac generate"});
    }
  }
  return {};
}

bool is_generated(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line.find("mcpac generate") != std::string::npos;
}

Result<void> write_files(const fs::path& folder, const std::map<std::string, std::string>& files,
                         OfflineReport& report) {
  std::error_code error;
  for (const auto& [name, text] : files) {
    const fs::path file = folder / name;
    // Unchanged files keep their time: nothing that includes them is built again.
    if (const auto old = read_file(file); old && *old == text) continue;
    fs::create_directories(file.parent_path(), error);
    if (auto written = write_file_atomic(file, text); !written) return written;
    report.written.push_back(name);
  }
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const bool ours = entry.path().extension() == ".hpp" && entry.is_regular_file(error);
    if (!ours || files.contains(name) || !is_generated(entry.path())) continue;
    fs::remove(entry.path(), error);
    report.removed.push_back(name);
  }
  return {};
}

}  // namespace

Result<OfflineReport> generate_offline(const fs::path& lock_file, const fs::path& folder,
                                       RuntimeHeaders runtime) {
  auto lock = read_lock(lock_file);
  if (!lock) return pass_on(lock);
  auto made = codegen::generate(listings_of(*lock));
  if (!made) return pass_on(made);
  if (auto same = check_names(*lock, made->lock); !same) return pass_on(same);
  OfflineReport report;
  report.as_locked = made->lock.headers == lock->headers;
  if (runtime == RuntimeHeaders::kInstalled) {
    for (const auto& file : codegen::embedded_files()) made->files.erase(std::string(file.path));
    made->files.erase("compile_flags.txt");
  }
  if (auto written = write_files(folder, made->files, report); !written) return pass_on(written);
  return report;
}

}  // namespace mcpac::execute
