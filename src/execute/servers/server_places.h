// ServerPlaces: what the rules behind a start give a confined server beside its entry.
//
// The rules of a run or gateway are known after its servers were configured, so they stand in a
// value of their own, ConfinedRules, that the confiner reads at each start (confine_servers.h).
// What is there is what path tests of the server's tools can ever admit; what no admitted call may
// name is absent, in places of the entry as well (docs/grants.md, "Places of confined servers").
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/lock.h"
#include "core/json.h"
#include "execute/project/folders.h"
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
  // What no admitted call may name: over everything of the host that the server would have there,
  // but its own program. `mode` says nothing.
  std::vector<Place> absent = {};
  // What only tools that say of themselves that they only read may name: as it is, in a writable
  // place.
  std::vector<Place> read_only = {};
  // Of its entry, for people; the confiner reads the entry itself.
  std::vector<Place> entry = {};
  // The statement that denies the network, as "mcpac.policy:3"; nothing: none does.
  std::optional<std::string> network_denied = std::nullopt;
  // What rules say that no place comes from, and places that could not be given, for people.
  std::vector<std::string> notes = {};
  // Whether `path` is a place of the entry or of the rules, lies in one, or holds one.
  [[nodiscard]] bool speaks_of(const std::filesystem::path& path) const;
};
// By the server's configured name; a server that is not here has what its entry gives.
using PlacesOfServers = std::map<std::string, ServerPlaces>;

// What servers get from the rules, between the reader of rules and the starter of servers.
// Any thread.
class ConfinedRules {
 public:
  // Of starts from now on. A running server keeps what it was started with.
  void set(PlacesOfServers places);
  // The same, found when it is asked for, by the thread that starts servers; null: what was set.
  void find_by(std::function<PlacesOfServers()> source);
  [[nodiscard]] ServerPlaces of(const std::string& server) const;
  [[nodiscard]] PlacesOfServers all() const;
  // What a server got at its last start: of rules, and the folders and files of the host in all.
  struct Started {
    ServerPlaces places;
    std::vector<std::filesystem::path> folders;
  };
  void started(const std::string& server, Started with);
  [[nodiscard]] std::optional<Started> last_start(const std::string& server) const;

 private:
  mutable std::mutex mutex_;
  PlacesOfServers places_;
  std::function<PlacesOfServers()> source_;
  std::map<std::string, Started> started_;
};

// Whether a server that was started so is in the sandbox that it would be started in with `wanted`.
[[nodiscard]] bool is_confined_alike(const ServerPlaces& wanted,
                                     const ConfinedRules::Started& started);
// Whether `wanted` has something that `had` does not give.
[[nodiscard]] bool gives_more(const ServerPlaces& wanted, const ServerPlaces& had);

// A place of a server's entry: "PATH", "PATH:ro" or "PATH:rw", a relative one from the folder of
// mcpac.json, whose real name counts.
[[nodiscard]] policy::FilePlace place_of_entry(std::string_view text, const Project& project,
                                               const std::string& server);

// What calls of the project's confined servers can name under an authority that was loaded for the
// tools of this lock; empty where none is confined.
struct ReachOfServer {
  policy::ServerReach places;
  std::optional<std::string> network_denied;
};
using ReachOfServers = std::map<std::string, ReachOfServer>;
[[nodiscard]] ReachOfServers reach_of_servers(const Project& project, const codegen::Lock& lock,
                                              const policy::Authority& authority,
                                              policy::Callers callers = policy::Callers::kPrograms);
// Leaves what calls of tools that `stands` can name. A server without such a tool keeps what the
// rules hold back, and has no network by them: who cannot call it lifts nothing for others.
void keep_callable(ReachOfServers& reach, const std::function<bool(const Permission&)>& stands);
// Another authority's besides, for servers that both use: what either admits.
void add_reach(ReachOfServers& into, const ReachOfServers& other);
// What these servers are given for that. Looks at the disk.
[[nodiscard]] PlacesOfServers places_of_servers(const Project& project, const Folders& folders,
                                                const ReachOfServers& reach);
// Both, of one authority.
[[nodiscard]] PlacesOfServers places_of_servers(const Project& project, const Folders& folders,
                                                const codegen::Lock& lock,
                                                const policy::Authority& authority);
// {"fs": {"places": […], "absent": […], …}}, as records and `policy explain` have it. Of absent
// places those that the server would have otherwise.
[[nodiscard]] Json to_json(const PlacesOfServers& places);
// The same for people, a line a place; empty for no server.
[[nodiscard]] std::vector<std::string> lines_of_places(const Json& places);

// Sets what the starts of the project's confined servers get; nothing where none is confined
// (Project::confined is null).
void give_places(const Project& project, PlacesOfServers places);
// What they get now; empty where none is confined.
[[nodiscard]] PlacesOfServers given_places(const Project& project);

}  // namespace mcpac::execute
