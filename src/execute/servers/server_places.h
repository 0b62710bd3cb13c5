// ServerPlaces: what the rules behind a start give a confined server beside its entry.
//
// The rules of a run or gateway are known after its servers were configured, so they stand in a
// value of their own, ConfinedRules, that the confiner reads at each start (confine_servers.h).
// What is there is what path tests of the server's tools can ever admit; what no admitted call may
// name is absent, in places of the entry as well (docs/grants.md, "Places of confined servers").
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "codegen/lock.h"
#include "execute/project/project.h"
#include "policy/authority.h"
#include "policy/places.h"

namespace mcpac::execute {

struct ServerPlaces {
  struct Place {
    std::filesystem::path path;  // absolute, links resolved
    policy::FileMode mode = policy::FileMode::kReadOnly;
    std::vector<std::string> rules;  // that it comes from: "mcpac.policy:12: allow fs.read (…)"
    friend bool operator==(const Place&, const Place&) = default;
  };
  // Sorted by path; a place within another has a wider mode than that.
  std::vector<Place> given = {};
  // Over everything of the host that the server would have there; `mode` says nothing.
  std::vector<Place> absent = {};
  // The statement that denies the network, as "mcpac.policy:3"; nothing: none does.
  std::optional<std::string> network_denied = std::nullopt;
  // What rules say that no place comes from, and places that could not be given, for people.
  std::vector<std::string> notes = {};
  // Notes aside: a server that was started with the one is as one started with the other.
  friend bool operator==(const ServerPlaces& a, const ServerPlaces& b) {
    return a.given == b.given && a.absent == b.absent && a.network_denied == b.network_denied;
  }
};
// By the server's configured name; a server that is not here has what its entry gives.
using PlacesOfServers = std::map<std::string, ServerPlaces>;

// What servers get from the rules, between those who know the rules and those who start servers.
// Any thread.
class ConfinedRules {
 public:
  // Of starts from now on. A running server keeps what it was started with.
  void set(PlacesOfServers places);
  [[nodiscard]] ServerPlaces of(const std::string& server) const;
  [[nodiscard]] PlacesOfServers all() const;

 private:
  mutable std::mutex mutex_;
  PlacesOfServers places_;
};

// What this authority gives the confined servers of the project; empty where none is. The authority
// was loaded for the tools of this lock. Looks at the disk.
[[nodiscard]] PlacesOfServers places_of_servers(const Project& project, const codegen::Lock& lock,
                                                const policy::Authority& authority);

// Sets what the starts of the project's confined servers get; nothing where none is confined
// (Project::confined is null).
void give_places(const Project& project, PlacesOfServers places);
// What they get now; empty where none is confined.
[[nodiscard]] PlacesOfServers given_places(const Project& project);

}  // namespace mcpac::execute
