#include "execute/check/suggest_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/shell_quote.h"
#include "execute/check/call_in_source.h"
#include "execute/check/check.h"
#include "policy/decide/least_rule.h"
#include "policy/policy_record.h"

namespace mcpac::execute {
namespace {

bool loads(const std::string& rule, const PolicyWorld& world) {
  policy::LayerText layer;
  layer.name = "a suggestion";
  layer.grants = {rule};
  return policy::Authority::load({layer}, world.environment()).has_value();
}

// The first of these texts that loads; the whole tool always does.
std::string first_that_loads(std::vector<std::string> rules, const Permission& permission,
                             const PolicyWorld& world) {
  for (auto& rule : rules) {
    if (!rule.empty() && loads(rule, world)) return std::move(rule);
  }
  return policy::whole_tool(permission);
}

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
                      const PolicyWorld& world, RuleList& rules) {
  if (const auto kind = policy::place_kind_of(declared.permission)) {
    rules.add("", fmt::format("{} is declared: name the places, as in `{}`", declared.permission,
                              *kind == policy::PlaceKind::kFiles ? "files ./PATH read-only"
                                                                 : "network HOST:PORT"));
    return;
  }
  const auto permission = Permission::parse(declared.permission);
  if (!permission) return;
  const auto narrowed = grant_text(*permission, declared.where);
  bool is_used = false;
  for (const auto& use : report.uses) {
    if (use.permission != declared.permission) continue;
    is_used = true;
    auto call = call_in_source(use);
    // Beyond constants, a Narrow knows better than `any`.
    const bool is_constant = call.unknown.empty() && !call.open;
    std::vector<std::string> texts;
    if (!declared.where.empty() && !is_constant && narrowed) texts.push_back(*narrowed);
    texts.push_back(policy::least_rule(*permission, call, schema_of(world, *permission)));
    rules.add("allow " + first_that_loads(std::move(texts), *permission, world),
              fmt::format("{}:{}", use.file, use.line));
  }
  if (is_used) return;
  rules.add("allow " + first_that_loads({narrowed ? *narrowed : ""}, *permission, world),
            "declared, but no call was found: take it out of the program, and then out of here");
}

}  // namespace

std::vector<SuggestedRule> suggest_for(const analyzer::Report& report, const PolicyWorld& world) {
  RuleList rules;
  for (const auto& declared : report.declared) suggest_declared(report, declared, world, rules);
  return rules.take();
}

namespace {

// The rules that the run was granted, read against today's lock: of a client's program those of its
// client.
Result<policy::Authority> granted_in(const std::vector<audit::Event>& events,
                                     const PolicyWorld& world) {
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
  if (read->bases != world.bases) {
    const std::string& folder = read->bases.current_directory;
    const bool is_elsewhere = folder != world.bases.current_directory;
    return fail(
        ErrorId::kUsage, "paths of the rules mean other places here than they did in the run",
        {.where = folder,
         .why = is_elsewhere ? "the run was started in another folder"
                             : "mcpac.json says of a server's folders what it did not say then",
         .fix = is_elsewhere ? fmt::format("cd {}, and again", shell_quoted(folder))
                             : "write the rules by hand: mcpac audit list shows the calls"});
  }
  std::vector<policy::LayerText> own;
  own.push_back(std::move(read->layers.front()));
  return policy::Authority::load(own, world.environment());
}

const char* why_whole(const Json& payload) {
  if (find_member(payload, "redacted") != nullptr)
    return "secrets were taken out of the arguments: what the run was granted of it";
  return "the arguments were not recorded (audit args records them): what the run was granted of "
         "it";
}

}  // namespace

Result<std::vector<SuggestedRule>> suggest_for(const std::vector<audit::Event>& events,
                                               const PolicyWorld& world) {
  auto granted = granted_in(events, world);
  if (!granted) return pass_on(granted);
  RuleList rules;
  for (const auto& event : events) {
    if (event.kind != "CapabilityCheck") continue;
    const auto permission = Permission::parse(string_member(event.payload, "capability"));
    const Json* allowed = find_member(event.payload, "allowed");
    if (!permission || allowed == nullptr || *allowed != true) continue;
    if (schema_of(world, *permission) == nullptr) {
      rules.add("", fmt::format("{} is no longer in mcpac.lock", permission->text()));
      continue;
    }
    if (find_member(event.payload, "would_deny") != nullptr) {
      rules.add("", fmt::format("a call of {} was not granted, and made with --no-permission-check",
                                permission->text()));
      continue;
    }
    const Json* arguments = find_member(event.payload, "arguments");
    const bool is_whole = arguments != nullptr && arguments->is_object() &&
                          find_member(event.payload, "redacted") == nullptr;
    for (auto& rule : granted->granted_of(*permission, is_whole ? arguments : nullptr))
      rules.add(std::move(rule), is_whole ? "as recorded" : why_whole(event.payload));
  }
  return rules.take();
}

}  // namespace mcpac::execute
