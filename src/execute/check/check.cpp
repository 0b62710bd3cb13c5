#include "execute/check/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "core/characters.h"
#include "core/denial_text.h"
#include "core/printable.h"
#include "core/shell_quote.h"
#include "execute/check/authorities.h"
#include "execute/check/call_in_source.h"
#include "policy/text/parser.h"
#include "policy/text/printer.h"

namespace mcpac::execute {
namespace {

// True where `text` reads as one rule, and that for all or part of this tool and no other.
bool is_rule_for(const Permission& permission, const std::string& text) {
  const auto rule = policy::parse_rule({"a declared permission", text}, policy::Effect::kAllow);
  if (!rule || rule->targets.size() != 1) return false;
  const auto& selector = rule->targets.front().selector;
  return selector.server == permission.server() && selector.tool == permission.tool();
}

}  // namespace

Result<std::string> grant_text(const Permission& permission, std::string_view where) {
  const std::string tool =
      policy::print_name(permission.server()) + "." + policy::print_name(permission.tool());
  if (where.empty()) return tool;
  const std::string name = fmt::format("the condition of {}", printable(tool));
  auto brackets = policy::parse_brackets({name, where});
  if (!brackets) return pass_on(brackets);
  std::string text = fmt::format("{}({})", tool, policy::print(*brackets));
  if (printable_lines(where) == where && is_rule_for(permission, text)) return text;
  return fail(ErrorId::kRuleSyntax, fmt::format("{} is no rule for that tool alone", name),
              {.where = printable(where),
               .why = "a Narrow holds the tests of one tool, in characters that people see",
               .fix = "write what would stand in the brackets of a grant: path within ./data"});
}

std::optional<Permission> declared_tool(const analyzer::Declared& declared) {
  if (policy::place_kind_of(declared.permission)) return std::nullopt;
  auto tool = Permission::parse(declared.permission);
  return tool ? std::optional(std::move(*tool)) : std::nullopt;
}

Result<std::vector<std::string>> declared_rules(const analyzer::Report& report) {
  std::vector<std::string> rules;
  for (const auto& declared : report.declared) {
    auto permission = Permission::parse(declared.permission);
    if (!permission) continue;
    auto text = grant_text(*permission, declared.where);
    if (!text) return pass_on(text);
    rules.push_back(std::move(*text));
  }
  return rules;
}

namespace {

// More than this nobody reads in one line: it is written into a file.
constexpr std::size_t kMostRules = 8;

// What the calls of a declared tool need, each exactly. Of a call that is not known before the run
// in all its parts those that are known stay tests; a narrowed declaration stands as it is. The
// declaration itself where no call is to be seen.
std::vector<std::string> rules_for_uses(const analyzer::Report& report,
                                        const analyzer::Declared& declared,
                                        const Permission& permission, const std::string& whole,
                                        const policy::Authority& granted, CheckResult& result) {
  std::vector<std::string> rules;
  bool is_used = false;
  bool is_known = true;
  for (const auto& use : report.uses) {
    if (use.permission != declared.permission) continue;
    is_used = true;
    const auto call = call_in_source(use);
    auto rule = granted.exact_rule(permission, call);
    is_known = is_known && rule;
    if (!rule && !declared.where.empty()) rule = whole;
    if (!rule) rule = granted.least_rule(permission, call);
    if (std::ranges::find(rules, *rule) == rules.end()) rules.push_back(std::move(*rule));
  }
  if (std::ranges::find(rules, whole) != rules.end()) rules = {whole};
  if (rules.empty()) rules.push_back(whole);
  if (!is_known) result.unknown.push_back(declared.text());
  if (!is_used) result.unused.push_back(declared.text());
  return rules;
}

// What would help: a grant, an entry in the project's policy, or nothing but to take out a deny.
void add_remedy(const Permission& permission, std::vector<std::string> rules,
                const policy::Decision& refused, CheckResult& result) {
  if (refused.rule.starts_with("deny")) {
    result.blocked.push_back(
        fmt::format("{} denies {}: {}", refused.layer, permission.text(), refused.rule));
    result.to_lift.push_back(fmt::format("`{}` out of {}", refused.rule, refused.layer));
  } else if (refused.layer == kPolicyLayer) {
    result.blocked.push_back(fmt::format("{} does not allow {}", kPolicyLayer, permission.text()));
    std::ranges::move(rules, std::back_inserter(result.to_allow));
  } else {
    std::ranges::move(rules, std::back_inserter(result.to_grant));
  }
}

// Of what is missing: a call that is declared and refused, where rules speak of the tool, else how
// any call of it fares.
policy::Decision refusal_of(const Permission& permission, const policy::DeclaredStanding& standing,
                            const policy::Authority& granted, CheckResult& result) {
  if (standing.refused) {
    auto refused = granted.explain(permission, *standing.refused).decision;
    result.blocked.push_back(fmt::format("declared {} {} is denied{}: {}", permission.text(),
                                         printable(to_text(*standing.refused), 200),
                                         refused.place.empty() ? "" : " by " + refused.place,
                                         !refused.remark.empty()  ? refused.remark
                                         : refused.reason.empty() ? "nothing allows it"
                                                                  : refused.reason));
    return refused;
  }
  const auto foresight =
      granted.foresee(permission, {.known = Json::object(), .unknown{}, .open = true});
  policy::Decision refused;
  refused.layer = foresight.outlook == policy::Outlook::kDenied ? foresight.layer : "";
  refused.rule = foresight.rule;
  // An allow that would cover the tool, but for a test of what the tool does not have.
  if (!refused.rule.empty() && !refused.rule.starts_with("deny"))
    result.blocked.push_back(denial_text(foresight.reason, foresight.rule, 0));
  return refused;
}

// Files and network are granted as places, which nobody but the user can name.
void check_places(policy::PlaceKind kind, const std::string& text, const policy::Authority& granted,
                  CheckResult& result) {
  const auto refusal = granted.place_refusal(kind);
  if (!refusal) return;
  const bool is_files = kind == policy::PlaceKind::kFiles;
  result.missing.push_back(text);
  if (refusal->denied) {
    result.blocked.push_back(fmt::format("network is {}", refusal->why));
  } else if (refusal->layer == kPolicyLayer) {
    result.blocked.push_back(refusal->why);
    result.to_state.emplace_back(is_files ? "files ./PATH read-only" : "network HOST:PORT");
  } else {
    result.to_place.emplace_back(is_files ? "--files ./PATH" : "--network HOST:PORT");
  }
}

std::string fix_of(const CheckResult& result, const std::string& source) {
  std::string fix;
  if (result.to_grant.size() > kMostRules)
    fix = fmt::format("--policy FILE, which `mcpac policy suggest {} -o FILE` writes",
                      shell_quoted(source));
  else if (!result.to_grant.empty())
    fix = "--grant " + shell_quoted(fmt::format("{}", fmt::join(result.to_grant, ",")));
  for (const std::string& option : result.to_place) fix += (fix.empty() ? "" : " ") + option;
  for (const std::string& statement : result.to_state)
    fix += fmt::format("{}`{}` in {}", fix.empty() ? "" : ", and ", statement, kPolicyLayer);
  for (const std::string& rule : result.to_allow)
    fix += fmt::format("{}`allow {}` in {}", fix.empty() ? "" : ", and ", rule, kPolicyLayer);
  if (!result.to_lift.empty())
    fix += fmt::format("{}take {}, or what it denies out of the program",
                       fix.empty() ? "" : ", and ", fmt::join(result.to_lift, ", "));
  return fix;
}

}  // namespace

Result<CheckResult> check(const analyzer::Report& report, const policy::Authority& granted) {
  CheckResult result;
  std::set<Permission> declared;
  for (const auto& item : report.declared) {
    auto permission = Permission::parse(item.permission);
    if (!permission) continue;
    declared.insert(*permission);
    if (const auto kind = policy::place_kind_of(item.permission)) {
      check_places(*kind, item.text(), granted, result);
      continue;
    }
    auto rule = grant_text(*permission, item.where);
    if (!rule) return pass_on(rule);
    const auto standing = granted.standing(*permission, item.where);
    switch (standing.coverage) {
      case policy::Coverage::kCovered: break;
      case policy::Coverage::kConditional:
        result.conditional.push_back(item.text());
        if (!standing.is_certain) result.unproven.push_back(item.text());
        break;
      case policy::Coverage::kMissing: {
        result.missing.push_back(item.text());
        auto rules = rules_for_uses(report, item, *permission, *rule, granted, result);
        add_remedy(*permission, std::move(rules),
                   refusal_of(*permission, standing, granted, result), result);
        break;
      }
    }
  }
  for (const Permission& permission : granted.named_tools()) {
    if (!declared.contains(permission)) result.extra.push_back(permission.text());
  }
  const auto named = granted.named_places();
  const auto add_extra = [&](bool is_named, std::string_view text) {
    const bool is_declared =
        std::ranges::any_of(declared, [&](const Permission& one) { return one.text() == text; });
    if (is_named && !is_declared) result.extra.emplace_back(text);
  };
  add_extra(named.files, policy::kFilesPermission);
  add_extra(named.network, policy::kNetworkPermission);
  result.fix = fix_of(result, report.file);
  return result;
}

}  // namespace mcpac::execute
