// SPDX-License-Identifier: Apache-2.0

#include "run/check/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "core/characters.h"
#include "core/denial_text.h"
#include "core/printable.h"
#include "core/shell_quote.h"
#include "policy/text/parser.h"
#include "policy/text/printer.h"
#include "run/check/authorities.h"
#include "run/check/call_in_source.h"

namespace mcpac::run {
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

// Longer texts are unreadable in one line: they go into a file.
constexpr std::size_t kMostRules = 8;

bool refuses_all(const policy::Authority& authority, const Permission& permission,
                 const analyzer::Declared& declared) {
  return authority.standing(permission, declared.where).coverage == policy::Coverage::kMissing;
}

bool is_deny(const std::string& rule) {
  return rule.starts_with("deny ");
}

// Of the calls in the source the first that `authority` is certain to deny by a rule.
struct DeniedCall {
  policy::Foresight foresight;
  std::string text;  // "agent.cpp:6:20: path \"b\" is not within ./a [allow …] (mcpac.policy:1)"
};
std::optional<DeniedCall> denied_call(const analyzer::Report& report, const Permission& permission,
                                      const policy::Authority& authority) {
  for (const auto& use : report.uses) {
    if (use.permission != permission.text()) continue;
    auto foresight = authority.foresee(permission, call_in_source(use));
    if (foresight.outlook != policy::Outlook::kDenied || foresight.rule.empty()) continue;
    std::string text =
        fmt::format("{}:{}:{}: {} (decided by {})", use.file, use.line, use.column,
                    denial_text(foresight.reason, foresight.rule, foresight.other_rules),
                    policy::place_or_layer(foresight.place, foresight.layer));
    return DeniedCall{std::move(foresight), std::move(text)};
  }
  return std::nullopt;
}

std::string refused_text(const Permission& permission, const Json& arguments,
                         const policy::Decision& refused) {
  return fmt::format("{} {} is denied{}: {}", permission.text(), printable(to_text(arguments), 200),
                     refused.place.empty() ? "" : " by " + refused.place,
                     !refused.remark.empty()  ? refused.remark
                     : refused.reason.empty() ? "nothing allows it"
                                              : refused.reason);
}

// A call that the command line admits and mcpac.policy does not, where they admit none in common.
void tell_apart(const Permission& permission, const Sources& sources, CheckResult& result) {
  for (const auto& one : sources.ceiling->beyond(*sources.own)) {
    const auto* excess = std::get_if<policy::Excess>(&one);
    if (excess == nullptr || excess->permission != permission || !excess->limit.empty()) continue;
    const auto refused = sources.ceiling->explain(permission, excess->arguments).decision;
    result.blocked.push_back(fmt::format(
        "what was granted and {} have no call of {} in common: granted {}", kPolicyLayer,
        permission.text(), refused_text(permission, excess->arguments, refused)));
    return;
  }
  result.blocked.push_back(fmt::format("what was granted and {} have no call of {} in common",
                                       kPolicyLayer, permission.text()));
}

// Missing grants of one declared tool: why, and which source needs what.
class Missing {
 public:
  Missing(const analyzer::Report& report, const analyzer::Declared& declared,
          const Permission& permission, const std::string& whole, CheckResult& result)
      : report_(report),
        declared_(declared),
        permission_(permission),
        whole_(whole),
        result_(result) {}

  // A deny that covers all of it leaves nothing to grant.
  bool is_lifted_alone(const policy::Authority& granted) {
    const auto foresight =
        granted.foresee(permission_, {.known = Json::object(), .unknown{}, .open = true});
    if (foresight.outlook != policy::Outlook::kDenied || !is_deny(foresight.rule)) return false;
    stands(foresight);
    return true;
  }

  // A declared call that `source` refuses by a rule; false: none is known.
  bool tell_refused(const policy::Authority& source) {
    const auto standing = source.standing(permission_, declared_.where);
    if (!standing.refused) return false;
    const auto refused = source.explain(permission_, *standing.refused).decision;
    if (!refused.rule.empty())
      blocked("declared " + refused_text(permission_, *standing.refused, refused));
    return true;
  }

  // What `source` refuses of it, why, and the rules that it would need, no wider than what `beside`
  // needs. False: nothing for certain.
  bool of(const policy::Authority& source, const policy::Authority* beside,
          std::vector<std::string>& needed) {
    const bool is_all = refuses_all(source, permission_, declared_);
    if (!is_all && !denied_call(report_, permission_, source)) return false;
    if (is_lifted_alone(source) || !tell_why(source)) return true;
    add({source, is_all ? WhichCalls::kAll : WhichCalls::kDenied, beside}, needed);
    return true;
  }

  // The rules that the calls need, each once.
  void add(const NeededOf& of, std::vector<std::string>& needed) {
    auto rules = rules_for_uses(report_, declared_, permission_, of);
    for (auto& why : rules.escaped) blocked(std::move(why));
    if (!rules.is_used) rules.rules.push_back({whole_, ""});
    if (!rules.is_known || !rules.is_used) note(result_.unknown);
    if (!rules.is_exact) note(result_.unwritten);
    for (auto& one : rules.rules) {
      if (std::ranges::find(needed, one.rule) == needed.end()) needed.push_back(one.rule);
    }
  }

 private:
  // False where a deny is what is in the way.
  bool tell_why(const policy::Authority& source) {
    if (auto call = denied_call(report_, permission_, source)) {
      blocked(std::move(call->text));
      if (!is_deny(call->foresight.rule)) return true;
      stands(call->foresight);
      return false;
    }
    if (tell_refused(source)) return true;
    const auto foresight =
        source.foresee(permission_, {.known = Json::object(), .unknown{}, .open = true});
    // An allow that would cover the tool, but for a test of what the tool does not have.
    if (foresight.outlook == policy::Outlook::kDenied && !foresight.rule.empty())
      blocked(denial_text(foresight.reason, foresight.rule, 0));
    return true;
  }

  // Two sources may have the same to say.
  void blocked(std::string why) {
    if (std::ranges::find(result_.blocked, why) == result_.blocked.end())
      result_.blocked.push_back(std::move(why));
  }

  // A deny is lifted by its author: no advice to the caller of a program drops it.
  void stands(const policy::Foresight& by) {
    std::string rule =
        fmt::format("`{}` ({})", by.rule, policy::place_or_layer(by.place, by.layer));
    if (std::ranges::find(result_.to_lift, rule) != result_.to_lift.end()) return;
    blocked(fmt::format("{} stands, whatever is granted", rule));
    result_.to_lift.push_back(std::move(rule));
  }

  void note(std::vector<std::string>& names) {
    if (report_.uses.empty()) return;  // nothing is known of any call
    if (std::ranges::find(names, declared_.text()) == names.end())
      names.push_back(declared_.text());
  }

  const analyzer::Report& report_;
  const analyzer::Declared& declared_;
  const Permission& permission_;
  const std::string& whole_;
  CheckResult& result_;
};

void add_missing(const analyzer::Report& report, const analyzer::Declared& declared,
                 const Permission& permission, const std::string& whole,
                 const policy::Authority& granted, const Sources& sources, CheckResult& result) {
  Missing missing(report, declared, permission, whole, result);
  if (missing.is_lifted_alone(granted)) return;
  const auto& own = sources.own == nullptr ? granted : *sources.own;
  bool is_told = missing.of(own, sources.ceiling, result.to_grant);
  if (sources.ceiling == nullptr) return;
  if (refuses_all(*sources.ceiling, permission, declared))
    result.blocked.push_back(fmt::format("{} does not allow {}", kPolicyLayer, permission.text()));
  is_told = missing.of(*sources.ceiling, &own, result.to_allow) || is_told;
  if (is_told) return;
  // Each by itself may admit what the calls bring, and both together nothing.
  tell_apart(permission, sources, result);
  missing.add({own, WhichCalls::kAll, sources.ceiling}, result.to_allow);
}

// Files and network are granted as places, which only the user can name.
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
    fix += fmt::format("{}take what {} out of the program", fix.empty() ? "" : ", and ",
                       fmt::format("{} {}", fmt::join(result.to_lift, ", "),
                                   result.to_lift.size() == 1 ? "denies" : "deny"));
  if (!result.unused.empty())
    fix += fmt::format("{}take {} out of the program, which calls {}", fix.empty() ? "" : ", and ",
                       fmt::join(result.unused, ", "),
                       result.unused.size() == 1 ? "it nowhere" : "them nowhere");
  return fix;
}

}  // namespace

RulesForUses rules_for_uses(const analyzer::Report& report, const analyzer::Declared& declared,
                            const Permission& permission, const NeededOf& of) {
  RulesForUses found;
  const auto narrowed = grant_text(permission, declared.where);
  for (const auto& use : report.uses) {
    if (use.permission != declared.permission) continue;
    found.is_used = true;
    const auto call = call_in_source(use);
    if (of.which == WhichCalls::kDenied &&
        of.authority.foresee(permission, call).outlook != policy::Outlook::kDenied)
      continue;
    auto least = of.authority.least_rule(permission, call, of.beside);
    const std::string place = fmt::format("{}:{}", use.file, use.line);
    if (!least.escaped.empty()) {
      found.escaped.push_back(fmt::format("{}: {}", place, least.escaped));
      continue;
    }
    found.is_known = found.is_known && least.is_known;
    found.is_exact = found.is_exact && (least.is_exact || !least.is_known);
    // Beyond constants, a Narrow knows better than `any`.
    if (!least.is_exact && !declared.where.empty() && narrowed) least.rule = *narrowed;
    if (std::ranges::find(found.rules, least.rule, &RuleForUse::rule) == found.rules.end())
      found.rules.push_back({std::move(least.rule), place});
  }
  const auto is_whole = [&](const RuleForUse& one) { return narrowed && one.rule == *narrowed; };
  if (const auto whole = std::ranges::find_if(found.rules, is_whole); whole != found.rules.end())
    found.rules = {RuleForUse(*whole)};
  return found;
}

Result<CheckResult> check(const analyzer::Report& report, const policy::Authority& granted,
                          const Sources& sources) {
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
        if (std::ranges::find(report.unused, item.text()) != report.unused.end()) {
          result.unused.push_back(fmt::format("{} ({}:{})", item.text(), item.file, item.line));
          Missing(report, item, *permission, *rule, result).tell_refused(granted);
          break;
        }
        add_missing(report, item, *permission, *rule, granted, sources, result);
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

}  // namespace mcpac::run
