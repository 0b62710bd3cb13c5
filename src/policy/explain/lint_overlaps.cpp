// SPDX-License-Identifier: Apache-2.0

// Rules of one file beside each other: which of them decide nothing.
//
// Each target of a rule is asked about by itself, and each question is one of inclusion
// (policy/compare): does the empty policy admit all that this allow and those denies admit? What is
// not decided within its budget is not said; a note is never a guess.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/offer.h"
#include "policy/compare/compare_layers.h"
#include "policy/decide/decide.h"
#include "policy/explain/lint.h"
#include "policy/text/parser.h"
#include "policy/text/printer.h"

namespace mcpac::policy {
namespace {

// Of one comparison, and of all together, some 20 ns a step.
constexpr std::size_t kStepsOfOne = 500'000;
constexpr std::size_t kStepsOfAll = 2'000'000;
// What a comparison takes beside its steps.
constexpr std::size_t kStepsOfBeginning = 500;
// So many denies or asks together are looked at for taking all of a rule; with each more there is
// far more to tell apart.
constexpr std::size_t kMostTogether = 4;
// Beyond that only what is told by the text alone is looked for: pairs are many.
constexpr std::size_t kMostCompared = 500;

// One target of a rule.
struct Unit {
  const ast::Rule* rule = nullptr;
  const ast::Target* target = nullptr;
  std::string text;   // the rule with this target alone, without its reason
  std::string place;  // "mcpac.policy:12"
  bool in_profile = false;
  bool is_limited = false;
  bool is_told = false;                 // expired, or the same as another one: not compared
  std::vector<CompiledLayer> alone;     // an allow or ask, without its limits; one layer
  std::vector<CompiledLayer> all_but;   // a deny or ask: what its selector covers, but for this
  std::vector<CompiledLayer> asks_all;  // of an allow: what its selector covers, all asked about
  std::vector<CompiledLayer> whole;     // of a deny or ask: what its selector covers
  std::set<Permission> tools;
  std::optional<Excess> example;  // a call that it is about, of its first tool
  [[nodiscard]] Effect effect() const { return rule->effect; }
};

// The rules that hold together: those outside of profiles with the profiles that they use, or all
// that and one more profile.
class Together {
 public:
  explicit Together(const ast::File& file) : file_(file) {
    for (const auto& item : file.items) {
      const auto* block = std::get_if<ast::Block>(&item);
      if (block != nullptr && block->kind == ast::Block::Kind::kProfile)
        profiles_.emplace(block->name, block);
    }
  }
  struct Found {
    const ast::Rule* rule;
    bool in_profile;  // that `profile` alone uses
  };
  std::vector<Found> with(const std::string& profile) {
    found_.clear();
    used_.clear();
    in_profile_ = false;
    for (const auto& item : file_.items) {
      if (const auto* statement = std::get_if<ast::Statement>(&item)) {
        take(*statement);
      } else if (const auto& block = std::get<ast::Block>(item);
                 block.kind == ast::Block::Kind::kPolicy) {
        for (const auto& one : block.statements) take(one);
      }
    }
    in_profile_ = true;
    use(profile);
    return found_;
  }
  // Those that nothing outside of profiles uses; and "", for none.
  std::vector<std::string> choices() {
    with("");
    std::vector<std::string> names = {""};
    for (const auto& [name, block] : profiles_) {
      if (!used_.contains(name)) names.push_back(name);
    }
    return names;
  }

 private:
  void take(const ast::Statement& statement) {
    if (const auto* rule = std::get_if<ast::Rule>(&statement))
      found_.push_back({rule, in_profile_});
    if (const auto* other = std::get_if<ast::Use>(&statement)) use(other->profile);
  }
  void use(const std::string& name) {
    const auto profile = profiles_.find(name);
    if (profile == profiles_.end() || !used_.insert(name).second) return;
    for (const auto& one : profile->second->statements) take(one);
  }

  const ast::File& file_;
  std::map<std::string, const ast::Block*> profiles_;
  std::set<std::string> used_;
  std::vector<Found> found_;
  bool in_profile_ = false;
};

// Layers of several units as one stack; given back at its end, for they cannot be copied.
class Stack {
 public:
  explicit Stack(std::vector<CompiledLayer*> from) : from_(std::move(from)) {
    for (CompiledLayer* layer : from_) layers.push_back(std::move(*layer));
  }
  ~Stack() {
    for (std::size_t i = 0; i < from_.size(); ++i) *from_[i] = std::move(layers[i]);
  }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  std::vector<CompiledLayer> layers;

 private:
  std::vector<CompiledLayer*> from_;
};

ast::Rule rule_of(Effect effect, ast::Target target) {
  ast::Rule rule;
  rule.effect = effect;
  rule.targets.push_back(std::move(target));
  return rule;
}

bool has_limit(const ast::Clauses& c) {
  return c.calls || c.rate || c.bytes_in || c.bytes_out || c.cost || c.duration || c.until;
}

class Overlaps {
 public:
  Overlaps(const SourceText& source, const Environment& environment)
      : source_(source), environment_(environment) {}

  // Notes about the rules of one choice of profiles; those outside of them have had theirs.
  void look_at(const std::vector<Together::Found>& rules, bool of_profile_alone) {
    units_.clear();
    for (const auto& [rule, in_profile] : rules) {
      for (const auto& target : rule->targets) add(*rule, target, in_profile);
    }
    of_profile_alone_ = of_profile_alone;
    find_told_by_text();
    if (units_.size() > kMostCompared) return;
    for (auto& unit : units_) {
      compile(*unit);
      find_example(*unit);
    }
    for (auto& unit : units_) {
      if (!unit->is_told && !unit->tools.empty()) compare(*unit);
    }
  }
  std::vector<Note> take_notes() { return std::move(notes_); }

 private:
  void add(const ast::Rule& rule, const ast::Target& target, bool in_profile) {
    auto unit = std::make_unique<Unit>();
    unit->rule = &rule;
    unit->target = &target;
    ast::Rule alone = rule_of(rule.effect, target);
    alone.clauses = rule.clauses;
    alone.clauses.because.reset();
    unit->text = print(alone);
    unit->place = source_.line_of(target.selector.at);
    unit->in_profile = in_profile;
    unit->is_limited = has_limit(rule.clauses);
    units_.push_back(std::move(unit));
  }

  void note(const Unit& unit, const char* kind, std::string text, std::string why,
            std::string fix) {
    if (of_profile_alone_ && !unit.in_profile) return;
    notes_.push_back({.place = unit.place,
                      .text = std::move(text),
                      .kind = kind,
                      .why = std::move(why),
                      .fix = std::move(fix)});
  }

  void find_told_by_text() {
    std::map<std::string, const Unit*> seen;
    for (auto& unit : units_) {
      const auto [first, is_new] = seen.emplace(unit->text, unit.get());
      const auto& until = unit->rule->clauses.until;
      if (!is_new) {
        unit->is_told = true;
        note(*unit, "doubled",
             fmt::format("'{}' stands at {} already", unit->text, first->second->place),
             "a rule that stands twice is that rule", "remove " + unit->place);
      } else if (until && environment_.clock != nullptr &&
                 until->value <= environment_.clock->wall_now()) {
        unit->is_told = true;
        note(*unit, "expired", fmt::format("'{}' admits nothing any more", unit->text),
             "its `until` is over",
             fmt::format("remove {}, or write a later end: until YYYY-MM-DDThh:mm:ssZ",
                         unit->place));
      }
    }
  }

  // What does not compile by itself is not compared.
  void compile(Unit& unit) {
    const ast::Target whole{.selector = unit.target->selector, .brackets = std::nullopt};
    const auto into = [&](std::vector<CompiledLayer>& layers, const ast::Rule& rule) {
      if (layers.empty()) layers.emplace_back();
      if (!Loader{environment_, layers.front()}.add(rule, source_)) layers.clear();
    };
    if (unit.effect() != Effect::kDeny) into(unit.alone, rule_of(unit.effect(), *unit.target));
    if (unit.effect() == Effect::kAllow) {
      into(unit.asks_all, rule_of(Effect::kAsk, whole));
    } else {
      into(unit.whole, rule_of(Effect::kAllow, whole));
      into(unit.all_but, rule_of(Effect::kAllow, whole));
      if (!unit.all_but.empty()) into(unit.all_but, rule_of(unit.effect(), *unit.target));
    }
    const auto& layers = unit.effect() == Effect::kDeny ? unit.all_but : unit.alone;
    if (layers.empty() || (unit.effect() != Effect::kAllow && unit.all_but.empty())) return;
    const auto consider = [&](const Permission& tool) {
      if (!covering(layers.front(), tool).empty()) unit.tools.insert(tool);
    };
    const auto& selector = unit.target->selector;
    if (selector.server && selector.tool) {
      if (const auto tool = Permission::of(*selector.server, *selector.tool)) consider(*tool);
      return;
    }
    for (const auto& [tool, schema] : *environment_.tools) consider(tool);
  }

  [[nodiscard]] bool includes(const std::vector<CompiledLayer>& wider,
                              const std::vector<CompiledLayer>& narrower, const Permission& tool) {
    if (left_ < kStepsOfBeginning) return false;
    left_ -= kStepsOfBeginning;
    const auto relation =
        relate_tool(wider, narrower, tool, environment_, {.steps = std::min(left_, kStepsOfOne)});
    left_ -= std::min(left_, relation.steps);
    return std::holds_alternative<Included>(relation.beyond);
  }

  // One call tells of most pairs of rules that they have nothing to do with each other, in a
  // thousandth of the time that a comparison takes. Made of what the tests name, where that is one;
  // whether it fits the schema does not matter: it only keeps notes back.
  void find_example(Unit& unit) {
    if (unit.is_told || unit.tools.empty()) return;
    Excess made{.permission = *unit.tools.begin(), .arguments = Json::object(), .limit = {}};
    const bool admits = unit.effect() == Effect::kAllow;
    const auto& brackets = unit.target->brackets;
    for (const auto& arg : brackets ? brackets->args : std::vector<ast::Arg>()) {
      if (arg.presence == ast::Arg::Presence::kRequired) put_example(arg, made);
    }
    const Effect found = answer(admits ? unit.alone.front() : unit.all_but.front(), made);
    if (found == unit.effect()) {
      unit.example = std::move(made);
      return;
    }
    const std::vector<CompiledLayer> nothing;
    auto relation =
        relate_tool(admits ? nothing : unit.all_but, admits ? unit.alone : unit.whole,
                    *unit.tools.begin(), environment_, {.steps = std::min(left_, kStepsOfOne)});
    left_ -= std::min(left_, relation.steps + kStepsOfBeginning);
    if (auto* call = std::get_if<Excess>(&relation.beyond)) unit.example = std::move(*call);
  }

  // A value that the argument's first test may be passed by, at its place.
  static void put_example(const ast::Arg& arg, Excess& call) {
    Json* place = &call.arguments;
    for (const auto& step : arg.path.steps) {
      if (const auto* member = std::get_if<ast::Member>(&step)) {
        if (!place->is_object()) *place = Json::object();
        place = &(*place)[member->name];
      } else {
        if (!place->is_array()) *place = Json::array({nullptr});
        place = &place->front();
      }
    }
    if (arg.path.any_string()) place = &(*place)["any"];
    *place = arg.tests.empty() ? Json("") : value_for(arg.tests.front());
  }

  static Json json_of(const ast::Literal& literal) {
    if (const auto* text = std::get_if<std::string>(&literal.value)) return *text;
    if (const auto* flag = std::get_if<bool>(&literal.value)) return *flag;
    const auto* number = std::get_if<ast::Number>(&literal.value);
    if (number == nullptr) return Json();
    Json value = Json::parse(number->spelling, nullptr, false);
    return value.is_discarded() ? Json() : value;
  }

  static Json value_for(const ast::Test& test) {
    if (const auto* equal = std::get_if<ast::EqualTest>(&test.body)) return json_of(equal->literal);
    if (const auto* in = std::get_if<ast::InTest>(&test.body))
      return in->literals.empty() ? Json() : json_of(in->literals.front());
    if (const auto* path = std::get_if<ast::PathTest>(&test.body)) return path->path;
    if (const auto* text = std::get_if<ast::TextTest>(&test.body)) return text->text;
    if (const auto* host = std::get_if<ast::HostTest>(&test.body))
      return "https://" + (host->hosts.empty() ? std::string() : host->hosts.front());
    return Json();
  }

  [[nodiscard]] Effect answer(const CompiledLayer& layer, const Excess& call) const {
    const auto schema = environment_.tools->find(call.permission);
    return decide_layer(layer,
                        {.permission = call.permission,
                         .arguments = call.arguments,
                         .schema = schema == environment_.tools->end() ? nullptr : &schema->second,
                         .lexical = true},
                        Times{})
        .effect;
  }

  [[nodiscard]] static bool is_whole(const Unit& unit) {
    const auto& brackets = unit.target->brackets;
    return !brackets || (brackets->args.empty() && brackets->rest);
  }

  // Whether `wider` admits whatever the unit admits beside `others`, tool by tool. `others` are
  // denies and asks; of each tool at least one must speak.
  [[nodiscard]] bool is_cut_to(const std::vector<CompiledLayer>& wider, Unit& unit,
                               const std::vector<Unit*>& others) {
    return std::ranges::all_of(unit.tools, [&](const Permission& tool) {
      std::vector<CompiledLayer*> layers = {&unit.alone.front()};
      for (Unit* other : others) {
        if (!other->tools.contains(tool)) continue;
        if (is_whole(*other)) return true;
        layers.push_back(&other->all_but.front());
      }
      if (layers.size() == 1) return false;
      const Stack stack(std::move(layers));
      return includes(wider, stack.layers, tool);
    });
  }

  // Of `others` one, or some together, that leave nothing of the unit, as is_cut_to() has it; none
  // where that is not so, or not certain.
  [[nodiscard]] std::vector<Unit*> who_cuts(const std::vector<CompiledLayer>& wider, Unit& unit,
                                            const std::vector<Unit*>& others) {
    std::vector<Unit*> part;
    bool is_example_caught = !unit.example;
    for (Unit* other : others) {
      const bool meets = std::ranges::any_of(
          unit.tools, [&](const Permission& tool) { return other->tools.contains(tool); });
      if (!meets) continue;
      part.push_back(other);
      const bool catches = unit.example && other->tools.contains(unit.example->permission) &&
                           answer(other->all_but.front(), *unit.example) != Effect::kAllow;
      is_example_caught = is_example_caught || catches;
      const bool may_do_alone =
          (catches || !unit.example) && std::ranges::includes(other->tools, unit.tools);
      if (may_do_alone && is_cut_to(wider, unit, {other})) return {other};
    }
    if (!is_example_caught || part.size() < 2 || part.size() > kMostTogether) return {};
    return is_cut_to(wider, unit, part) ? part : std::vector<Unit*>();
  }

  [[nodiscard]] static std::string named(const Unit& unit) {
    return fmt::format("'{}' ({})", unit.text, unit.place);
  }

  // "'deny t.x' (mcpac.policy:3) and …"
  [[nodiscard]] static std::string named(const std::vector<Unit*>& units) {
    std::string names;
    for (const Unit* unit : units) names += (names.empty() ? "" : " and ") + named(*unit);
    return names;
  }

  [[nodiscard]] static std::string places_of(const std::vector<Unit*>& units) {
    std::string places;
    for (const Unit* unit : units) places += (places.empty() ? "" : " and ") + unit->place;
    return places;
  }

  // An ask that asks about the rest alone, to write where the one ask stands that takes all.
  [[nodiscard]] static std::string otherwise_instead(const Unit& unit,
                                                     const std::vector<Unit*>& by) {
    const auto ask = std::ranges::find(by, Effect::kAsk, &Unit::effect);
    if (by.size() != 1 || ask == by.end())
      return fmt::format(
          "remove {}, or end the asks with `otherwise`: then they ask about the rest "
          "alone",
          unit.place);
    ast::Rule rest = rule_of(Effect::kAsk, *(*ask)->target);
    rest.clauses = (*ask)->rule->clauses;
    rest.clauses.otherwise = true;
    return fmt::format("end the ask with `otherwise`, at {}: {}; or remove {}", (*ask)->place,
                       print(rest), unit.place);
  }

  [[nodiscard]] std::vector<Unit*> all(Effect effect) const {
    std::vector<Unit*> found;
    for (const auto& unit : units_) {
      if (unit->effect() == effect && !unit->is_told && !unit->tools.empty())
        found.push_back(unit.get());
    }
    return found;
  }

  void compare(Unit& unit) {
    if (unit.effect() != Effect::kDeny && (is_dead(unit) || is_asked_about(unit))) return;
    // What else it says would be lost with it.
    const auto& clauses = unit.rule->clauses;
    if (clauses.audit || (clauses.because && unit.effect() != Effect::kAllow)) return;
    for (Unit* other : all(unit.effect())) {
      if (other == &unit || !is_within(unit, *other)) continue;
      // Of two that say the same the first one stands.
      const bool stands_first = std::ranges::find(units_, &unit, &std::unique_ptr<Unit>::get) <
                                std::ranges::find(units_, other, &std::unique_ptr<Unit>::get);
      if (stands_first && !unit.is_limited && is_within(*other, unit)) continue;
      return say_within(unit, *other);
    }
  }

  bool is_dead(Unit& unit) {
    const auto by = who_cuts({}, unit, all(Effect::kDeny));
    if (by.empty()) return false;
    note(unit, "dead",
         fmt::format("'{}' never {}: {} den{} all that it is about", unit.text,
                     unit.effect() == Effect::kAllow ? "admits a call" : "asks", named(by),
                     by.size() == 1 ? "ies" : "y"),
         "a deny beats an allow and an ask, wherever each of them stands",
         fmt::format("remove {}, or let {} leave these calls out (`except`)", unit.place,
                     places_of(by)));
    return true;
  }

  bool is_asked_about(Unit& unit) {
    if (unit.effect() != Effect::kAllow || unit.asks_all.empty()) return false;
    auto others = all(Effect::kAsk);
    if (others.empty()) return false;
    for (Unit* deny : all(Effect::kDeny)) others.push_back(deny);
    const auto by = who_cuts(unit.asks_all, unit, others);
    if (by.empty()) return false;
    note(unit, "shadowed",
         fmt::format("'{}' admits no call unasked: {} {} about all of them", unit.text, named(by),
                     by.size() == 1 ? "is" : "are"),
         "an ask beats an allow, wherever each of them stands", otherwise_instead(unit, by));
    return true;
  }

  // Whatever the unit is about, the other one is about, too, and without a limit.
  [[nodiscard]] bool is_within(Unit& unit, Unit& other) {
    if (other.is_limited || !std::ranges::includes(other.tools, unit.tools)) return false;
    if (is_whole(other)) return true;
    const bool admits = unit.effect() == Effect::kAllow;
    auto& wider = admits ? other.alone : unit.all_but;
    auto& narrower = admits ? unit.alone : other.all_but;
    if (unit.example) {
      const Effect other_says =
          answer(admits ? other.alone.front() : other.all_but.front(), *unit.example);
      if (other_says == (admits ? Effect::kDeny : Effect::kAllow)) return false;
    }
    return std::ranges::all_of(
        unit.tools, [&](const Permission& tool) { return includes(wider, narrower, tool); });
  }

  void say_within(const Unit& unit, const Unit& other) {
    if (unit.is_limited) {
      return note(unit, "shadowed",
                  fmt::format("'{}' limits nothing: {} admits these calls without a limit",
                              unit.text, named(other)),
                  "a call needs one allow of the file, and finds it there when this one is used up",
                  fmt::format("remove {}, or this one at {}", other.place, unit.place));
    }
    const char* does = unit.effect() == Effect::kAllow ? "admits"
                       : unit.effect() == Effect::kAsk ? "asks about"
                                                       : "denies";
    note(unit, "shadowed",
         fmt::format("'{0}' {1} nothing that {2} does not {3}", unit.text, does, named(other),
                     unit.effect() == Effect::kAllow ? "admit"
                     : unit.effect() == Effect::kAsk ? "ask about"
                                                     : "deny"),
         "the wider rule decides alone",
         fmt::format("remove {}, or narrow the wider one at {}", unit.place, other.place));
  }

  const SourceText& source_;
  const Environment& environment_;
  std::vector<std::unique_ptr<Unit>> units_;
  std::vector<Note> notes_;
  std::size_t left_ = kStepsOfAll;
  bool of_profile_alone_ = false;
};

// The rule with the tools that it covers today instead of its wildcard; empty where they are
// many, or it does not load so.
std::string with_names(const ast::Rule& rule, const ast::Target& target,
                       const Environment& environment, const std::set<Permission>& denied) {
  constexpr std::size_t kMostNamed = 16;
  ast::Rule named = rule;
  named.targets.clear();
  CompiledLayer covers;
  if (!Loader{environment, covers}.add(rule_of(Effect::kAllow, target), {"a rule", ""})) return "";
  for (const auto& [tool, schema] : *environment.tools) {
    if (target.selector.server && tool.server() != *target.selector.server) continue;
    // What every server is asked, be there tools or prompts or both: "prompts/get".
    const bool is_for_all = tool.tool() == kGetPrompt || tool.tool() == kReadResource;
    if (is_for_all || denied.contains(tool)) continue;
    if (covering(covers, tool).empty()) continue;
    ast::Rule alone = rule_of(Effect::kAllow, target);
    alone.targets.front().selector.server = tool.server();
    alone.targets.front().selector.tool = tool.tool();
    CompiledLayer layer;
    // One that lacks what the brackets test was not covered, either.
    if (!Loader{environment, layer}.add(alone, {"a rule", ""})) continue;
    named.targets.push_back(std::move(alone.targets.front()));
  }
  return named.targets.empty() || named.targets.size() > kMostNamed ? "" : print(named);
}

void add_wildcards(const ast::Rule& rule, const SourceText& source, const Environment* environment,
                   const std::set<Permission>& denied, std::vector<Note>& notes) {
  for (const auto& target : rule.targets) {
    const auto& selector = target.selector;
    if (rule.effect != Effect::kAllow || (selector.server && selector.tool)) continue;
    const bool tests = target.brackets && !target.brackets->args.empty();
    const std::string names =
        environment == nullptr ? "" : with_names(rule, target, *environment, denied);
    notes.push_back(
        {.place = source.line_of(selector.at),
         .text = fmt::format("'allow {}' covers every tool that {} gains{}, from the moment that "
                             "`mcpac lock accept` or `generate --accept-new` takes it in",
                             print(target),
                             selector.server ? print_name(*selector.server) : "any server",
                             tests ? " and that has what it tests" : ""),
         .kind = "new-tools",
         .why = "a rule with a wildcard grants tools that came after it was written",
         .fix = (names.empty() ? "name the tools that are meant" : names) +
                std::string("; or look at each new one with `mcpac lock diff`")});
  }
}

// Visits every rule of the file, of all blocks.
template <class Visit>
void for_each_rule(const ast::File& file, Visit visit) {
  const auto look_at = [&](const ast::Statement& statement) {
    if (const auto* rule = std::get_if<ast::Rule>(&statement)) visit(*rule);
  };
  for (const auto& item : file.items) {
    if (const auto* statement = std::get_if<ast::Statement>(&item)) {
      look_at(*statement);
    } else {
      for (const auto& one : std::get<ast::Block>(item).statements) look_at(one);
    }
  }
}

}  // namespace

std::vector<Note> find_overlaps(const SourceText& source, const Environment& environment) {
  const auto file = parse_file(source);
  if (!file) return {};
  Together together(*file);
  Overlaps overlaps(source, environment);
  for (const std::string& profile : together.choices())
    overlaps.look_at(together.with(profile), !profile.empty());
  return overlaps.take_notes();
}

std::vector<Note> find_wildcards(const SourceText& source, const Environment* environment) {
  std::vector<Note> notes;
  const auto file = parse_file(source);
  if (!file) return notes;
  std::set<Permission> denied;  // whatever they are called with
  for_each_rule(*file, [&](const ast::Rule& rule) {
    if (environment == nullptr || rule.effect != Effect::kDeny) return;
    for (const auto& target : rule.targets) {
      if (target.brackets) continue;
      for (const auto& [tool, schema] : *environment->tools) {
        const auto& [at, tool_at, server, name] = target.selector;
        if ((!server || tool.server() == *server) && (!name || tool.tool() == *name))
          denied.insert(tool);
      }
    }
  });
  for_each_rule(*file, [&](const ast::Rule& rule) {
    add_wildcards(rule, source, environment, denied, notes);
  });
  return notes;
}

}  // namespace mcpac::policy
