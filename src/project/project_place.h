// SPDX-License-Identifier: Apache-2.0

// ProjectPlace: places of a project and of what starts its servers: one name for a project, however
// its mcpac.json was spelled, the home that `~/` means, and places of a confined server's entry.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/places.h"
#include "sandbox/sandbox.h"

namespace mcpac::project {

struct Project;

// The folder with its links and dots resolved, and the file's own name: a file that is a link
// stands in the project where the link lies. Absolute, also where there is no such folder.
[[nodiscard]] std::filesystem::path place_of_project(const std::filesystem::path& config_file);

// "Home of the policy's owner" (docs/grants.md): the user's entry, not a variable that a
// script set. Looked up once in a process, which takes a while; empty where it is not known (yet).
[[nodiscard]] std::string home_of_user();

// Whether `path` is `folder` or lies below it; both absolute and normal.
[[nodiscard]] bool lies_in(const std::filesystem::path& path, const std::filesystem::path& folder);

// A place of a server's entry, its references expanded, or of a claim: "PATH", "PATH:ro" or
// "PATH:rw". A relative one is from the folder of mcpac.json, whose real name counts; "~/" of a
// claim is home_of_user(), as in rules, and an entry that has one is refused.
[[nodiscard]] policy::FilePlace place_of_entry(std::string_view text, const Project& project,
                                               const std::string& server);
// Places that a confined server gets from the rules of a start, beside its entry
// (servers/server_places.h).
struct ServerPlaces {
  struct Place {
    std::filesystem::path path;  // absolute, links resolved
    policy::FileMode mode = policy::FileMode::kReadOnly;
    std::vector<std::string> rules;  // that it comes from: "mcpac.policy:12: allow fs.read (…)"
    // As it is written in an entry that has references: their values are not shown.
    std::string shown = {};
    friend bool operator==(const Place&, const Place&) = default;
  };
  // Sorted by path; a place within another has a wider mode than that.
  std::vector<Place> given = {};
  // What no admitted call may name: over everything of the host that the server would have there,
  // but its own program. `mode` says nothing.
  std::vector<Place> absent = {};
  // What only tools that say of themselves that they only read may name: as it is, in a writable
  // place.
  std::vector<Place> read_only = {};
  // Of its entry, for people; the confiner reads the entry itself.
  std::vector<Place> entry = {};
  // And of it, for people: hosts, and bytes of memory (0: no limit).
  std::vector<std::string> network = {};
  std::uint64_t memory = 0;
  // The statement that denies the network, as "mcpac.policy:3"; nothing: none does.
  std::optional<std::string> network_denied = std::nullopt;
  // What rules say that no place comes from, and places that could not be given, for people.
  std::vector<std::string> notes = {};
  // In which it is started: A unless a person accepted B, and the machine gives no more.
  sandbox::Tier tier = sandbox::Tier::kA;
  // Whether `path` is a place of the entry or of the rules, lies in one, or holds one.
  [[nodiscard]] bool speaks_of(const std::filesystem::path& path) const;
};
// By the server's configured name; a server that is not here has what its entry gives.
using PlacesOfServers = std::map<std::string, ServerPlaces>;

}  // namespace mcpac::project
