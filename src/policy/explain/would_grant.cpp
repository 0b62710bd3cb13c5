// SPDX-License-Identifier: Apache-2.0

#include "policy/explain/would_grant.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "core/json_compare.h"
#include "core/printable.h"
#include "core/shell_quote.h"
#include "policy/compare/compare_layers.h"
#include "policy/compare/reachable.h"
#include "policy/explain/foresee.h"
#include "policy/match/readings.h"
#include "policy/rules/schema_view.h"
#include "policy/text/parser.h"
#include "policy/text/printer.h"

namespace mcpac::policy {
namespace {

// What people still read before they paste it.
constexpr std::size_t kMaxText = 300;
constexpr std::size_t kMaxItems = 12;

bool tests_paths(const CompiledArg& arg) {
  return std::ranges::any_of(arg.tests, [](const ast::Test& test) {
    return std::holds_alternative<ast::PathTest>(test.body);
  });
}

// The values of a call at a place that a rule names: of "xs[*]" all elements.
void values_at(const Json& value, const std::vector<ast::Step>& steps, std::size_t step,
               std::vector<const Json*>& found) {
  if (step == steps.size()) {
    found.push_back(&value);
  } else if (const auto* member = std::get_if<ast::Member>(&steps[step])) {
    const Json* next = find_member(value, member->name);
    if (next != nullptr) values_at(*next, steps, step + 1, found);
  } else if (value.is_array()) {
    for (const Json& element : value) values_at(element, steps, step + 1, found);
  }
}

// Tests that say exactly what a value is; nothing where the language has none, or none in short.
// Values inside a path that `near` tests as a path keep its tests: where a link leads may change.
// The language has no test of the order of a list: with Order::kAny one of several elements is said
// by what they are, which admits them in any order and number.
enum class Order : std::uint8_t { kExact, kAny };

class ExactTests {
 public:
  ExactTests(const CompiledTarget* near, const CallUnderTest& call, Order order) : order_(order) {
    if (near == nullptr || !near->brackets) return;
    for (const auto& arg : near->brackets->args) {
      if (!arg.steps.empty() && tests_paths(arg)) kept_.push_back(&arg);
    }
    server_ = call.permission.server();
    tool_ = &call.permission;
  }

  [[nodiscard]] std::optional<std::string> of(const std::string& path, const Json& value) const {
    auto text = tests(path, value);
    if (text && text->size() > (value.is_array() ? 2 : 1) * kMaxText) return std::nullopt;
    return text;
  }

 private:
  [[nodiscard]] std::optional<std::string> tests(const std::string& path, const Json& value) const {
    if (value.is_array()) return of_array(path, value);
    if (!value.is_object())
      return fmt::format("{} == {}{}", path, printable_in_place(to_text(value)),
                         kept(path, {&value}));
    std::string text;
    for (const auto& [name, member] : value.items()) {
      const auto inner = tests(path + "." + print_name(name), member);
      if (!inner || text.size() > kMaxText) return std::nullopt;
      text += (text.empty() ? "" : ", ") + *inner;
    }
    // An empty object has no test of its own.
    return text.empty() ? std::nullopt : std::optional(std::move(text));
  }

  // "xs size 1..1, xs[*] == 1"; of several in any order "xs size 2..2, xs[*] in {1, 2}".
  [[nodiscard]] std::optional<std::string> of_array(const std::string& path,
                                                    const Json& value) const {
    const std::string size = fmt::format("{} size {}..{}", path, value.size(), value.size());
    if (value.empty()) return size;
    std::vector<const Json*> items;  // each once
    for (const Json& element : value) {
      const auto is_it = [&](const Json* one) { return json_equal(element, *one); };
      if (std::ranges::none_of(items, is_it)) items.push_back(&element);
      if (items.size() > kMaxItems) return std::nullopt;
    }
    const std::string each = path + "[*]";
    if (items.size() == 1) {
      const auto inner = tests(each, *items.front());
      return inner ? std::optional(size + ", " + *inner) : std::nullopt;
    }
    if (order_ == Order::kExact) return std::nullopt;
    std::string texts;
    for (const Json* item : items) {
      if (item->is_structured()) return std::nullopt;
      texts += (texts.empty() ? "" : ", ") + printable_in_place(to_text(*item));
    }
    return fmt::format("{}, {} in {{{}}}{}", size, each, texts, kept(each, items));
  }

  // The tests of the nearest rule that all of these values pass.
  [[nodiscard]] std::string kept(const std::string& path,
                                 const std::vector<const Json*>& values) const {
    CallView view{server_, Reading::kAdmit, false, true, nullptr};
    view.tool = tool_;
    std::string text;
    for (const auto* arg : kept_) {
      const auto passes = [&](const Json* value) {
        return std::ranges::all_of(
            arg->matchers, [&](const auto& m) { return m->match(*value, view) == Outcome::kPass; });
      };
      if (arg->path_text != path || !std::ranges::all_of(values, passes)) continue;
      const std::size_t head = arg->text.starts_with('?') ? 1 : 0;
      text = arg->text.substr(head + arg->path_text.size());
    }
    return text;
  }

  Order order_;
  std::vector<const CompiledArg*> kept_;
  std::string server_;
  const Permission* tool_ = nullptr;
};

// The call as it is known, and what is to be said of the rest.
struct Asked {
  CallUnderTest call;
  const std::set<std::string>* unknown = nullptr;
  bool open = false;
  bool asks_file_system = true;
};

Asked subject_of(const PossibleCall& call) {
  return {.call = {.permission = call.permission,
                   .arguments = call.known,
                   .schema = call.schema,
                   .defaults = call.left_out(),
                   .unfilled = call.unfilled()},
          .unknown = &call.unknown,
          .open = call.open,
          .asks_file_system = false};
}

struct Written {
  std::string brackets;
  std::string trouble;  // why there are none
};

bool is_unknown(const Asked& subject, const std::string& name) {
  return subject.unknown != nullptr && subject.unknown->contains(name);
}

void add(std::string& brackets, const std::string& tests) {
  brackets += (brackets.empty() ? "" : ", ") + tests;
}

// What `near` says of an argument that only the run knows; nothing where it does not name it.
std::optional<std::string> kept_of_unknown(const CompiledTarget* near, const std::string& name) {
  if (near == nullptr) return std::nullopt;
  if (!near->brackets) return "?" + print_name(name) + " any";
  std::string text;
  for (const auto& arg : near->brackets->args) {
    const auto* member = arg.steps.empty() ? nullptr : std::get_if<ast::Member>(&arg.steps.front());
    if (member != nullptr && member->name == name) add(text, arg.text);
  }
  if (text.empty() && near->brackets->rest) text = "?" + print_name(name) + " any";
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

// An ask catches calls whatever else they bring: it is closed by naming what is absent.
void close(const Asked& subject, Written& written) {
  const SchemaView schema = subject.call.view();
  const Json* text = schema.text();
  const Json* more = text == nullptr ? nullptr : find_member(*text, "additionalProperties");
  if (more == nullptr || *more != false) {
    written.trouble = "a rule of ask cannot be closed over arguments that the schema does not name";
    return;
  }
  for (const auto& name : schema.member_names()) {
    if (!subject.call.arguments.contains(name)) add(written.brackets, print_name(name) + " absent");
  }
}

// Whether there is a list in it whose order says something.
bool has_order(const Json& value) {
  if (!value.is_structured()) return false;
  const auto is_other = [&](const Json& one) { return !json_equal(one, value.front()); };
  if (value.is_array() && !value.empty() && std::ranges::any_of(value, is_other)) return true;
  return std::ranges::any_of(value, has_order);
}

std::string trouble_with(const std::string& name, const Json& value) {
  return has_order(value) ? fmt::format(
                                "no rule says exactly what {} is: a test of a list says what its "
                                "elements are, and not their order",
                                printable(name, 80))
                          : fmt::format("no rule of a readable length says exactly what {} is",
                                        printable(name, 80));
}

Written write(const Asked& subject, const CompiledTarget* near, Effect effect,
              Order order = Order::kExact) {
  Written written;
  const ExactTests exact(near, subject.call, order);
  const SchemaView schema = subject.call.view();
  for (const auto& [name, value] : subject.call.arguments.items()) {
    if (is_unknown(subject, name)) continue;
    const auto member = schema.member(name);
    const bool is_default = member && member->equals_default(value);
    if (is_default && effect == Effect::kAllow) continue;  // counts as absent
    const auto tests = exact.of(print_name(name), value);
    if (!tests) {
      written.trouble = trouble_with(name, value);
      return written;
    }
    add(written.brackets, *tests);
  }
  if (subject.open) {
    written.trouble = "arguments of it cannot be read off the source";
    return written;
  }
  if (subject.unknown != nullptr) {
    for (const auto& name : *subject.unknown) {
      const auto kept = kept_of_unknown(near, name);
      if (!kept) {
        written.trouble =
            fmt::format("what {} will be only the run knows, and no rule says what it may be",
                        printable(name, 80));
        return written;
      }
      add(written.brackets, *kept);
    }
  }
  if (effect == Effect::kAsk) close(subject, written);
  if (written.brackets.size() > 2 * kMaxText)
    written.trouble = "a rule that says exactly this call would be too long to be read";
  return written;
}

// The limits of the rule that came nearest hold for what is added to it.
std::string clauses_of(const CompiledRule& rule) {
  ast::Rule alone;
  alone.clauses = rule.clauses;
  alone.clauses.because.reset();
  return print_body(alone);
}

// Whether the text loads as this effect and admits the call, as far as that is known.
bool helps(const std::string& text, Effect effect, const Asked& subject, const PossibleCall* call,
           const Environment& environment) {
  const SourceText source{"a fix", text};
  const auto rule = parse_rule(source, effect);
  CompiledLayer scratch;
  if (!rule || !Loader{environment, scratch}.add(*rule, source)) return false;
  if (!check_reachable(*rule, source, environment)) return false;
  const auto targets = covering(scratch, subject.call.permission);
  if (targets.empty()) return false;
  if (call == nullptr) return matches(*targets.front(), effect, subject.call);
  Grounds grounds;
  return possible_match(*targets.front(), effect, *call, grounds) != Chance::kNever;
}

// How a value got past a test that it seems to fit; empty where it did not.
std::string escape_of(const CompiledArg& arg, const Json& value, const Asked& subject) {
  const std::string& server = subject.call.permission.server();
  CallView lexical{server, Reading::kAdmit, false, true, nullptr};
  CallView real{server, Reading::kAdmit, false, subject.call.lexical, nullptr};
  for (CallView* view : {&lexical, &real}) {
    view->tool = &subject.call.permission;
    view->readings = &subject.call.readings;
  }
  for (std::size_t i = 0; i < arg.matchers.size(); ++i) {
    const Outcome by_text = arg.matchers[i]->match(value, lexical);
    const std::string& test = arg.matcher_texts[i] == "except" ? arg.text : arg.matcher_texts[i];
    if (const auto reading = arg.matchers[i]->taken_for(value, lexical))
      return fmt::format("{} may be taken for {} by its server", arg.path_text,
                         printable(to_text(*reading), 60));
    if (const auto remark = arg.matchers[i]->remark(value, real); !remark.empty())
      return fmt::format("{} {}", arg.path_text, remark);
    if (by_text == Outcome::kUnreadable)
      return fmt::format("{} is written so that it is read in more than one way", arg.path_text);
    const bool is_path = test.starts_with("within ") || test.starts_with("matches ");
    if (by_text == Outcome::kFail && !arg.exceptions.empty())
      return fmt::format("{} fails `{}`, and what it excepts is for its author to grant",
                         arg.path_text, arg.text);
    if (is_path && !readings_of(value, Subject::kPath, Reading::kCatch).others.empty())
      return fmt::format("{} may be taken for another place by its server", arg.path_text);
    if (by_text == Outcome::kFail && is_path && value.is_string()) {
      const auto& text = value.get_ref<const std::string&>();
      const bool climbs = text == ".." || text.starts_with("../") || text.ends_with("/..") ||
                          text.find("/../") != std::string::npos;
      if (climbs) return fmt::format("{} leaves what `{}` means by \"..\"", arg.path_text, test);
    }
    if (!subject.asks_file_system || by_text != Outcome::kPass) continue;
    if (arg.matchers[i]->match(value, real) != Outcome::kPass)
      return fmt::format("{} leaves what `{}` means by a link, or cannot be looked up",
                         arg.path_text, test);
  }
  return {};
}

std::string escape_of(const CompiledTarget& target, const Asked& subject) {
  if (!target.brackets) return {};
  for (const auto& arg : target.brackets->args) {
    std::vector<const Json*> values;
    if (!arg.steps.empty()) values_at(subject.call.arguments, arg.steps, 0, values);
    for (const Json* value : values) {
      if (auto why = escape_of(arg, *value, subject); !why.empty()) return why;
    }
  }
  return {};
}

Fix none(std::string why) {
  return {.would_grant = {}, .no_grant = std::move(why)};
}

Fix fix_near(const CompiledLayer& layer, const CompiledTarget* near,
             std::span<const CompiledTarget* const> missed, const Asked& subject,
             const PossibleCall* possible, const Environment& environment) {
  for (const auto* target : missed) {
    if (const auto why = escape_of(*target, subject); !why.empty())
      return {.would_grant = {},
              .no_grant = why + ", and a value that escaped a rule is no reason to grant it",
              .escaped = true};
  }
  const Effect effect = near == nullptr ? Effect::kAllow : layer.rules[near->rule].effect;
  const auto written = write(subject, near, effect);
  if (!written.trouble.empty()) return none(written.trouble);
  std::string text = fmt::format("{}({}){}", whole_tool(subject.call.permission), written.brackets,
                                 near == nullptr ? "" : clauses_of(layer.rules[near->rule]));
  if (!helps(text, effect, subject, possible, environment))
    return none("no rule says exactly this call");
  if (effect == Effect::kAsk) return {.would_grant = "--ask " + shell_quoted(text), .no_grant = {}};
  return {.would_grant = std::move(text), .no_grant = {}};
}

// "a == 1, b.c == \"x\", d any": any where the language has no short test for exactly this value.
std::string tests_or_any(const ExactTests& exact, const std::string& path, const Json& value) {
  if (auto exactly = exact.of(path, value)) return std::move(*exactly);
  std::string text;
  if (value.is_object()) {
    for (const auto& [name, member] : value.items()) {
      add(text, tests_or_any(exact, path + "." + print_name(name), member));
      if (text.size() > 2 * kMaxText) break;
    }
  }
  return text.empty() || text.size() > 2 * kMaxText ? path + " any" : text;
}

// The least in short of a call that is not known whole. `near`, where there is one, is the rule
// that comes nearest: what it tests stays tested.
std::string rule_for(const PossibleCall& call, const CompiledTarget* near) {
  const std::string whole = whole_tool(call.permission);
  const SchemaView schema = call.view();
  const ExactTests exact(near, subject_of(call).call, Order::kAny);
  std::string tests;
  for (const auto& [name, value] : call.known.items()) {
    const auto member = schema.member(name);
    if (member && member->equals_default(value)) continue;  // counts as absent
    if (!member) return whole;
    add(tests, tests_or_any(exact, print_name(name), value));
    if (tests.size() > 2 * kMaxText) return whole;
  }
  if (call.open) return whole;
  for (const auto& name : call.unknown) {
    const bool is_named = near != nullptr && near->brackets;
    if (const auto kept = is_named ? kept_of_unknown(near, name) : std::nullopt) {
      add(tests, *kept);
      continue;
    }
    // Always there, but perhaps only because a default is filled in: that counts as absent.
    const bool there = call.always_there.contains(name) && !call.has_default.contains(name);
    add(tests, std::string(there ? "" : "?") + print_name(name) + " any");
  }
  return tests.size() > 2 * kMaxText ? whole : whole + "(" + tests + ")";
}

}  // namespace

Fix fix_for(const CompiledLayer& layer, const CallUnderTest& call, const Times& times,
            const Environment& environment) {
  const CompiledTarget* near = nullptr;
  std::size_t most = 0;
  std::vector<const CompiledTarget*> missed;
  for (const auto& [target, miss, used_up, ended] : missed_targets(layer, call, times)) {
    if (ended) return none("the `until` of the rule that admits it is over: write a later end");
    if (used_up) return none("a limit of the rule that admits it is used up");
    missed.push_back(target);
    if (near != nullptr && miss.passed <= most) continue;
    most = miss.passed;
    near = target;
  }
  return fix_near(layer, near, missed, {.call = call}, nullptr, environment);
}

namespace {

// The rule of `layer` that comes nearest to what is known of a call, and all that miss it.
const CompiledTarget* nearest_to(const CompiledLayer& layer, const PossibleCall& call,
                                 std::vector<const CompiledTarget*>& missed) {
  const CompiledTarget* near = nullptr;
  std::size_t most = 0;
  for (const auto* target : covering(layer, call.permission)) {
    const Effect effect = layer.rules[target->rule].effect;
    if (effect == Effect::kDeny) continue;
    Grounds grounds;
    std::ignore = possible_match(*target, effect, call, grounds);
    missed.push_back(target);
    if (near != nullptr && grounds.passed <= most) continue;
    most = grounds.passed;
    near = target;
  }
  return near;
}

}  // namespace

Fix fix_for(const CompiledLayer& layer, const PossibleCall& call, const Environment& environment) {
  std::vector<const CompiledTarget*> missed;
  const CompiledTarget* near = nearest_to(layer, call, missed);
  return fix_near(layer, near, missed, subject_of(call), &call, environment);
}

LeastRule least_rule(const CompiledLayer& layer, const PossibleCall& call,
                     const Environment& environment) {
  std::vector<const CompiledTarget*> missed;
  const CompiledTarget* near = nearest_to(layer, call, missed);
  // An ask that comes nearest is no rule to grant by.
  if (near != nullptr && layer.rules[near->rule].effect == Effect::kAsk) near = nullptr;
  const Asked subject = subject_of(call);
  const bool is_known = call.unknown.empty() && !call.open;
  auto fix = fix_near(layer, near, missed, subject, &call, environment);
  if (fix.escaped) return {.rule = {}, .escaped = std::move(fix.no_grant)};
  if (!fix.would_grant.empty()) return {std::move(fix.would_grant), is_known, is_known};
  const std::string limits = near == nullptr ? "" : clauses_of(layer.rules[near->rule]);
  for (const auto* by : {near, static_cast<const CompiledTarget*>(nullptr)}) {
    std::string text = rule_for(call, by) + limits;
    if (helps(text, Effect::kAllow, subject, &call, environment))
      return {std::move(text), false, is_known};
  }
  return {whole_tool(call.permission) + limits, false, is_known};
}

LeastRule narrower_of(LeastRule one, LeastRule other, const Permission& permission,
                      const Environment& environment) {
  constexpr InclusionBudget kBudget{.steps = 300'000};
  if (!one.escaped.empty() || one.rule == other.rule) return one;
  if (!other.escaped.empty()) return other;
  const auto layer_of = [&](const std::string& text) {
    std::vector<CompiledLayer> layers(1);
    const SourceText source{"a fix", text};
    const auto rule = parse_rule(source, Effect::kAllow);
    if (!rule || !Loader{environment, layers.front()}.add(*rule, source)) layers.clear();
    return layers;
  };
  const auto first = layer_of(one.rule);
  const auto second = layer_of(other.rule);
  if (first.empty() || second.empty()) return one;
  const auto holds = [&](const auto& wider, const auto& narrower) {
    return std::holds_alternative<Included>(
        tool_beyond(wider, narrower, permission, environment, kBudget));
  };
  if (!holds(first, second)) return one;
  // Alike by their texts: a test of a path that its value passes still looks where links lead.
  const bool is_alike = holds(second, first);
  return !is_alike || other.rule.size() > one.rule.size() ? other : one;
}

namespace {

// The rule as far as it is about this tool. One whose limit its targets share stays whole: each by
// itself would have the limit anew.
std::string of_tool_alone(const CompiledLayer& layer, const CompiledTarget& target,
                          const Permission& permission) {
  const CompiledRule& rule = layer.rules[target.rule];
  const auto is_it = [&](const CompiledTarget& other) { return other.rule == target.rule; };
  std::size_t targets = static_cast<std::size_t>(std::ranges::count_if(layer.everywhere, is_it));
  for (const auto& [tool, all] : layer.by_tool)
    targets += static_cast<std::size_t>(std::ranges::count_if(all, is_it));
  for (const auto& [server, all] : layer.by_server)
    targets += static_cast<std::size_t>(std::ranges::count_if(all, is_it));
  const auto parsed = parse_rule({"a rule", target.text}, rule.effect);
  const bool is_wide =
      !parsed || !parsed->targets.front().selector.tool || !parsed->targets.front().selector.server;
  if (rule.has_meter() && (targets > 1 || is_wide)) return rule.text;
  if (!parsed) return target.rule_text;
  ast::Rule alone = *parsed;
  alone.effect = rule.effect;
  alone.clauses = rule.clauses;
  alone.targets.front().selector.server = permission.server();
  alone.targets.front().selector.tool = permission.tool();
  return print(alone);
}

}  // namespace

std::vector<std::string> granted_of(const CompiledLayer& layer, const Permission& permission,
                                    const Json* arguments, const Json* schema,
                                    const Environment& environment) {
  std::vector<std::string> rules;
  const auto add_rule = [&rules](std::string rule) {
    if (std::ranges::find(rules, rule) == rules.end()) rules.push_back(std::move(rule));
  };
  static const Json kNone = Json::object();
  const Json& values = arguments == nullptr ? kNone : *arguments;
  const CallUnderTest call{
      .permission = permission, .arguments = values, .schema = schema, .lexical = true};
  std::vector<const CompiledTarget*> admitting;
  bool asks = false;
  for (const auto* target : covering(layer, permission)) {
    const CompiledRule& rule = layer.rules[target->rule];
    if (rule.effect == Effect::kDeny) continue;
    if (arguments != nullptr && !matches(*target, rule.effect, call)) continue;
    admitting.push_back(target);
    asks = asks || (rule.effect == Effect::kAsk && !rule.clauses.otherwise);
  }
  for (const auto* target : admitting) {
    const CompiledRule& rule = layer.rules[target->rule];
    if (arguments == nullptr || asks || rule.effect != Effect::kAllow || rule.is_limited())
      continue;
    // Within what was granted, which cannot say an order either.
    const auto written =
        write({.call = call, .asks_file_system = false}, target, Effect::kAllow, Order::kAny);
    std::string text = fmt::format("{}({})", whole_tool(permission), written.brackets);
    const Asked subject{.call = call, .asks_file_system = false};
    if (written.trouble.empty() && helps(text, Effect::kAllow, subject, nullptr, environment))
      return {"allow " + text + clauses_of(rule)};
  }
  for (const auto* target : admitting) {
    // An allow beside an ask let nothing through by itself.
    if (asks && layer.rules[target->rule].effect == Effect::kAllow && arguments != nullptr)
      continue;
    add_rule(of_tool_alone(layer, *target, permission));
  }
  return rules;
}

std::string whole_tool(const Permission& permission) {
  return print_name(permission.server()) + "." + print_name(permission.tool());
}

}  // namespace mcpac::policy
