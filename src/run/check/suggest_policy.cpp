// SPDX-License-Identifier: Apache-2.0

#include "run/check/suggest_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <variant>

#include "core/shell_quote.h"
#include "gate/record.h"
#include "policy/explain/would_grant.h"
#include "policy/policy_record.h"
#include "policy/text/parser.h"
#include "policy/text/printer.h"
#include "run/check/call_in_source.h"
#include "run/check/check.h"

namespace mcpac::run {
namespace {

const Json* schema_of(const PolicyWorld& world, const Permission& permission) {
  const auto tool = world.tools.find(permission);
  return tool == world.tools.end() ? nullptr : &tool->second;
}

// Each rule once, in the order of their first need.
class RuleList {
 public:
  void add(std::string rule, std::string why) {
    const bool is_known = std::ranges::any_of(rules_, [&](const SuggestedRule& one) {
      return one.rule == rule && (!rule.empty() || one.why == why);
    });
    if (!is_known) rules_.push_back({std::move(rule), std::move(why)});
  }
  std::vector<SuggestedRule> take() { return std::move(rules_); }

 private:
  std::vector<SuggestedRule> rules_;
};

void suggest_declared(const analyzer::Report& report, const analyzer::Declared& declared,
                      const policy::Authority& nothing, RuleList& rules) {
  if (const auto kind = policy::place_kind_of(declared.permission)) {
    rules.add("", fmt::format("{} is declared: name the places, as in `{}`", declared.permission,
                              *kind == policy::PlaceKind::kFiles ? "files ./PATH read-only"
                                                                 : "network HOST:PORT"));
    return;
  }
  const auto permission = Permission::parse(declared.permission);
  if (!permission) return;
  // As the refusal of such a run says it (check.h).
  const auto needed = rules_for_uses(report, declared, *permission, {nothing});
  for (const auto& one : needed.rules) rules.add("allow " + one.rule, one.place);
  if (needed.is_used) return;
  if (std::ranges::find(report.unused, declared.text()) == report.unused.end()) {
    if (const auto whole = grant_text(*permission, declared.where))
      rules.add("allow " + *whole, "declared");
    return;
  }
  rules.add("", fmt::format("{} is declared ({}:{}), and called nowhere: take it out of the "
                            "program",
                            declared.text(), declared.file, declared.line));
}

}  // namespace

Result<std::vector<SuggestedRule>> suggest_for(const analyzer::Report& report,
                                               const PolicyWorld& world) {
  policy::LayerText none;
  none.name = "a suggestion";
  auto nothing = policy::Authority::load({none}, world.environment());
  if (!nothing) return pass_on(nothing);
  RuleList rules;
  for (const auto& declared : report.declared) suggest_declared(report, declared, *nothing, rules);
  return rules.take();
}

namespace {

// Of an older record as if it knew files by their identity: today's reading catches more.
bool is_about_same_folders(const policy::Bases& then, const policy::Bases& now,
                           const std::string& server) {
  auto before = policy::bases_of(then, server);
  before.by_identity = now.by_identity;
  return before == policy::bases_of(now, server);
}

struct GrantedThen {
  std::optional<policy::Authority> authority;
  std::vector<policy::ast::Rule> held_back;  // denies and asks
  std::set<std::string> elsewhere;           // servers whose folders were others in the run
  std::set<std::string> named;               // servers that an allow or ask names
};

// The record of the rules that the run was granted: of a client's program those of its client.
Result<policy::RecordedPolicy> recorded_policy(const std::vector<audit::Event>& events) {
  const auto started = std::ranges::find(events, "RunStarted", &audit::Event::kind);
  const Json* record = nullptr;
  if (started != events.end()) {
    record = find_member(started->payload, "client_policy");
    if (record == nullptr) record = find_member(started->payload, "policy");
  }
  if (record == nullptr)
    return fail(ErrorId::kAuditUnreadable, "the record does not say what the run was granted",
                {.why = "the run was refused before it began, or an older mcpac recorded it",
                 .fix = "mcpac policy suggest SOURCE, for what a program needs"});
  auto read = policy::read_policy_record(*record);
  if (!read) return pass_on(read);
  if (read->layers.empty()) return fail(ErrorId::kAuditUnreadable, "the run was granted nothing");
  return read;
}

bool has_limit(const policy::ast::Rule& rule) {
  const auto& c = rule.clauses;
  return c.calls || c.rate || c.bytes_in || c.bytes_out || c.cost || c.duration || c.until;
}

// Of the rules of a layer what speaks of tools that are still there, and of folders that are still
// the same. What is left out of a deny covers nothing that can be proposed; an allow with a limit
// is left out whole, for one limit for fewer tools would be another one.
std::string still_meant(const std::string& text, const PolicyWorld& world, GrantedThen& granted) {
  const auto file = policy::parse_file({"the record", text});
  if (!file) return text;
  const auto is_meant = [&](const policy::ast::Target& target) {
    const auto& [at, tool_at, server, tool] = target.selector;
    if (!server) return true;
    if (granted.elsewhere.contains(*server)) return false;
    return std::ranges::any_of(world.tools,
                               [&](const auto& known) {
                                 return known.first.server() == *server &&
                                        (!tool || known.first.tool() == *tool);
                               }) ||
           *server == "mcpac";
  };
  std::string kept;
  for (const auto& item : file->items) {
    const auto* statement = std::get_if<policy::ast::Statement>(&item);
    if (statement == nullptr) continue;
    const auto* rule = std::get_if<policy::ast::Rule>(statement);
    if (rule == nullptr) {
      kept += policy::print(*statement) + "\n";
      continue;
    }
    policy::ast::Rule part = *rule;
    for (const auto& target : rule->targets) {
      if (rule->effect != policy::Effect::kDeny && target.selector.server)
        granted.named.insert(*target.selector.server);
    }
    std::erase_if(part.targets, [&](const auto& target) { return !is_meant(target); });
    const bool is_cut = part.targets.size() < rule->targets.size();
    const bool is_allow = rule->effect == policy::Effect::kAllow;
    if (part.targets.empty() || (is_allow && is_cut && has_limit(*rule))) continue;
    if (!is_allow) granted.held_back.push_back(part);
    kept += policy::print(part) + "\n";
  }
  return kept;
}

// The rules that the run was granted, read against today's lock.
Result<GrantedThen> granted_in(const std::vector<audit::Event>& events, const PolicyWorld& world) {
  auto read = recorded_policy(events);
  if (!read) return pass_on(read);
  const std::string& folder = read->bases.current_directory;
  if (folder != world.bases.current_directory || read->bases.home != world.bases.home) {
    const bool is_elsewhere = folder != world.bases.current_directory;
    return fail(
        ErrorId::kUsage, "paths of the rules mean other places here than they did in the run",
        {.where = is_elsewhere ? folder : read->bases.home,
         .why = is_elsewhere ? "the run was started in another folder" : "it had another home",
         .fix = is_elsewhere ? fmt::format("cd {}, and again", shell_quoted(folder))
                             : "write the rules by hand: mcpac audit list shows the calls"});
  }
  GrantedThen granted;
  for (const auto& [tool, schema] : world.tools) {
    if (!is_about_same_folders(read->bases, world.bases, tool.server()))
      granted.elsewhere.insert(tool.server());
  }
  policy::LayerText own = std::move(read->layers.front());
  for (auto& file : own.files) file.text = still_meant(file.text, world, granted);
  auto authority = policy::Authority::load({std::move(own)}, world.environment());
  if (!authority) return pass_on(authority);
  granted.authority.emplace(std::move(*authority));
  return granted;
}

// Whether a value of this schema may be a text that is listed among the places of a call.
bool may_hold_string(const Json& property) {
  constexpr std::array<std::string_view, 4> kOthers = {"number", "integer", "boolean", "null"};
  const std::string type = string_member(property, "type");
  return std::ranges::find(kOthers, type) == kOthers.end();
}

// What a record without arguments shows of them: the values of the parameters that name a place, by
// their names; nothing where it cannot be told which value is whose, or another one may be listed.
using Places = std::map<std::string, std::string>;
std::optional<Places> places_shown(const Json& check, const Json& schema) {
  const Json* properties = find_member(schema, "properties");
  const std::string unlisted = string_member(check, "unlisted");
  if (properties == nullptr || !properties->is_object() || !unlisted.empty()) return std::nullopt;
  const Json* required = find_member(schema, "required");
  std::vector<std::string> names;  // in the order in which values are listed
  for (const auto& [name, property] : properties->items()) {
    if (!gate::is_place_key(name)) {
      if (may_hold_string(property)) return std::nullopt;
      continue;
    }
    const bool is_required = required != nullptr && required->is_array() &&
                             std::ranges::find(*required, Json(name)) != required->end();
    if (!is_required || string_member(property, "type") != "string") return std::nullopt;
    names.push_back(name);
  }
  std::vector<std::string> values;
  const Json* all = find_member(check, "targets");
  if (all != nullptr && all->is_array()) {
    for (const Json& one : *all) values.push_back(one.is_string() ? one.get<std::string>() : "");
  } else if (std::string only = string_member(check, "target"); !only.empty()) {
    values.push_back(std::move(only));
  }
  // A URL is listed without what may be secret in it.
  const bool is_url =
      std::ranges::any_of(values, [](const std::string& value) { return value.contains("://"); });
  if (names.empty() || names.size() != values.size() || is_url) return std::nullopt;
  Places places;
  for (std::size_t i = 0; i < names.size(); ++i) places.emplace(names[i], values[i]);
  return places;
}

// The folder that all of them lie in, as a rule writes it; empty where there is none but the root.
std::string common_folder(const std::set<std::string>& paths) {
  std::optional<std::filesystem::path> common;
  for (const std::string& text : paths) {
    const bool is_anchored = text.starts_with('/') || text.starts_with("~/");
    const auto folder =
        std::filesystem::path(is_anchored ? text : "./" + text).lexically_normal().parent_path();
    if (folder.string().starts_with("..")) return "";
    if (!common) {
      common = folder;
      continue;
    }
    std::filesystem::path shared;
    for (auto a = common->begin(), b = folder.begin();
         a != common->end() && b != folder.end() && *a == *b; ++a, ++b)
      shared /= *a;
    common = shared;
  }
  const std::string folder = common ? common->string() : "";
  const bool is_relative = common && !folder.starts_with('/') && !folder.starts_with('~');
  if (is_relative && !paths.begin()->starts_with('/') && !paths.begin()->starts_with("~"))
    return "./" + folder;
  return folder == "/" ? "" : folder;
}

// The one allow without a limit by which the run may call the tool; nothing where there are more.
std::optional<policy::ast::Rule> only_rule(const std::vector<std::string>& own) {
  if (own.size() != 1) return std::nullopt;
  const auto file = policy::parse_file({"the record", own.front()});
  if (!file || file->items.size() != 1) return std::nullopt;
  const auto* statement = std::get_if<policy::ast::Statement>(&file->items.front());
  const auto* rule = statement == nullptr ? nullptr : std::get_if<policy::ast::Rule>(statement);
  if (rule == nullptr || rule->effect != policy::Effect::kAllow || rule->targets.size() != 1 ||
      has_limit(*rule))
    return std::nullopt;
  return *rule;
}

// With one test more of an argument; false where the rule leaves the argument out.
bool narrow(policy::ast::Rule& rule, const std::string& name, policy::ast::Test test) {
  auto& brackets = rule.targets.front().brackets;
  if (!brackets) brackets = policy::ast::Brackets{.args = {}, .rest = true};
  policy::ast::Arg arg;
  arg.path.steps.emplace_back(policy::ast::Member{name});
  const auto known = std::ranges::find_if(brackets->args, [&](const policy::ast::Arg& one) {
    return policy::print(one.path) == policy::print(arg.path);
  });
  if (known == brackets->args.end()) {
    if (!brackets->rest) return false;
    arg.tests.push_back(std::move(test));
    brackets->args.push_back(std::move(arg));
    return true;
  }
  if (known->presence == policy::ast::Arg::Presence::kAbsent) return false;
  known->presence = policy::ast::Arg::Presence::kRequired;
  const std::string text = policy::print(test);
  const bool is_there = std::ranges::any_of(
      known->tests, [&](const auto& one) { return policy::print(one) == text; });
  if (!is_there) known->tests.insert(known->tests.begin(), std::move(test));
  return true;
}

policy::ast::Test equals(const std::string& value) {
  return {0, policy::ast::EqualTest{policy::ast::EqualTest::Sense::kEqual, {value}}};
}

// What the run was granted of one tool, cut to the places of its calls: tests are added to its own
// rule, so that whatever that holds back stays back.
std::vector<policy::ast::Rule> rules_of_places(const policy::ast::Rule& own,
                                               const std::set<Places>& calls) {
  constexpr std::size_t kMostByValue = 4;
  std::vector<policy::ast::Rule> rules;
  if (calls.size() <= kMostByValue) {
    for (const Places& places : calls) {
      rules.push_back(own);
      for (const auto& [name, value] : places) {
        if (!narrow(rules.back(), name, equals(value))) return {};
      }
    }
    return rules;
  }
  rules.push_back(own);
  for (const auto& [name, first] : *calls.begin()) {
    std::set<std::string> values;
    for (const Places& places : calls) values.insert(places.at(name));
    const std::string folder = values.size() == 1 ? "" : common_folder(values);
    if (values.size() > 1 && folder.empty()) return {};
    auto test = values.size() == 1 ? equals(first)
                                   : policy::ast::Test{0, policy::ast::PathTest{.path = folder}};
    if (!narrow(rules.back(), name, std::move(test))) return {};
  }
  return rules;
}

// Whether the run was granted all that these statements admit; what cannot be told counts as a no.
bool is_within(const policy::Authority& granted, const std::vector<SuggestedRule>& rules,
               const PolicyWorld& world) {
  std::string text;
  for (const auto& one : rules) text += one.rule + "\n";
  policy::LayerText layer;
  layer.name = "a suggestion";
  layer.files.emplace_back(std::move(text), layer.name);
  const auto proposed = policy::Authority::load({layer}, world.environment());
  return proposed && granted.beyond(*proposed).empty();
}

bool speaks_of(const policy::ast::Selector& selector, const Permission& tool) {
  return (!selector.server || *selector.server == tool.server()) &&
         (!selector.tool || *selector.tool == tool.tool());
}

// What holds calls of the tool back: every deny, and every ask as far as it is about this tool. An
// ask with a limit stays whole, for its targets share it.
std::vector<std::string> held_back_of(const std::vector<policy::ast::Rule>& rules,
                                      const Permission& tool) {
  std::vector<std::string> texts;
  for (const auto& rule : rules) {
    for (const auto& target : rule.targets) {
      if (!speaks_of(target.selector, tool)) continue;
      policy::ast::Rule part = rule;
      if (rule.effect == policy::Effect::kAsk && !has_limit(rule)) {
        part.targets = {target};
        part.targets.front().selector.server = tool.server();
        part.targets.front().selector.tool = tool.tool();
      }
      std::string text = policy::print(part);
      if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
    }
  }
  return texts;
}

const char* why_whole(const Json& payload) {
  if (find_member(payload, "redacted") != nullptr)
    return "secrets were taken out of the arguments: what the run was granted of it";
  return "the arguments were not recorded (audit args records them): what the run was granted of "
         "it";
}

// The calls of one run, read one after the other.
class RecordedCalls {
 public:
  RecordedCalls(const GrantedThen& granted, const PolicyWorld& world)
      : granted_(granted), world_(world) {}

  void add(const Json& check) {
    const auto permission = Permission::parse(string_member(check, "capability"));
    const Json* allowed = find_member(check, "allowed");
    if (!permission || allowed == nullptr || *allowed != true) return;
    called_.insert(permission->server());
    const Json* schema = schema_of(world_, *permission);
    if (schema == nullptr)
      return rules_.add("", fmt::format("{} is no longer in mcpac.lock", permission->text()));
    if (granted_.elsewhere.contains(permission->server()))
      return rules_.add(
          "", fmt::format("left out: {}, for mcpac.json says of the folders of {} what it did not "
                          "say then; write its rules by hand: mcpac audit list shows the calls",
                          permission->text(), permission->server()));
    if (find_member(check, "would_deny") != nullptr)
      return rules_.add(
          "", fmt::format("a call of {} was not granted, and made with --no-permission-check",
                          permission->text()));
    const Json* arguments = find_member(check, "arguments");
    const bool is_whole =
        arguments != nullptr && arguments->is_object() && find_member(check, "redacted") == nullptr;
    if (is_whole) {
      auto& rules = of_calls_[*permission];
      return add_rules(rules, *permission, arguments, "as recorded");
    }
    auto& calls = of_places_[*permission];
    const auto places = places_shown(check, *schema);
    if (places) calls.places.insert(*places);
    calls.all_shown = calls.all_shown && places;
    calls.why = why_whole(check);
  }

  std::vector<SuggestedRule> take() {
    for (const auto& [permission, calls] : of_places_) {
      const auto own = only_rule(granted_.authority->granted_of(permission, nullptr));
      auto& of_calls = of_calls_[permission];
      std::vector<SuggestedRule> rules;
      if (calls.all_shown && own) {
        for (const auto& rule : rules_of_places(*own, calls.places))
          rules.push_back({policy::print(rule),
                           "the places as recorded; the other arguments were not (audit args "
                           "records them)"});
      }
      if (rules.empty() || !is_within(*granted_.authority, held_back(permission, rules), world_)) {
        rules.clear();
        add_rules(rules, permission, nullptr, calls.why);
      }
      std::ranges::move(rules, std::back_inserter(of_calls));
    }
    for (const auto& [permission, rules] : of_calls_) propose(permission, rules);
    for (const auto& server : granted_.named) {
      if (!called_.contains(server))
        rules_.add("", fmt::format("left out: {}: no call of it was recorded", server));
    }
    return rules_.take();
  }

 private:
  struct Shown {
    std::set<Places> places;
    bool all_shown = true;
    std::string why;
  };

  void add_rules(std::vector<SuggestedRule>& rules, const Permission& permission,
                 const Json* arguments, const std::string& why) const {
    const auto whole = granted_.authority->granted_of(permission, nullptr);
    for (auto& rule : granted_.authority->granted_of(permission, arguments)) {
      if (std::ranges::find(rules, rule, &SuggestedRule::rule) != rules.end()) continue;
      const bool is_whole = std::ranges::find(whole, rule) != whole.end();
      const bool is_cut = arguments == nullptr || !is_whole;
      rules.push_back({std::move(rule), is_cut ? why : "what the run was granted of it"});
    }
  }

  // With what the run's own rules held back of the tool.
  [[nodiscard]] std::vector<SuggestedRule> held_back(const Permission& permission,
                                                     std::vector<SuggestedRule> rules) const {
    for (auto& rule : held_back_of(granted_.held_back, permission))
      rules.push_back({std::move(rule), "held back of the run"});
    return rules;
  }

  void propose(const Permission& permission, const std::vector<SuggestedRule>& admitting) {
    if (admitting.empty()) return;
    auto rules = held_back(permission, admitting);
    if (!is_within(*granted_.authority, rules, world_))
      return rules_.add(
          "", fmt::format("left out: {}, for it cannot be shown that its rules admit no more than "
                          "the run was granted; write them by hand: mcpac audit list shows the "
                          "calls",
                          permission.text()));
    for (auto& one : rules) rules_.add(std::move(one.rule), std::move(one.why));
  }

  const GrantedThen& granted_;
  const PolicyWorld& world_;
  std::map<Permission, Shown> of_places_;  // calls without their arguments
  std::map<Permission, std::vector<SuggestedRule>> of_calls_;
  std::set<std::string> called_;
  RuleList rules_;
};

}  // namespace

Result<std::vector<SuggestedRule>> suggest_for(const std::vector<audit::Event>& events,
                                               const PolicyWorld& world) {
  auto granted = granted_in(events, world);
  if (!granted) return pass_on(granted);
  RecordedCalls calls(*granted, world);
  for (const auto& event : events) {
    if (event.kind == "CapabilityCheck") calls.add(event.payload);
  }
  return calls.take();
}

}  // namespace mcpac::run
