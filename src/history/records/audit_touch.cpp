// SPDX-License-Identifier: Apache-2.0

// Query for the runs that could have touched a path: the recorded rules of each run, asked for
// every tool that it declared and every argument of it that may name a place; and the files that it
// was given itself.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "history/records/audit_query.h"
#include "history/records/recorded_connection.h"
#include "policy/match/parameter_names.h"
#include "policy/match/path_readings.h"
#include "policy/places.h"
#include "policy/policy_record.h"
#include "servers/tool_tables.h"

namespace mcpac::history {
namespace {

// Stands still where time begins: no limit of a rule is used up, and no rule is over.
class StillClock final : public Clock {
 public:
  [[nodiscard]] std::chrono::steady_clock::time_point steady_now() const override { return {}; }
  [[nodiscard]] std::chrono::system_clock::time_point wall_now() const override { return {}; }
};

bool names_place(const std::string& name, const Json& property) {
  return policy::place_named(name) != policy::ParameterKind::kNone ||
         policy::place_described(property) != policy::ParameterKind::kNone ||
         policy::may_name_place(name);
}

bool takes(const Json& schema, std::string_view type) {
  const Json* types = find_member(schema, "type");
  if (types == nullptr) return true;
  if (types->is_string()) return *types == type;
  return types->is_array() && std::ranges::find(*types, Json(type)) != types->end();
}

struct Argument {
  enum class Form : std::uint8_t { kText, kList, kUnknown };
  std::string name;
  Form form = Form::kText;
  bool is_telling = false;  // its name or its schema says that it is a place
};

// Every argument that may hold a text: a rule over `*` reads each for a place, and what a server
// makes of it the server alone knows. Of what lies deeper nothing is known. Of a tool that tells
// which are places, those: what a call did name in another one stands in its own record.
std::vector<Argument> texts_of(const Json& schema) {
  using Form = Argument::Form;
  std::vector<Argument> texts;
  const Json* properties = find_member(schema, "properties");
  if (properties == nullptr || !properties->is_object()) return texts;
  for (const auto& [name, property] : properties->items()) {
    const bool is_telling = names_place(name, property);
    const bool is_listed =
        property.is_object() && (property.contains("enum") || property.contains("const"));
    if (is_listed && !is_telling) continue;
    if (takes(property, "string")) texts.push_back({name, Form::kText, is_telling});
    const Json* items = find_member(property, "items");
    const bool is_of_texts = items == nullptr || takes(*items, "string");
    if (takes(property, "array") && is_of_texts) texts.push_back({name, Form::kList, is_telling});
    const bool is_deep =
        takes(property, "object") || (takes(property, "array") && items != nullptr &&
                                      (takes(*items, "object") || takes(*items, "array")));
    if (is_deep) texts.push_back({name, Form::kUnknown, is_telling});
  }
  if (std::ranges::any_of(texts, &Argument::is_telling))
    std::erase_if(texts, [](const Argument& one) { return !one.is_telling; });
  return texts;
}

// The spellings by which a call may mean the path: servers take URLs for paths, and paths for URLs.
std::vector<std::string> spellings(const std::string& path, const policy::Bases& bases,
                                   const std::string& server) {
  std::vector<std::string> all = {path, "file://" + path};
  const auto below = [&](const std::string& base) {
    if (base.empty()) return;
    const auto relative = std::filesystem::path(path).lexically_relative(base).string();
    if (relative.empty() || relative.starts_with("..")) return;
    all.push_back(relative);
    all.push_back("./" + relative);
  };
  const auto starts = policy::relative_starts(bases, server);
  for (const auto& start : starts.to_catch) below(start);
  for (const auto& start : starts.admit) below(start);
  return all;
}

policy::CallInSource call_with(const Json& schema, const Argument& argument,
                               const std::string& value) {
  using Form = Argument::Form;
  policy::CallInSource call;
  if (argument.form != Form::kUnknown)
    call.known[argument.name] = argument.form == Form::kList ? Json::array({value}) : Json(value);
  if (const Json* properties = find_member(schema, "properties")) {
    for (const auto& [name, property] : properties->items()) {
      if (!call.known.contains(name)) call.unknown.insert(name);
    }
  }
  call.open = true;
  return call;
}

bool is_at_or_below(const std::string& target, const std::string& path) {
  return target == path || (target.starts_with(path) &&
                            (path.ends_with('/') || target.substr(path.size()).starts_with('/')));
}

// Files that the run was given, at the path, above it or below it.
void add_files(const audit::Event& started, const std::string& path, std::vector<Touch>& rows) {
  const Json* files = find_member(started.payload, "files");
  if (files == nullptr || !files->is_array()) return;
  for (const Json& place : *files) {
    const std::string given = string_member(place, "path");
    if (given.empty() || !(is_at_or_below(path, given) || is_at_or_below(given, path))) continue;
    rows.push_back({started.run_id, string_member(started.payload, "program"), started.time,
                    policy::kFilesPermission, string_member(place, "mode"), false});
  }
}

std::set<Permission> permissions_of(const Json& started) {
  std::set<Permission> permissions;
  const Json* list = find_member(started, "permissions");
  if (list == nullptr || !list->is_array()) return permissions;
  for (const Json& name : *list) {
    if (!name.is_string()) continue;
    if (auto permission = Permission::parse(name.get<std::string>()))
      permissions.insert(*permission);
  }
  return permissions;
}

// One run's own view of the path.
struct RunView {
  std::string program;
  policy::Bases bases;
};

Result<RunView> ask_rules(const audit::Event& started, const std::string& path,
                          const LockOf& lock_of, std::vector<Touch>& rows) {
  RunView view{.program = string_member(started.payload, "program"), .bases = {}};
  const Json* record = find_member(started.payload, "policy");
  if (record == nullptr) return view;  // an older mcpac: only what it did is known
  if (!server_of_record(started.payload).empty()) return view;  // of connections, and no calls
  auto recorded = policy::read_policy_record(*record);
  if (!recorded) return pass_on(recorded);
  view.bases = recorded->bases;
  const Json* binding = find_member(started.payload, "binding");
  auto lock = lock_of(binding == nullptr ? "" : string_member(*binding, "lock"));
  if (!lock) return pass_on(lock);
  const StillClock clock;
  const auto schemas = servers::tool_schemas(*lock);
  policy::Environment environment;
  environment.tools = &schemas;
  environment.clock = &clock;
  environment.bases = recorded->bases;
  environment.prices = recorded->prices;
  // Whether the path was that of a folder then, which a deny of something in it catches, is not
  // known: it could have been touched.
  environment.bases.by_identity = false;
  // --no-permission-check lifts what the run was not granted, and no deny or ceiling.
  const bool observes = string_member(started.payload, "mode") == "observe";
  if (observes && !recorded->layers.empty()) recorded->layers.front().grants.emplace_back("*.*");
  auto authority = policy::Authority::load(recorded->layers, environment);
  if (!authority) return pass_on(authority);
  for (const Permission& permission : permissions_of(started.payload)) {
    const auto schema = schemas.find(permission);
    if (schema == schemas.end()) continue;
    const auto texts = spellings(path, recorded->bases, permission.server());
    std::string arguments;  // that could have named it
    for (const auto& argument : texts_of(schema->second)) {
      const bool could = std::ranges::any_of(texts, [&](const std::string& text) {
        const auto call = call_with(schema->second, argument, text);
        return authority->foresee(permission, call).outlook != policy::Outlook::kDenied;
      });
      const bool is_told = arguments == argument.name || arguments.ends_with(", " + argument.name);
      if (could && !is_told) arguments += (arguments.empty() ? "" : ", ") + argument.name;
    }
    if (!arguments.empty())
      rows.push_back({started.run_id, view.program, started.time, permission.text(),
                      std::move(arguments), false});
  }
  return view;
}

// The folders that a server may count relative paths from.
std::vector<std::string> starts_of(const RunView& view, const std::string& capability) {
  const std::string server = capability.substr(0, capability.find('.'));
  auto starts = policy::relative_starts(view.bases, server);
  std::vector<std::string> all = std::move(starts.admit);
  all.insert(all.end(), starts.to_catch.begin(), starts.to_catch.end());
  return all;
}

// Possible effect of a call on a path, from what its record lists.
enum class Reach : std::uint8_t { kNone, kCould, kDid };

bool is_stars(const std::string& component) {
  return component.find_first_not_of('*') == std::string::npos;
}

// Whether a shell may make the path of it, or of its beginning, or a folder above the path.
bool may_expand_to(const policy::Components& place, const policy::Components& path) {
  const auto is_wild = [](const std::string& one) {
    return policy::has_wildcards(one) || is_stars(one);
  };
  if (std::ranges::none_of(place, is_wild)) return false;
  for (std::size_t i = 0; i < std::min(place.size(), path.size()); ++i) {
    const bool is_any = is_stars(place[i]);
    if (is_any && place[i].size() > 1) return true;  // any number of folders
    if (is_any) continue;
    if (is_wild(place[i]) ? !policy::may_meet(path[i], place[i]) : place[i] != path[i])
      return false;
  }
  return true;
}

std::string real_name(const std::string& path) {
  std::error_code error;
  const auto real = std::filesystem::weakly_canonical(path, error);
  return error ? path : real.string();
}

// Whether a place may be the path, or a folder above it, by another name: where links lead today,
// what a shell expands, and links of the kernel, some of them known to the process alone.
bool may_be_by_another_name(const std::string& place, const std::string& path) {
  const auto components = policy::split(place);
  if (may_expand_to(components, policy::split(path))) return true;
  const auto is_near = [&](const std::string& one, const std::string& other) {
    return is_at_or_below(one, other) || is_at_or_below(other, one);
  };
  const bool is_kernel = !components.empty() && components.front() == "proc";
  for (std::size_t i = 1; is_kernel && i < components.size(); ++i) {
    if (components[i] == "cwd" || components[i] == "fd") return true;
    if (components[i] != "root") continue;
    const policy::Components rest(components.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                  components.end());
    const auto below = policy::join(policy::collapse(rest));
    return is_near(below, path) || may_be_by_another_name(below, path);
  }
  if (place.starts_with("/dev/fd/")) return true;
  const auto real = real_name(place);
  const auto real_path = real_name(path);
  return (real != place || real_path != path) && is_near(real, real_path);
}

// One target, by every reading of it as a path. `is_entry_only`: of a tool that acts on the entry
// that is named, and on nothing below it.
Reach reach_of(const std::string& target, const std::string& path, const RunView& view,
               const std::vector<std::string>& starts, bool is_entry_only) {
  Reach reach = Reach::kNone;
  const auto look_at = [&](const std::string& place) {
    if (is_at_or_below(place, path)) reach = Reach::kDid;
    // A folder may be moved, listed or searched with what is in it.
    if (!is_entry_only && is_at_or_below(path, place)) reach = std::max(reach, Reach::kCould);
    if (reach == Reach::kNone && may_be_by_another_name(place, path)) reach = Reach::kCould;
  };
  const auto readings = policy::path_readings(target, view.bases.home);
  if (readings.unclear) reach = Reach::kCould;
  for (const auto& reading : readings.named) {
    const std::string text = policy::join(reading.path.components);
    if (reading.path.absolute) look_at(policy::join(policy::collapse(reading.path.components)));
    for (const auto& start : reading.path.absolute ? std::vector<std::string>() : starts)
      look_at(policy::join(policy::collapse(policy::split(start + text))));
  }
  return reach;
}

// Records of older versions have the first target alone, or eight and nothing of those left out.
Reach reach_of(const Json& check, const std::string& path, const RunView& view,
               const std::string& capability) {
  constexpr std::size_t kMostOnce = 8;
  std::vector<std::string> targets;
  if (const Json* all = find_member(check, "targets"); all != nullptr && all->is_array()) {
    for (const Json& one : *all) {
      if (one.is_string()) targets.push_back(one.get<std::string>());
    }
  }
  if (targets.empty()) targets.push_back(string_member(check, "target"));
  const auto starts = starts_of(view, capability);
  const auto tool = Permission::parse(capability);
  const bool is_entry_only = tool && view.bases.entry_only.contains(*tool);
  Reach reach = Reach::kNone;
  for (const auto& target : targets)
    reach = std::max(reach, reach_of(target, path, view, starts, is_entry_only));
  if (const Json* all = find_member(check, "mentions"); all != nullptr && all->is_array()) {
    for (const Json& one : *all) {
      const bool is_near = one.is_string() && reach_of(one.get<std::string>(), path, view, starts,
                                                       is_entry_only) != Reach::kNone;
      if (is_near) reach = std::max(reach, Reach::kCould);
    }
  }
  const std::string unlisted = string_member(check, "unlisted");
  const bool names_a_start = std::ranges::any_of(
      starts, [&](const std::string& start) { return is_at_or_below(path, start); });
  if (unlisted == "places" || (unlisted == "names" && names_a_start) ||
      (unlisted.empty() && targets.size() == kMostOnce))
    reach = std::max(reach, Reach::kCould);
  return reach;
}

}  // namespace

Result<std::vector<Touch>> who_could_touch(const std::vector<audit::Event>& events,
                                           const std::string& path, const LockOf& lock_of) {
  std::vector<Touch> rows;
  std::map<std::string, RunView> runs;
  for (const auto& event : events) {
    if (event.kind != "RunStarted") continue;
    add_files(event, path, rows);
    auto view = ask_rules(event, path, lock_of, rows);
    if (!view) return pass_on(view);
    runs.insert_or_assign(event.run_id, std::move(*view));
  }
  using Tool = std::pair<std::string, std::string>;  // of a run
  std::set<Tool> touched;
  std::set<Tool> told;
  for (const auto& row : rows) told.emplace(row.run_id, row.permission);
  for (const auto& event : events) {
    const Json* allowed = find_member(event.payload, "allowed");
    if (event.kind != "CapabilityCheck" || allowed == nullptr || *allowed != true) continue;
    const std::string capability = string_member(event.payload, "capability");
    const RunView& view = runs[event.run_id];
    const Reach reach = reach_of(event.payload, path, view, capability);
    const bool did = reach == Reach::kDid;
    if (did) touched.emplace(event.run_id, capability);
    // Of many calls that could have, one a run and tool is told.
    if (did || (reach == Reach::kCould && told.emplace(event.run_id, capability).second))
      rows.push_back({event.run_id, view.program, event.time, capability, "", did});
  }
  // Who did touch it by a tool could have: that says nothing more.
  std::erase_if(rows, [&touched](const Touch& row) {
    return !row.did && touched.contains({row.run_id, row.permission});
  });
  std::multimap<std::pair<bool, std::string>, Touch> sorted;
  for (Touch& row : rows) {
    const std::pair<bool, std::string> key{!row.did, row.time};
    sorted.emplace(key, std::move(row));
  }
  rows.clear();
  for (auto& [key, row] : sorted) rows.push_back(std::move(row));
  return rows;
}

}  // namespace mcpac::history
