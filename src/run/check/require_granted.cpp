// SPDX-License-Identifier: Apache-2.0

#include "run/check/require_granted.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>
#include <tuple>

#include "codegen/signature.h"
#include "core/nearest_name.h"
#include "core/printable.h"
#include "core/shell_quote.h"
#include "policy/explain/lint.h"
#include "policy/text/parser.h"
#include "policy/text/printer.h"
#include "project/claimed_needs.h"
#include "run/check/authorities.h"

namespace mcpac::run {
namespace {

// Rules are printed where the program would start with them, under all sources together.
void hold_fix(const GrantCheck& parts, const analyzer::Report& report, policy::LayerText granted,
              CheckResult& result) {
  const bool is_rules_alone = result.to_lift.empty() && result.unused.empty() &&
                              result.to_place.empty() && result.to_state.empty();
  if (!is_rules_alone || (result.to_grant.empty() && result.to_allow.empty())) return;
  std::ranges::copy(result.to_grant, std::back_inserter(granted.grants));
  const auto with =
      load_authority(parts.project, parts.world, {std::move(granted)}, result.to_allow);
  const auto again = with ? check(report, *with) : Result<CheckResult>(CheckResult());
  if (with && again && again->ok()) return;
  result.blocked.emplace_back("no rule is suggested, as none would let it start");
  result.fix.clear();
  result.to_grant.clear();
  result.to_allow.clear();
}

// Only where something is missing each source is asked by itself.
Result<CheckResult> check_against(const GrantCheck& parts, const analyzer::Report& report,
                                  const policy::LayerText& granted) {
  auto authority = load_authority(parts.project, parts.world, {granted});
  if (!authority) return pass_on(authority);
  auto result = check(report, *authority);
  if (!result || result->ok()) return result;
  auto ceiling = load_authority(parts.project, parts.world, {});
  if (!ceiling) return pass_on(ceiling);
  auto own = load_own(parts.project, parts.world, granted);
  if (!own) return pass_on(own);
  const bool has_ceiling = !ceiling->layers().empty();
  result = check(report, *authority, {&*own, has_ceiling ? &*ceiling : nullptr});
  if (result) hold_fix(parts, report, granted, *result);
  if (result && has_ceiling && !result->to_grant.empty() && result->to_allow.empty() &&
      result->to_lift.empty())
    result->limited_by = kPolicyLayer;
  return result;
}

// A person's answer about the grants that they were shown, for the record of the run.
void note_answer(const CheckResult& result, bool is_given, std::vector<Json>* answers) {
  if (answers == nullptr) return;
  Json rules = Json::array();
  for (const auto& rule : result.to_grant)
    rules.push_back({{"layer", "the command line"}, {"rule", "allow " + rule}});
  answers->push_back({{"scope", "grants"},
                      {"rules", std::move(rules)},
                      {"answer", is_given ? "yes" : "no"},
                      {"who", "the person at the terminal"}});
}

// From where the command was typed.
std::string as_typed(const std::filesystem::path& file) {
  std::error_code error;
  const auto here = std::filesystem::current_path(error);
  const bool is_below = !error && file.parent_path() == here;
  return is_below ? file.filename().string() : file.string();
}

std::unexpected<Error> missing_error(const analyzer::Report& report, const CheckResult& result,
                                     const project::Project& project) {
  const bool is_denied = result.to_lift.size() == result.missing.size();
  std::string why = result.blocked.empty() ? "a program may do only what its user granted"
                                           : fmt::format("{}", fmt::join(result.blocked, "; "));
  std::string fix = result.fix;
  if (!result.limited_by.empty()) {
    why += fmt::format("; {} {}", result.limited_by, kOnlyLimits);
    fix += fmt::format("  (or --policy {}, to grant all that it allows)",
                       shell_quoted(as_typed(project.policy_file())));
  }
  if (!result.unknown.empty() && !result.to_grant.empty())
    why += fmt::format(
        "; what {} will be called with is not all known before the run, and the fix leaves that "
        "open",
        fmt::join(result.unknown, ", "));
  if (!result.unwritten.empty() && !result.to_grant.empty())
    why += fmt::format(
        "; no rule of a readable length says exactly what {} will be called with (of a list none "
        "says the order), and the fix leaves that open",
        fmt::join(result.unwritten, ", "));
  return fail(
      ErrorId::kPermissionMissing,
      fmt::format("{} declares {} {}: {}", report.file,
                  result.missing.size() == 1 ? "a permission that was" : "permissions that were",
                  is_denied ? "denied" : "not granted", fmt::join(result.missing, ", ")),
      {.where = report.file, .why = std::move(why), .fix = std::move(fix)});
}

// The names of servers or tools in the lock, and what is meant by one: itself, or the only one that
// C++ calls so.
template <class Named>
const Named* meant_by(const std::string& name, const std::vector<Named>& all) {
  const auto is_it = [&name](const Named& one) { return one.name == name; };
  const auto is_so_called = [&name](const Named& one) {
    return codegen::short_name(one.cpp_name) == name;
  };
  if (const auto found = std::ranges::find_if(all, is_it); found != all.end()) return &*found;
  if (std::ranges::count_if(all, is_so_called) != 1) return nullptr;
  return &*std::ranges::find_if(all, is_so_called);
}

// The names of one option, and those that the lock does not have with what they may mean.
struct NamesOfOption {
  const codegen::Lock& lock;
  std::vector<std::string> unknown{};
  std::vector<std::string> meant{};

  // Where both parts stand in the text as they are read.
  std::optional<std::string> renamed(const policy::ast::Selector& selector, std::string_view text) {
    const std::string& server = *selector.server;
    const std::string& tool = *selector.tool;
    const auto* of = meant_by(server, lock.servers);
    const auto* found = of == nullptr ? nullptr : meant_by(tool, of->tools);
    if (found == nullptr) {
      miss(server + "." + tool);
      return std::nullopt;
    }
    const bool is_plain = text.substr(selector.at).starts_with(server + ".") &&
                          text.substr(selector.tool_at).starts_with(tool);
    if (!is_plain || (of->name == server && found->name == tool)) return std::nullopt;
    return policy::print_name(of->name) + "." + policy::print_name(found->name);
  }

 private:
  void miss(std::string name) {
    std::vector<std::string> known;
    for (const auto& server : lock.servers) {
      for (const auto& tool : server.tools) known.push_back(server.name + "." + tool.name);
    }
    const std::string near = nearest_name(name, known);
    if (!near.empty()) meant.push_back(fmt::format("for {}: {}", printable_in_place(name), near));
    unknown.push_back(printable_in_place(name));
  }
};

}  // namespace

Result<void> name_as_locked(policy::LayerText& granted, const codegen::Lock& lock,
                            const Listener& listener) {
  NamesOfOption names{lock};
  for (const auto& [texts, effect, option] :
       {std::tuple{&granted.grants, policy::Effect::kAllow, "--grant"},
        std::tuple{&granted.asks, policy::Effect::kAsk, "--ask"},
        std::tuple{&granted.denies, policy::Effect::kDeny, "--deny"}}) {
    for (std::string& text : *texts) {
      const std::string given = text;
      const auto rule = policy::parse_rule({option, given}, effect);
      if (!rule) continue;        // the loader says why
      std::ptrdiff_t longer = 0;  // than what was given, so far
      for (const auto& target : rule->targets) {
        const auto& selector = target.selector;
        if (!selector.server || !selector.tool || *selector.server == "mcpac") continue;
        const auto name = names.renamed(selector, given);
        if (!name) continue;
        const std::string written = *selector.server + "." + *selector.tool;
        const auto size = selector.tool_at - selector.at + selector.tool->size();
        text.replace(static_cast<std::size_t>(static_cast<std::ptrdiff_t>(selector.at) + longer),
                     size, *name);
        longer += std::ssize(*name) - static_cast<std::ptrdiff_t>(size);
        listener.note(fmt::format("{} {}: the tool is {}", option, written, *name));
      }
    }
  }
  if (names.unknown.size() < 2) return {};
  return fail(
      ErrorId::kRuleUnknownName,
      fmt::format("the lock knows none of {}", fmt::join(names.unknown, ", ")),
      {.where = "the command line",
       .why = "a rule names servers and tools that mcpac.lock holds",
       .fix = names.meant.empty() ? std::string("`mcpac tools list` shows what it holds")
                                  : fmt::format("did you mean {}?", fmt::join(names.meant, ", "))});
}

void warn_of_open_ends(const std::function<void(std::string_view)>& warning,
                       const policy::LayerText& granted, const policy::ToolSchemas* tools) {
  const auto warn = [&](std::string_view option, const std::string& rule, policy::Effect effect) {
    for (const auto& note : policy::open_ends(rule, effect, tools))
      warning(fmt::format("{}: {}", option, printable_in_place(note)));
  };
  for (const auto& rule : granted.grants) warn("--grant", rule, policy::Effect::kAllow);
  for (const auto& rule : granted.asks) warn("--ask", rule, policy::Effect::kAsk);
  for (const auto& rule : granted.denies) warn("--deny", rule, policy::Effect::kDeny);
}

void warn_of_observing(const Listener& listener) {
  listener.warning(
      "permission checks are off: calls that would be denied are made, and audited as such");
}

Result<void> require_offered(const project::Project& project, const codegen::Lock& lock,
                             const Listener& listener, const analyzer::Report& report,
                             const project::PlacesOfServers* rules) {
  const project::NeedsOfTools unmet = project::unmet_needs(project, lock, rules);
  if (unmet.empty()) return {};
  for (const auto& declared : report.declared) {
    const auto permission = declared_tool(declared);
    const auto needs = permission ? unmet.find(*permission) : unmet.end();
    if (needs == unmet.end()) continue;
    const auto use =
        std::ranges::find(report.uses, declared.permission, &analyzer::Use::permission);
    // What is declared and called nowhere is no call that fails.
    if (use == report.uses.end() && std::ranges::count(report.unused, declared.text()) > 0)
      continue;
    if (!needs->second.is_withheld()) {
      listener.note(
          fmt::format("{} is {}", permission->text(), project::needs_text(needs->second)));
      continue;
    }
    Error error = project::withheld_error(*permission, needs->second);
    error.where = use == report.uses.end()
                      ? report.file
                      : fmt::format("{}:{}:{}", use->file, use->line, use->column);
    return std::unexpected(std::move(error));
  }
  return {};
}

Result<void> require_granted(const GrantCheck& parts, const analyzer::Report& report,
                             policy::LayerText& granted, CheckResult& result) {
  auto first = check_against(parts, report, granted);
  if (!first) return pass_on(first);
  result = std::move(*first);
  warn_of_open_ends(parts.listener.warning, granted, &parts.world.tools);
  for (const auto& text : result.extra) {
    // A place that was granted and is not there surprises the program. A tool more than it names it
    // cannot miss, and a policy is often for more than one program.
    const bool is_place = policy::place_kind_of(text).has_value();
    const std::string says =
        fmt::format("{} is granted, but the program does not declare it", text);
    is_place ? parts.listener.warning(says) : parts.listener.note(says);
  }
  for (const auto& text : result.unproven) {
    parts.listener.note(fmt::format(
        "{}: whether the grants admit all of it could not be told; each call will be decided",
        text));
  }
  if (parts.enforcement == Enforcement::kObserve) {
    warn_of_observing(parts.listener);
    // Calls are lifted. Which files and hosts are meant must still be said.
    for (const auto* const missing : {&result.to_place, &result.to_state}) {
      for (const std::string& place : *missing)
        parts.listener.warning(fmt::format(
            "the program declares {}, and has none: --no-permission-check is about calls, and "
            "grants no places; {}",
            place.find("files") != std::string::npos ? "files" : "network",
            missing == &result.to_place ? place + " does"
                                        : fmt::format("`{}` in {} does", place, kPolicyLayer)));
    }
    // What a ceiling or a deny refuses is not lifted: asked as if the run were granted all.
    policy::LayerText all = granted;
    all.asks.clear();
    all.grants.emplace_back("*.*");
    auto refused = check_against(parts, report, all);
    if (!refused) return pass_on(refused);
    if (refused->to_allow.empty() && refused->to_lift.empty()) return {};
    return missing_error(report, *refused, parts.project);
  }
  // A yes names no place, and is of no use against a ceiling or a deny.
  const bool can_be_granted = result.to_place.empty() && result.to_state.empty() &&
                              result.to_allow.empty() && result.to_lift.empty() &&
                              result.unused.empty();
  const bool is_asked = !result.ok() && can_be_granted && !result.to_grant.empty() &&
                        static_cast<bool>(parts.listener.may_grant);
  const bool is_given = is_asked && parts.listener.may_grant(result, parts.stop);
  if (is_asked) note_answer(result, is_given, parts.answers);
  if (is_given) {
    // Exactly what was shown, and then the same check again: a yes does not lift a deny or a
    // ceiling.
    for (const auto& rule : result.to_grant) granted.grants.push_back(rule);
    auto again = check_against(parts, report, granted);
    if (!again) return pass_on(again);
    result = std::move(*again);
  }
  if (result.ok()) return {};
  auto error = missing_error(report, result, parts.project);
  if (is_asked && !is_given)
    error.error().why = "the answer at the terminal was no; it was about what the fix grants";
  return error;
}

}  // namespace mcpac::run
