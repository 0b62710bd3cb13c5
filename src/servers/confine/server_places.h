// SPDX-License-Identifier: Apache-2.0

// ServerPlaces: places that a confined server gets from the rules of a run, beside its entry.
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
#include "policy/authority.h"
#include "policy/places.h"
#include "project/folders.h"
#include "project/project.h"
#include "project/project_place.h"
#include "sandbox/sandbox.h"

namespace mcpac::servers {

// Places that servers get from the rules, shared by the reader of rules and the starter of servers.
// Any thread.
class ConfinedRules {
 public:
  // Of starts from now on. A running server keeps what it was started with.
  void set(project::PlacesOfServers places);
  // The same, found when it is asked for, by the thread that starts servers; null: what was set.
  void find_by(std::function<project::PlacesOfServers()> source);
  // The weakest tier that a person accepted for servers, A or B; with B `roots` says whether this
  // machine gives A, and is asked at a start. A before it is called, and by no other way.
  void accept(sandbox::Tier lowest, std::function<bool()> roots);
  // In which the next server is started.
  [[nodiscard]] sandbox::Tier tier() const;
  [[nodiscard]] project::ServerPlaces of(const std::string& server) const;
  [[nodiscard]] project::PlacesOfServers all() const;
  // Places of a server at its last start: by rules, and the folders and files of the host in all.
  struct Started {
    project::ServerPlaces places;
    std::vector<std::filesystem::path> folders;
    std::vector<std::filesystem::path> writable = {};  // of those
  };
  void started(const std::string& server, Started with);
  // It has ended, and is started anew by what the rules give then.
  void forget_start(const std::string& server);
  [[nodiscard]] std::optional<Started> last_start(const std::string& server) const;

 private:
  mutable std::mutex mutex_;
  project::PlacesOfServers places_;
  std::function<project::PlacesOfServers()> source_;
  std::map<std::string, Started> started_;
  sandbox::Tier lowest_ = sandbox::Tier::kA;
  std::function<bool()> roots_;
};

// Whether a server that was started so is in the sandbox that it would be started in with `wanted`.
[[nodiscard]] bool is_confined_alike(const project::ServerPlaces& wanted,
                                     const ConfinedRules::Started& started);
// Whether `wanted` has something that `had` does not give.
[[nodiscard]] bool gives_more(const project::ServerPlaces& wanted,
                              const project::ServerPlaces& had);

// What calls of the project's confined servers can name under an authority that was loaded for the
// tools of this lock; empty where none is confined.
struct ReachOfServer {
  policy::ServerReach places;
  std::optional<std::string> network_denied;
};
using ReachOfServers = std::map<std::string, ReachOfServer>;
[[nodiscard]] ReachOfServers reach_of_servers(const project::Project& project,
                                              const codegen::Lock& lock,
                                              const policy::Authority& authority,
                                              policy::Callers callers = policy::Callers::kPrograms);
// Leaves what calls of tools that `stands` can name. A server without such a tool keeps what the
// rules hold back, and has no network by them: a client that cannot call it lifts nothing for
// others.
void keep_callable(ReachOfServers& reach, const std::function<bool(const Permission&)>& stands);
// Another authority's besides, for servers that both use: what either admits.
void add_reach(ReachOfServers& into, const ReachOfServers& other);
// Places that these servers get for that. Looks at the disk.
[[nodiscard]] project::PlacesOfServers places_of_servers(const project::Project& project,
                                                         const project::Folders& folders,
                                                         const ReachOfServers& reach);
// Both, of one authority.
[[nodiscard]] project::PlacesOfServers places_of_servers(const project::Project& project,
                                                         const project::Folders& folders,
                                                         const codegen::Lock& lock,
                                                         const policy::Authority& authority);
// {"fs": {"places": […], "absent": […], …}}, as records and `policy explain` have it. Of absent
// places those that the server would have otherwise.
[[nodiscard]] Json to_json(const project::PlacesOfServers& places);
// The same for people, a line a place; empty for no server.
[[nodiscard]] std::vector<std::string> lines_of_places(const Json& places);

// Sets what the starts of the project's confined servers get; nothing where none is confined
// (Project::confined is null).
void give_places(const project::Project& project, project::PlacesOfServers places);
// Their current places; empty where none is confined.
[[nodiscard]] project::PlacesOfServers given_places(const project::Project& project);

}  // namespace mcpac::servers
