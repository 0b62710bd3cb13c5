// SPDX-License-Identifier: Apache-2.0

#include "servers/confine/server_places.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/printable.h"
#include "core/quantity.h"
#include "mcp/secrets.h"
#include "project/files/file_mounts.h"
#include "project/files/open_place.h"

namespace mcpac::servers {
namespace {

namespace fs = std::filesystem;
using Place = project::ServerPlaces::Place;

// Each is a mount, and a sandbox has room for as many as a person writes down.
constexpr std::size_t kMostGiven = 32;

bool says_only_reads(const codegen::LockedTool& tool) {
  const auto hints = tool.definition.find("annotations");
  if (hints == tool.definition.end() || !hints->is_object()) return false;
  const auto reads = hints->find("readOnlyHint");
  return reads != hints->end() && *reads == true;
}

std::set<Permission> reading_tools(const codegen::Lock& lock, const std::string& server) {
  std::set<Permission> reading;
  const auto* locked = lock.find_server(server);
  if (locked == nullptr) return reading;
  for (const auto& tool : locked->tools) {
    auto permission = Permission::of(server, tool.name);
    if (permission && says_only_reads(tool)) reading.insert(std::move(*permission));
  }
  return reading;
}

Place place_of(const policy::ServerReach::Place& reached) {
  return {.path = reached.path,
          .mode = reached.mode,
          .rules = {reached.rules.begin(), reached.rules.end()}};
}

// Puts the place among those that are given, or a note why it is not.
void give(const policy::ServerReach::Place& reached, const project::ReservedPlaces& reserved,
          project::ServerPlaces& into) {
  Place place = place_of(reached);
  policy::FilePlace wanted{.path = reached.path, .mode = reached.mode, .said_in = "rules"};
  auto opened = project::open_place(wanted, reserved);
  if (!opened && wanted.mode == policy::FileMode::kReadWrite) {
    wanted.mode = policy::FileMode::kReadOnly;
    if (auto readable = project::open_place(wanted, reserved)) {
      into.notes.push_back(
          fmt::format("{}, so it is read-only: {}", opened.error().what, opened.error().why));
      place.mode = wanted.mode;
      opened = std::move(readable);
    }
  }
  if (!opened) {
    const Error& error = opened.error();
    into.notes.push_back(fmt::format("{}, so the server does not have it{}{}", error.what,
                                     error.fix.empty() ? "" : "; ", error.fix));
    return;
  }
  if (into.given.size() >= kMostGiven) {
    into.notes.push_back(
        fmt::format("{} is one place more than the {} that rules give one server; write a rule for "
                    "a folder that holds several",
                    printable(reached.path), kMostGiven));
    return;
  }
  into.given.push_back(std::move(place));
}

// What a mount over it does not hold.
void note_of_absent(const std::string& path, project::ServerPlaces& into) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    into.notes.push_back(
        fmt::format("{} is not there: what is made there while the server runs, it has until its "
                    "next start",
                    printable(path)));
  } else if (S_ISREG(info.st_mode) && info.st_nlink > 1) {
    into.notes.push_back(
        fmt::format("{} has {} names (hard links): another one in what the server has is not held",
                    printable(path), info.st_nlink));
  }
}

bool is_covered(const Place& place, const std::vector<Place>& by) {
  return std::ranges::any_of(by, [&](const Place& outer) {
    return project::lies_in(place.path, outer.path) &&
           (outer.mode == place.mode || outer.mode == policy::FileMode::kReadWrite);
  });
}

std::string without_mode(const std::string& text) {
  const bool has_mode = text.ends_with(":rw") || text.ends_with(":ro");
  return has_mode ? text.substr(0, text.size() - 3) : text;
}

project::ServerPlaces places_for(const mcp::ServerConfig& server, const project::Project& project,
                                 const project::ReservedPlaces& reserved,
                                 const ReachOfServer& reach) {
  project::ServerPlaces places;
  places.network_denied = reach.network_denied;
  places.network = server.sandbox->network;
  places.memory = server.sandbox->memory;
  mcp::SecretValues secrets;
  for (const std::string& text : server.sandbox->files) {
    // A reference that leads nowhere refuses the start, which says so.
    const auto expanded = secrets.expand(text, "sandbox.files");
    auto place = project::place_of_entry(expanded.value_or(text), project, server.name);
    places.entry.push_back({place.path, place.mode, {std::move(place.said_in)}});
    if (expanded.value_or(text) != text) places.entry.back().shown = without_mode(text);
  }
  for (const auto& reached : reach.places.places()) give(reached, reserved, places);
  // Rules beside an entry take nothing from it: what they name in a writable place is writable.
  for (Place& place : places.given) {
    if (is_covered({place.path, policy::FileMode::kReadWrite, {}}, places.entry))
      place.mode = policy::FileMode::kReadWrite;
  }
  places.notes.insert(places.notes.end(), reach.places.notes.begin(), reach.places.notes.end());
  for (const auto& held : reach.places.held_back) {
    using Use = policy::ServerReach::Use;
    const auto users = reach.places.users_of(held.path);
    if (users.use == Use::kNone) {
      places.absent.push_back(place_of(held));
      if (places.speaks_of(held.path)) note_of_absent(held.path, places);
      continue;
    }
    if (users.use == Use::kReads) places.read_only.push_back(place_of(held));
    if (places.speaks_of(held.path)) {
      places.notes.push_back(fmt::format("{} stays{}, as {}: {}", printable(held.path),
                                         users.use == Use::kReads ? ", read-only" : "",
                                         users.example, fmt::join(held.rules, ", ")));
    }
  }
  return places;
}

Json to_json(const std::vector<Place>& places, bool has_mode) {
  Json list = Json::array();
  for (const Place& place : places) {
    Json one{{"path", place.shown.empty() ? place.path.string() : place.shown},
             {"rules", place.rules}};
    if (has_mode) one["mode"] = policy::to_string(place.mode);
    list.push_back(std::move(one));
  }
  return list;
}

std::vector<Place> only_spoken_of(const std::vector<Place>& places,
                                  const project::ServerPlaces& by) {
  std::vector<Place> kept;
  std::ranges::copy_if(places, std::back_inserter(kept),
                       [&](const Place& place) { return by.speaks_of(place.path); });
  return kept;
}

}  // namespace

void ConfinedRules::set(project::PlacesOfServers places) {
  const std::scoped_lock alone(mutex_);
  places_ = std::move(places);
}

void ConfinedRules::find_by(std::function<project::PlacesOfServers()> source) {
  const std::scoped_lock alone(mutex_);
  source_ = std::move(source);
}

void ConfinedRules::accept(sandbox::Tier lowest, std::function<bool()> roots) {
  const std::scoped_lock alone(mutex_);
  // Below B nothing holds the files of a server.
  lowest_ = std::min(lowest, sandbox::Tier::kB);
  roots_ = std::move(roots);
}

sandbox::Tier ConfinedRules::tier() const {
  std::unique_lock alone(mutex_);
  if (lowest_ == sandbox::Tier::kA || !roots_) return sandbox::Tier::kA;
  const auto roots = roots_;
  alone.unlock();  // a warden is asked
  return roots() ? sandbox::Tier::kA : sandbox::Tier::kB;
}

project::ServerPlaces ConfinedRules::of(const std::string& server) const {
  auto places = all();
  const auto found = places.find(server);
  return found == places.end() ? project::ServerPlaces{} : std::move(found->second);
}

project::PlacesOfServers ConfinedRules::all() const {
  std::unique_lock alone(mutex_);
  if (!source_) return places_;
  const auto source = source_;
  alone.unlock();  // it may ask for other things of this
  return source();
}

void ConfinedRules::started(const std::string& server, Started with) {
  const std::scoped_lock alone(mutex_);
  started_[server] = std::move(with);
}

void ConfinedRules::forget_start(const std::string& server) {
  const std::scoped_lock alone(mutex_);
  started_.erase(server);
}

std::optional<ConfinedRules::Started> ConfinedRules::last_start(const std::string& server) const {
  const std::scoped_lock alone(mutex_);
  const auto found = started_.find(server);
  return found == started_.end() ? std::nullopt : std::optional(found->second);
}

bool is_confined_alike(const project::ServerPlaces& wanted, const ConfinedRules::Started& started) {
  const project::ServerPlaces& had = started.places;
  const auto& folders = started.folders;
  const auto is_same = [](const Place& one, const Place& other) {
    return one.path == other.path && one.mode == other.mode;
  };
  if (!std::ranges::equal(wanted.given, had.given, is_same) ||
      wanted.network_denied.has_value() != had.network_denied.has_value())
    return false;
  // What lies in nothing that it has is absent anyhow.
  const auto is_held = [&](const Place& place, const std::vector<Place>& by) {
    const bool matters = std::ranges::any_of(folders, [&](const fs::path& folder) {
      return project::lies_in(place.path, folder) || project::lies_in(folder, place.path);
    });
    return !matters || std::ranges::any_of(by, [&](const Place& held) {
      return project::lies_in(place.path, held.path);
    });
  };
  const auto all_held = [&](const std::vector<Place>& places, const std::vector<Place>& by) {
    return std::ranges::all_of(places, [&](const Place& place) { return is_held(place, by); });
  };
  return all_held(wanted.absent, had.absent) && all_held(had.absent, wanted.absent) &&
         all_held(wanted.read_only, had.read_only) && all_held(had.read_only, wanted.read_only);
}

bool gives_more(const project::ServerPlaces& wanted, const project::ServerPlaces& had) {
  if (had.network_denied && !wanted.network_denied) return true;
  const auto is_missing = [&](const Place& place) {
    return !is_covered(place, had.given) && !is_covered(place, had.entry);
  };
  const auto is_back = [&](const std::vector<Place>& now) {
    return [&wanted, &now](const Place& place) {
      return wanted.speaks_of(place.path) && std::ranges::none_of(now, [&](const Place& held) {
               return project::lies_in(place.path, held.path);
             });
    };
  };
  // Places that were absent or read-only, and are not any more.
  std::vector<Place> held = wanted.read_only;
  held.insert(held.end(), wanted.absent.begin(), wanted.absent.end());
  return std::ranges::any_of(wanted.given, is_missing) ||
         std::ranges::any_of(had.absent, is_back(wanted.absent)) ||
         std::ranges::any_of(had.read_only, is_back(held));
}

ReachOfServers reach_of_servers(const project::Project& project, const codegen::Lock& lock,
                                const policy::Authority& authority, policy::Callers callers) {
  ReachOfServers reach;
  for (const auto& server : project.config.servers) {
    if (!server.sandbox) continue;
    reach.emplace(
        server.name,
        ReachOfServer{authority.reach(server.name, reading_tools(lock, server.name), callers),
                      authority.network_denied()});
  }
  return reach;
}

void keep_callable(ReachOfServers& reach, const std::function<bool(const Permission&)>& stands) {
  for (auto& [server, one] : reach) {
    auto& places = one.places;
    std::erase_if(places.callable, [&](const Permission& tool) { return !stands(tool); });
    std::erase_if(places.tools, [&](const policy::ServerReach::Tool& tool) {
      return !places.callable.contains(tool.permission);
    });
    if (places.callable.empty() && !one.network_denied)
      one.network_denied = "no rule lets a tool of it be called any more";
  }
}

void add_reach(ReachOfServers& into, const ReachOfServers& other) {
  for (const auto& [server, reach] : other) {
    const auto [at, is_new] = into.try_emplace(server, reach);
    if (is_new) continue;
    at->second.places.add(reach.places);
    if (!reach.network_denied) at->second.network_denied.reset();
  }
}

project::PlacesOfServers places_of_servers(const project::Project& project,
                                           const project::Folders& folders,
                                           const ReachOfServers& reach) {
  project::PlacesOfServers places;
  std::optional<project::ReservedPlaces> reserved;
  for (const auto& server : project.config.servers) {
    const auto found = reach.find(server.name);
    if (!server.sandbox || found == reach.end()) continue;
    if (!reserved) reserved = project::reserved_places(project, folders, {});
    auto one = places_for(server, project, *reserved, found->second);
    if (project.confined) one.tier = project.confined->tier();
    places.emplace(server.name, std::move(one));
  }
  return places;
}

project::PlacesOfServers places_of_servers(const project::Project& project,
                                           const project::Folders& folders,
                                           const codegen::Lock& lock,
                                           const policy::Authority& authority) {
  return places_of_servers(project, folders, reach_of_servers(project, lock, authority));
}

void give_places(const project::Project& project, project::PlacesOfServers places) {
  if (project.confined) project.confined->set(std::move(places));
}

project::PlacesOfServers given_places(const project::Project& project) {
  return project.confined ? project.confined->all() : project::PlacesOfServers{};
}

Json to_json(const project::PlacesOfServers& places) {
  Json all = Json::object();
  for (const auto& [server, one] : places) {
    std::vector<Place> had = one.entry;
    had.insert(had.end(), one.given.begin(), one.given.end());
    Json json{{"places", to_json(had, true)},
              {"absent", to_json(only_spoken_of(one.absent, one), false)},
              {"read_only", to_json(only_spoken_of(one.read_only, one), false)},
              {"notes", one.notes}};
    if (!one.network.empty()) json["network"] = one.network;
    if (one.memory > 0) json["memory"] = one.memory;
    if (one.network_denied) json["network_denied"] = *one.network_denied;
    if (one.tier != sandbox::Tier::kA) json["tier"] = sandbox::to_string(one.tier);
    all[server] = std::move(json);
  }
  return all;
}

std::vector<std::string> lines_of_places(const Json& places) {
  std::vector<std::string> lines;
  if (!places.is_object()) return lines;
  const auto rules_of = [](const Json& place) {
    std::string text;
    if (const Json* rules = find_member(place, "rules"); rules != nullptr && rules->is_array()) {
      for (const Json& rule : *rules) {
        if (!rule.is_string()) continue;
        text += (text.empty() ? "" : ", ") + printable(rule.get_ref<const std::string&>(), 400);
      }
    }
    return text;
  };
  const auto add = [&](const std::string& server, const Json& one, const char* list,
                       std::string_view words) {
    const Json* all = find_member(one, list);
    if (all == nullptr || !all->is_array()) return;
    for (const Json& place : *all) {
      const std::string mode = string_member(place, "mode");
      const std::string line =
          fmt::format("{}: {} {}: ", printable(server), printable(string_member(place, "path")),
                      mode.empty() ? std::string(words) : mode);
      // Of the entry and of a rule: one place.
      const auto known = std::ranges::find_if(
          lines, [&](const std::string& known_line) { return known_line.starts_with(line); });
      if (known == lines.end())
        lines.push_back(line + rules_of(place));
      else
        *known += ", " + rules_of(place);
    }
  };
  for (const auto& [server, one] : places.items()) {
    if (const std::string tier = string_member(one, "tier"); !tier.empty())
      lines.push_back(
          fmt::format("{}: tier {}: Landlock alone holds its files, and no file is hidden",
                      printable(server), printable(tier)));
    add(server, one, "places", "");
    add(server, one, "absent", "absent");
    add(server, one, "read_only", "stays read-only");
    const std::string denied = string_member(one, "network_denied");
    const Json* network = find_member(one, "network");
    if (!denied.empty()) {
      lines.push_back(fmt::format("{}: no network: {}", printable(server), printable(denied)));
    } else if (network != nullptr && network->is_array()) {
      for (const Json& host : *network) {
        if (host.is_string())
          lines.push_back(fmt::format("{}: network {}: its entry", printable(server),
                                      printable(host.get_ref<const std::string&>(), 400)));
      }
    }
    const Json* memory = find_member(one, "memory");
    if (memory != nullptr && memory->is_number_unsigned())
      lines.push_back(fmt::format("{}: at most {} of memory: its entry", printable(server),
                                  size_text(memory->get<std::uint64_t>())));
    const Json* notes = find_member(one, "notes");
    if (notes == nullptr || !notes->is_array()) continue;
    for (const Json& note : *notes) {
      if (note.is_string())
        lines.push_back(fmt::format("{}: note: {}", printable(server),
                                    printable(note.get_ref<const std::string&>(), 800)));
    }
  }
  return lines;
}

}  // namespace mcpac::servers
