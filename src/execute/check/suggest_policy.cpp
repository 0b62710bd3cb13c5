#include "execute/check/suggest_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "execute/check/call_in_source.h"
#include "execute/check/check.h"
#include "policy/decide/least_rule.h"

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
    const auto known = std::ranges::find(rules_, rule, &SuggestedRule::rule);
    if (known == rules_.end() || rule.empty()) rules_.push_back({std::move(rule), std::move(why)});
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
    rules.add(first_that_loads(std::move(texts), *permission, world),
              fmt::format("{}:{}", use.file, use.line));
  }
  if (is_used) return;
  rules.add(first_that_loads({narrowed ? *narrowed : ""}, *permission, world),
            "declared, but no call was found: take it out of the program, and then out of here");
}

}  // namespace

std::vector<SuggestedRule> suggest_for(const analyzer::Report& report, const PolicyWorld& world) {
  RuleList rules;
  for (const auto& declared : report.declared) suggest_declared(report, declared, world, rules);
  return rules.take();
}

std::vector<SuggestedRule> suggest_for(const std::vector<audit::Event>& events,
                                       const PolicyWorld& world) {
  RuleList rules;
  for (const auto& event : events) {
    if (event.kind != "CapabilityCheck") continue;
    const auto permission = Permission::parse(string_member(event.payload, "capability"));
    const Json* allowed = find_member(event.payload, "allowed");
    if (!permission || allowed == nullptr || *allowed != true) continue;
    const Json* schema = schema_of(world, *permission);
    if (schema == nullptr) {
      rules.add("", fmt::format("{} is no longer in mcpac.lock", permission->text()));
      continue;
    }
    const Json* arguments = find_member(event.payload, "arguments");
    if (arguments == nullptr || !arguments->is_object()) {
      rules.add(policy::whole_tool(*permission),
                "the arguments were not recorded (audit args records them): any");
      continue;
    }
    if (find_member(event.payload, "redacted") != nullptr) {
      rules.add(policy::whole_tool(*permission), "secrets were taken out of the arguments: any");
      continue;
    }
    const policy::CallInSource call{.known = *arguments, .unknown = {}, .open = false};
    rules.add(first_that_loads({policy::least_rule(*permission, call, schema)}, *permission, world),
              "as recorded");
  }
  return rules.take();
}

}  // namespace mcpac::execute
