// SPDX-License-Identifier: Apache-2.0

#include "policy/server_reach.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "core/offer.h"
#include "policy/authority_state.h"
#include "policy/decide/decide.h"
#include "policy/match/path_pattern.h"
#include "policy/rules/schema_view.h"
#include "policy/text/printer.h"

namespace mcpac::policy {
namespace {

using Place = ServerReach::Place;
using Admitting = ServerReach::Admitting;

// Of one tool's schema, and of what one server is given: more is not looked at.
constexpr std::size_t kMostArguments = 64;
constexpr int kDeepestArgument = 4;
constexpr std::size_t kMostPlaces = 256;

bool is_below(std::string_view path, std::string_view folder) {
  if (folder == "/") return true;
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

bool overlaps(std::string_view one, std::string_view other) {
  return is_below(one, other) || is_below(other, one);
}

bool lies_in_one(std::string_view path, const std::vector<std::string>& folders) {
  return std::ranges::any_of(folders, [&](const auto& folder) { return is_below(path, folder); });
}

// Arguments that may be a place -----------------------------------------------------------------

// Of texts with listed values a server makes no place.
bool has_listed_values(const Json* schema) {
  return schema != nullptr && schema->is_object() &&
         (find_member(*schema, "enum") != nullptr || find_member(*schema, "const") != nullptr);
}

void add_arguments(const SchemaView& view, const std::string& name, MeantAs meant, int depth,
                   std::map<std::string, MeantAs>& into) {
  if (into.size() >= kMostArguments || depth > kDeepestArgument) return;
  const bool may_be_place = !is_text(meant) && meant != MeantAs::kExcluded;
  if (!name.empty() && (view.types() & kStringType) != 0 && may_be_place &&
      !has_listed_values(view.text()))
    into.emplace(name, meant);
  if ((view.types() & kArrayType) != 0 && !name.empty())
    add_arguments(view.elements(), name + "[*]", meant, depth + 1, into);
  if ((view.types() & kObjectType) == 0) return;
  for (const std::string& member : view.member_names()) {
    const auto below = view.member(member);
    if (!below) continue;
    const ast::ArgPath step{{ast::Member{member}}};
    add_arguments(*below, name.empty() ? print(step) : name + "." + print(step),
                  view.meaning_of(member), depth + 1, into);
  }
}

bool tests_places(const CompiledArg& arg) {
  return std::ranges::any_of(arg.tests, [](const ast::Test& test) {
    return std::holds_alternative<ast::PathTest>(test.body);
  });
}

// Does a rule that names `whole` speak of what lies in it, too?
bool lies_in_argument(std::string_view name, std::string_view whole) {
  return name.starts_with(whole) && name.size() > whole.size() &&
         (name[whole.size()] == '.' || name[whole.size()] == '[');
}

// What rules say ----------------------------------------------------------------------------------

// A set of places: anything, or those that are listed; `anything` may have listed ones besides,
// which a rule names.
struct PlaceSet {
  bool anything = false;
  std::vector<Place> places;
};

void join_rules(Place& into, const Place& from) {
  into.rules.insert(from.rules.begin(), from.rules.end());
}

PlaceSet both(const PlaceSet& one, const PlaceSet& other) {
  PlaceSet common{.anything = one.anything && other.anything, .places = {}};
  if (other.anything) common.places = one.places;
  if (one.anything)
    common.places.insert(common.places.end(), other.places.begin(), other.places.end());
  for (const Place& a : one.places) {
    for (const Place& b : other.places) {
      if (!overlaps(a.path, b.path) || common.places.size() >= kMostPlaces) continue;
      Place inner = a.path.size() >= b.path.size() ? a : b;
      join_rules(inner, a);
      join_rules(inner, b);
      common.places.push_back(std::move(inner));
    }
  }
  return common;
}

// What the rules of one authority say of one server.
class RulesOfServer {
 public:
  RulesOfServer(const std::vector<CompiledLayer>& layers, const Environment& environment,
                const std::string& server, const Times& times)
      : layers_(layers), environment_(environment), server_(server), times_(times) {}

  void add_tool(const Permission& tool, const Json* schema, bool only_reads, ServerReach& into) {
    std::map<std::string, MeantAs> names;
    if (tool.tool() == kReadResource) {
      names.emplace("uri", MeantAs::kPlace);
    } else if (tool.tool() == kGetPrompt) {
      names.emplace("arguments", MeantAs::kUnknown);  // its name is none of a place
    } else if (schema != nullptr) {
      add_arguments(SchemaView(*schema), "", MeantAs::kUnknown, 0, names);
    }
    bool is_callable = true;
    for (const CompiledLayer& layer : layers_) {
      bool admits = false;
      for (const CompiledTarget* target : covering(layer, tool)) {
        const CompiledRule& rule = layer.rules[target->rule];
        if (is_over(rule, times_)) continue;
        if (rule.effect == Effect::kDeny && target->whole_tool()) is_callable = false;
        if (rule.effect != Effect::kDeny && !target->leaves_out.contains(tool)) admits = true;
        if (target->brackets) name_tested(*target, names);
      }
      is_callable = is_callable && admits;
    }
    hold_back(tool, into);
    if (!is_callable) return;
    into.callable.insert(tool);
    ServerReach::Tool found{.permission = tool, .only_reads = only_reads};
    for (const auto& [name, meant] : names) {
      ServerReach::Argument argument{.name = name};
      for (const CompiledLayer& layer : layers_)
        argument.layers.push_back(in_layer(layer, tool, name, meant));
      found.arguments.push_back(std::move(argument));
    }
    note_of_untested(found, into);
    if (!found.arguments.empty()) into.tools.push_back(std::move(found));
  }

 private:
  static std::string text_of(const CompiledTarget& target) {
    return fmt::format("{}: {}", target.place, target.rule_text);
  }

  static void name_tested(const CompiledTarget& target, std::map<std::string, MeantAs>& names) {
    for (const CompiledArg& arg : target.brackets->args) {
      if (!arg.steps.empty() && tests_places(arg)) names.emplace(arg.path_text, MeantAs::kNamed);
    }
  }

  // The folder or file that a pattern names, above its first wildcard.
  struct Named {
    std::string path;
    bool is_whole = false;  // all below it is meant, and it names nothing else
  };
  [[nodiscard]] std::optional<Named> place_of(const std::string& text, PathPattern::Kind kind,
                                              Effect effect) const {
    const World world{.environment = environment_, .servers = {server_}, .effect = effect};
    const auto pattern = PathPattern::compile(text, 0, kind, world);
    if (!pattern) return std::nullopt;
    if (const auto file = pattern->one_file(server_)) {
      const Components& base = pattern->base_for(server_).real;
      Components path = base;
      path.insert(path.end(), pattern->glob().begin(), pattern->glob().end());
      return Named{resolved(join(path)), true};
    }
    const Components& glob = pattern->glob();
    const bool all = glob.empty() || (glob.size() == 1 && glob.front() == "**");
    return Named{join(pattern->base_for(server_).real), all};
  }
  // Of a file that the rule names the base is its folder.
  [[nodiscard]] std::string resolved(const std::string& path) const {
    if (environment_.resolver == nullptr) return path;
    auto real = environment_.resolver->resolve(path);
    return real ? *real : path;
  }

  // What a deny or exception holds back by itself, so that it can be asked about.
  void hold_back(const Permission& tool, ServerReach& into) {
    for (const CompiledLayer& layer : layers_) {
      for (const CompiledTarget* target : covering(layer, tool)) {
        const CompiledRule& rule = layer.rules[target->rule];
        if (!target->brackets || is_over(rule, times_)) continue;
        for (const CompiledArg& arg : target->brackets->args) {
          if (rule.effect == Effect::kDeny) {
            for (const ast::Test& test : arg.tests) {
              if (const auto* path = std::get_if<ast::PathTest>(&test.body))
                hold_back(path->path, pattern_kind(*path), *target, rule.effect, into);
            }
          }
          for (const ast::Exception& exception : arg.exceptions) {
            if (const auto* path = std::get_if<ast::PathException>(&exception.body))
              hold_back(path->path, PathPattern::Kind::kException, *target, rule.effect, into);
          }
        }
      }
    }
  }
  void hold_back(const std::string& text, PathPattern::Kind kind, const CompiledTarget& target,
                 Effect effect, ServerReach& into) const {
    const auto named = place_of(text, kind, effect);
    if (!named) return;
    if (!named->is_whole) {
      into.notes.insert(fmt::format("{}: the gate alone holds '{}', for a wildcard is no place",
                                    text_of(target), text));
      return;
    }
    const auto same = std::ranges::find(into.held_back, named->path, &Place::path);
    if (same != into.held_back.end()) {
      same->rules.insert(text_of(target));
    } else if (into.held_back.size() < kMostPlaces) {
      into.held_back.push_back({.path = named->path, .rules = {text_of(target)}});
    } else {
      into.notes.insert(fmt::format("{}: the gate alone holds it, as it is one of too many places",
                                    text_of(target)));
    }
  }
  static PathPattern::Kind pattern_kind(const ast::PathTest& test) {
    return test.kind == ast::PathTest::Kind::kWithin ? PathPattern::Kind::kWithin
                                                     : PathPattern::Kind::kMatches;
  }

  [[nodiscard]] ServerReach::Layer in_layer(const CompiledLayer& layer, const Permission& tool,
                                            const std::string& name, MeantAs meant) const {
    ServerReach::Layer found;
    for (const CompiledTarget* target : covering(layer, tool)) {
      const CompiledRule& rule = layer.rules[target->rule];
      if (is_over(rule, times_)) continue;
      if (rule.effect == Effect::kDeny) {
        if (auto denied = denied_by(*target, name)) found.denied.push_back(std::move(*denied));
      } else if (!target->leaves_out.contains(tool)) {
        if (auto admits = admitted_by(*target, name, meant))
          found.admits.push_back(std::move(*admits));
      }
    }
    return found;
  }

  // A deny of one place and nothing else catches each call that names it in this argument.
  [[nodiscard]] std::optional<std::string> denied_by(const CompiledTarget& target,
                                                     const std::string& name) const {
    if (!target.brackets || target.brackets->args.size() != 1) return std::nullopt;
    const CompiledArg& arg = target.brackets->args.front();
    const bool is_meant =
        arg.steps.empty() || arg.path_text == name || lies_in_argument(name, arg.path_text);
    if (!is_meant || arg.presence == ast::Arg::Presence::kAbsent) return std::nullopt;
    if (arg.tests.empty()) return "/";  // whatever it names
    const auto* path =
        arg.tests.size() == 1 ? std::get_if<ast::PathTest>(&arg.tests.front().body) : nullptr;
    if (path == nullptr) return std::nullopt;
    const auto named = place_of(path->path, pattern_kind(*path), Effect::kDeny);
    return named && named->is_whole ? std::optional(named->path) : std::nullopt;
  }

  // Nothing: the argument cannot be there.
  [[nodiscard]] std::optional<Admitting> admitted_by(const CompiledTarget& target,
                                                     const std::string& name, MeantAs meant) const {
    if (!target.brackets) return Admitting{.anything = true};
    PlaceSet set{.anything = true, .places = {}};
    Admitting admits;
    bool is_named = false;
    for (const CompiledArg& arg : target.brackets->args) {
      const bool holds_it = lies_in_argument(name, arg.path_text);
      if (arg.path_text != name && !holds_it && !lies_in_argument(arg.path_text, name)) continue;
      if (arg.presence == ast::Arg::Presence::kAbsent) return std::nullopt;
      is_named = true;
      if (arg.path_text != name) continue;
      Types types = kAllTypes;
      for (const auto& matcher : arg.matchers) types = static_cast<Types>(types & matcher->types());
      if ((types & kStringType) == 0) return std::nullopt;
      for (const ast::Test& test : arg.tests) {
        if (is_url_test(test)) return std::nullopt;  // a URL of the web, which names no file
        if (auto places = places_of(test, meant, target)) set = both(set, *places);
      }
      for (const ast::Exception& exception : arg.exceptions) {
        const auto* path = std::get_if<ast::PathException>(&exception.body);
        if (path == nullptr) continue;
        const auto named = place_of(path->path, PathPattern::Kind::kException, Effect::kAllow);
        if (named && named->is_whole) admits.excepted.push_back(named->path);
      }
    }
    if (!is_named && !target.brackets->rest) return std::nullopt;
    admits.anything = set.anything;
    admits.places = std::move(set.places);
    std::erase_if(admits.places,
                  [&](const Place& place) { return lies_in_one(place.path, admits.excepted); });
    return admits;
  }

  // Nothing: the test says nothing of places.
  [[nodiscard]] std::optional<PlaceSet> places_of(const ast::Test& test, MeantAs meant,
                                                  const CompiledTarget& target) const {
    PlaceSet set;
    if (const auto* path = std::get_if<ast::PathTest>(&test.body)) {
      if (const auto named = place_of(path->path, pattern_kind(*path), Effect::kAllow))
        set.places.push_back({.path = named->path, .rules = {text_of(target)}});
      return set;
    }
    std::vector<ast::Literal> literals;
    if (const auto* in = std::get_if<ast::InTest>(&test.body)) literals = in->literals;
    const auto* equal = std::get_if<ast::EqualTest>(&test.body);
    if (equal != nullptr && equal->sense == ast::EqualTest::Sense::kEqual)
      literals = {equal->literal};
    if (literals.empty()) return std::nullopt;
    for (const ast::Literal& literal : literals) {
      const auto* text = std::get_if<std::string>(&literal.value);
      if (text == nullptr || (meant != MeantAs::kPlace && meant != MeantAs::kNamed)) continue;
      add_exact(*text, target, set);
    }
    return set;
  }

  // The value of a call, from where the server counts it.
  void add_exact(const std::string& text, const CompiledTarget& target, PlaceSet& set) const {
    const auto value = read_path_value(text);
    if (!value) return;
    const auto add = [&](Components path) {
      path = collapse(path);
      set.places.push_back({.path = resolved(join(path)), .rules = {text_of(target)}});
    };
    if (value->absolute) return add(value->components);
    const auto starts = relative_starts(environment_.bases, server_);
    if (starts.is_unknown) return;
    for (const std::string& start : starts.admit) {
      Components path = split(start);
      path.insert(path.end(), value->components.begin(), value->components.end());
      add(std::move(path));
    }
  }

  // Rules that say nothing of places, of a tool that takes some.
  void note_of_untested(const ServerReach::Tool& tool, ServerReach& into) const {
    const auto is_untested = [&](const ServerReach::Argument& argument) {
      return std::ranges::all_of(argument.layers, [](const ServerReach::Layer& layer) {
        return std::ranges::any_of(layer.admits, &Admitting::anything);
      });
    };
    const auto open = std::ranges::find_if(tool.arguments, is_untested);
    if (open == tool.arguments.end()) return;
    into.notes.insert(
        fmt::format("{} may be called with any {}: no rule says which places, so it gives none",
                    tool.permission.text(), open->name));
  }

  const std::vector<CompiledLayer>& layers_;
  const Environment& environment_;
  const std::string& server_;
  const Times& times_;
};

PlaceSet admitted_in(const ServerReach::Layer& layer) {
  PlaceSet set;
  for (const Admitting& admits : layer.admits) {
    set.anything = set.anything || admits.anything;
    set.places.insert(set.places.end(), admits.places.begin(), admits.places.end());
  }
  return set;
}

bool is_admitted(const ServerReach::Layer& layer, const std::string& path) {
  if (lies_in_one(path, layer.denied)) return false;
  return std::ranges::any_of(layer.admits, [&](const Admitting& admits) {
    if (lies_in_one(path, admits.excepted)) return false;
    return admits.anything || std::ranges::any_of(admits.places, [&](const Place& place) {
             return overlaps(place.path, path);
           });
  });
}

}  // namespace

void ServerReach::add(const ServerReach& other) {
  callable.insert(other.callable.begin(), other.callable.end());
  for (const Tool& tool : other.tools) {
    if (std::ranges::find(tools, tool) == tools.end()) tools.push_back(tool);
  }
  for (const Place& place : other.held_back) {
    const auto same = std::ranges::find(held_back, place.path, &Place::path);
    if (same == held_back.end())
      held_back.push_back(place);
    else
      join_rules(*same, place);
  }
  notes.insert(other.notes.begin(), other.notes.end());
}

std::vector<Place> ServerReach::places() const {
  std::map<std::string, Place> found;
  for (const Tool& tool : tools) {
    for (const Argument& argument : tool.arguments) {
      PlaceSet set{.anything = true, .places = {}};
      std::vector<std::string> denied;
      for (const Layer& layer : argument.layers) {
        set = both(set, admitted_in(layer));
        denied.insert(denied.end(), layer.denied.begin(), layer.denied.end());
      }
      for (const Place& place : set.places) {
        if (lies_in_one(place.path, denied)) continue;
        Place& one = found.try_emplace(place.path, Place{.path = place.path}).first->second;
        if (!tool.only_reads) one.mode = FileMode::kReadWrite;
        join_rules(one, place);
      }
    }
  }
  std::vector<Place> merged;
  for (auto& [path, place] : found) {  // folders come before what is in them
    const auto outer = std::ranges::find_if(merged, [&](const Place& other) {
      return is_below(place.path, other.path) &&
             (other.mode == place.mode || other.mode == FileMode::kReadWrite);
    });
    if (outer == merged.end())
      merged.push_back(std::move(place));
    else
      join_rules(*outer, place);
  }
  return merged;
}

ServerReach::Users ServerReach::users_of(const std::string& path) const {
  Users users;
  for (const Tool& tool : tools) {
    for (const Argument& argument : tool.arguments) {
      const bool is_open = std::ranges::all_of(
          argument.layers, [&](const Layer& layer) { return is_admitted(layer, path); });
      const Use use = tool.only_reads ? Use::kReads : Use::kWrites;
      if (!is_open || use <= users.use) continue;
      users.use = use;
      users.example = fmt::format("{} may name it in {}", tool.permission.text(), argument.name);
    }
  }
  return users;
}

ServerReach Authority::reach(const std::string& server, const std::set<Permission>& only_read,
                             Callers callers) const {
  ServerReach reach;
  const Times times = impl_->now();
  RulesOfServer reading(impl_->layers, impl_->environment, server, times);
  for (const auto& [permission, schema] : *impl_->environment.tools) {
    const bool is_offer = offer_named(permission.tool()).has_value();
    if (permission.server() != server || (is_offer && callers == Callers::kPrograms)) continue;
    reading.add_tool(permission, &schema, is_offer || only_read.contains(permission), reach);
  }
  return reach;
}

}  // namespace mcpac::policy
