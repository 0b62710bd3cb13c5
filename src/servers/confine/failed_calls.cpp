// SPDX-License-Identifier: Apache-2.0

#include "servers/confine/failed_calls.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/characters.h"
#include "core/printable.h"
#include "core/shell_quote.h"
#include "project/files/open_place.h"
#include "servers/confine/confine_servers.h"
#include "servers/confine/launch_profile.h"

namespace mcpac::servers {
namespace {

namespace fs = std::filesystem;

// Of an answer as much is read as an error says, and of its paths the first.
constexpr std::size_t kMostSaidOfFailure = 16'384;
constexpr std::size_t kMostPathsOfFailure = 8;

constexpr std::array<std::string_view, 8> kOfWriting = {
    "EROFS",  "Read-only file system", "read-only file system",
    "EACCES", "Permission denied",     "permission denied",
    "EPERM",  "not permitted"};
constexpr std::array<std::string_view, 9> kOfNetwork = {"ENETUNREACH",
                                                        "Network is unreachable",
                                                        "network is unreachable",
                                                        "EAI_AGAIN",
                                                        "ENOTFOUND",
                                                        "Name or service not known",
                                                        "getaddrinfo",
                                                        "Temporary failure in name resolution",
                                                        "EHOSTUNREACH"};

constexpr std::array<std::string_view, 3> kOfClosedPort = {"ECONNREFUSED", "Connection refused",
                                                           "connection refused"};

constexpr std::array<std::string_view, 3> kOfTwoMounts = {"EXDEV", "cross-device", "Cross-device"};

template <std::size_t N>
bool has_any(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.contains(word); });
}

// Up to the quote that it stands in, else to a blank, and without what ends a sentence.
std::string_view path_at(std::string_view text, std::size_t at) {
  constexpr std::string_view kQuotes = "'\"`";
  const char before = at > 0 ? text[at - 1] : ' ';
  std::string_view rest = text.substr(at);
  if (kQuotes.contains(before)) return rest.substr(0, rest.find(before));
  rest = rest.substr(0, rest.find_first_of(" \t\r\n'\"`<>|,;)]}"));
  while (!rest.empty() && std::string_view(".:!?").contains(rest.back())) rest.remove_suffix(1);
  return rest;
}

// Absolute ones, and those of a home.
std::vector<std::string> paths_in(std::string_view text) {
  constexpr std::string_view kBefore = " \t\r\n'\"`(=:[{<,;";
  std::vector<std::string> paths;
  for (std::size_t at = 0; at < text.size() && paths.size() < kMostPathsOfFailure; ++at) {
    const bool begins = text[at] == '/' || text.substr(at, 2) == "~/";
    if (!begins || (at > 0 && !kBefore.contains(text[at - 1]))) continue;
    const std::string_view path = path_at(text, at);
    if (path.size() < 2 || path.size() > 4096 || path.starts_with("//")) continue;
    at += path.size() - 1;
    // Behind a NUL the kernel would look at less than what is told here.
    if (!has_invisible(path)) paths.emplace_back(path);
  }
  return paths;
}

bool lies_in_one(const fs::path& path, const std::vector<fs::path>& folders) {
  return std::ranges::any_of(folders,
                             [&](const fs::path& one) { return project::lies_in(path, one); });
}

// What a confined server has of its own there, or has no business in. Of folders in memory all but
// what lies beside something that it was given there.
bool is_its_own_there(const fs::path& path, const GivenToServer& given) {
  for (const char* folder : {"/dev", "/proc", "/sys"}) {
    if (project::lies_in(path, folder)) return true;
  }
  for (const fs::path folder : {"/tmp", "/var/tmp"}) {
    if (given.tier != sandbox::Tier::kA || !project::lies_in(path, folder)) continue;
    if (path == folder) return true;
    const fs::path first = folder / *path.lexically_relative(folder).begin();
    return std::ranges::none_of(given.readable,
                                [&](const fs::path& one) { return project::lies_in(one, first); });
  }
  return is_of_system(path);
}

// The path of the host that the server means by it.
std::optional<fs::path> on_host(const std::string& said, const std::vector<fs::path>& homes) {
  fs::path path = said;
  const fs::path home = homes.empty() ? fs::path() : homes.front();
  if (said.starts_with("~/")) {
    if (home.empty()) return std::nullopt;
    path = home / said.substr(2);
  }
  path = path.lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  if (project::lies_in(path, kConfinedHome)) {
    if (home.empty() || path == kConfinedHome) return std::nullopt;
    path = home / path.lexically_relative(kConfinedHome);
  }
  if (path == path.root_path()) return std::nullopt;
  return path;
}

}  // namespace

std::vector<FailedFor> failed_for(std::string_view said, const mcp::ServerConfig& server,
                                  const GivenToServer& given, const std::vector<fs::path>& homes,
                                  const project::MountTable& mounts) {
  said = said.substr(0, kMostSaidOfFailure);
  if (given.writable.size() > 1 && has_any(said, kOfTwoMounts))
    return {
        {.text = fmt::format(
             "a call of {} failed: it moves or links a file from one place of its \"sandbox\" to "
             "another, and two places are two mounts (EXDEV): give the folder above both "
             "instead",
             printable(server.name)),
         .path = {}}};
  const bool is_of_writing = has_any(said, kOfWriting);
  std::vector<FailedFor> found;
  for (const std::string& word : paths_in(said)) {
    auto path = on_host(word, homes);
    if (!path || is_its_own_there(*path, given)) continue;
    auto reached = mounts.reach(*path);
    if (reached.may_wait) continue;
    if (!reached.path) {  // what it would have made is told by the folder
      path = path->parent_path();
      reached = mounts.reach(*path);
    }
    if (!reached.path || *path == path->root_path()) continue;
    const bool is_readable = lies_in_one(*path, given.readable);
    if (is_readable && (!is_of_writing || lies_in_one(*path, given.writable))) continue;
    if (is_readable && ::faccessat(AT_FDCWD, reached.path->c_str(), W_OK, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    const std::string shown = shell_quoted(printable(path->string()));
    if (std::ranges::any_of(found, [&](const FailedFor& one) { return one.path == *path; }))
      continue;
    found.push_back(
        {.text = fmt::format("a call of {0} failed: {1} is {2} by its \"sandbox\"; {3}",
                             printable(server.name), shown,
                             is_readable ? "given to it to read alone" : "not given to it",
                             advice_for_calls(server.name)),
         .path = path->string()});
  }
  const bool has_network = server.sandbox && !server.sandbox->network.empty();
  if (found.empty() && !has_network && has_any(said, kOfNetwork))
    found.push_back({.text = fmt::format("a call of {} failed: no network is given to it by its "
                                         "\"sandbox\"; {}",
                                         printable(server.name), advice_for_calls(server.name)),
                     .path = {}});
  // Its own words have the address at most that stands for the name there.
  if (found.empty() && given.tier == sandbox::Tier::kA && has_any(said, kOfClosedPort))
    found.push_back(
        {.text = fmt::format(
             "a call of {} failed: a connection was refused: its \"sandbox\" gives it {}; {}",
             printable(server.name),
             has_network ? fmt::format("{}, and every other port is closed",
                                       printable(fmt::format(
                                           "{}", fmt::join(server.sandbox->network, ", "))))
                         : std::string("no network, and nothing of this machine listens there"),
             advice_for_calls(server.name)),
         .path = {}});
  return found;
}

std::string advice_for_calls(const std::string& server) {
  return fmt::format("`mcpac server confine {} --learn --call …` shows what its calls need",
                     shell_quoted(server));
}

}  // namespace mcpac::servers
