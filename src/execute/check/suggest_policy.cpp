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
  const auto needed = rules_for_uses(report, declared, *permission, nothing);
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
