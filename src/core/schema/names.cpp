// SPDX-License-Identifier: Apache-2.0

// Names of members as decoders read them that do not read exactly.
//
// Go's encoding/json takes "SOURCE" and "ſource" for "source" (Unicode simple folding), and the
// last one wins; .NET's web defaults fold case, pydantic and json/v2 take "max_length" for
// "maxLength" on request. qs, PHP and Rails take "path[]" for "path" and "options[mode]" for the
// member "mode" of "options"; Spring and lodash take "options.mode" for it. So a name that a schema
// does not have, and that some decoder takes for one that it has, says one thing to rules and
// another to the server. So does "__proto__": an object of JavaScript into which such a member is
// copied (Object.assign, lodash's merge) has what is in it for members that it lacks, and
// "constructor.prototype" of a merge is that of all objects.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/ascii.h"
#include "core/characters.h"
#include "core/schema/places.h"
#include "core/schema/validate.h"
#include "core/schema/validator.h"
#include "core/unicode_folding.h"

namespace mcpac::schema {
namespace {

// About a second, as for validation: one schema or name looked at costs 1.
constexpr std::size_t kMostNameWork = 20'000'000;

// By what they fold to; of several the first.
using Folded = std::unordered_map<std::string, std::string>;

// The names at one place, and which of them another spelling means.
class NamesOfPlace {
 public:
  void add(const std::string& name) { folded_.emplace(folded_member(name), name); }
  [[nodiscard]] const std::string* meant_by(std::string_view name) const {
    const std::string plain = folded_member(name);
    const auto found = plain.empty() ? folded_.end() : folded_.find(plain);
    return found == folded_.end() ? nullptr : &found->second;
  }

 private:
  Folded folded_;
};

void add_listed(const Node* names, NamesOfPlace& into) {
  if (names == nullptr) return;
  if (names->constant != nullptr && names->constant->is_string())
    into.add(names->constant->get<std::string>());
  if (names->choices == nullptr) return;
  for (const Json& one : *names->choices) {
    if (one.is_string()) into.add(one.get<std::string>());
  }
}

NamesOfPlace names_of(const Place& place) {
  NamesOfPlace names;
  // What has a schema of its own comes first: it is what is shown.
  for (const Node* node : place.nodes) {
    if (!node->object) continue;
    for (const auto& [name, below] : node->object->properties) names.add(name);
  }
  for (const Node* node : place.nodes) {
    if (!node->object) continue;
    const ObjectRules& rules = *node->object;
    for (const auto& name : rules.required) names.add(name);
    for (const auto& [name, below] : rules.dependent) names.add(name);
    for (const auto& [name, needed] : rules.dependent_required) {
      names.add(name);
      for (const auto& other : needed) names.add(other);
    }
    add_listed(rules.names, names);
  }
  return names;
}

NamesOfPlace names_of(const NamedMembers& named) {
  NamesOfPlace names;
  for (const auto& [name, below] : named.members) names.add(name);
  return names;
}

// "options.mode", "options[mode]", "items[0].path", "paths[]": the names in it, without numbers.
// Nothing for what is one name as it stands, or has more steps than a rule may have.
std::vector<std::string> steps_of(std::string_view name) {
  constexpr std::u32string_view kBetween = U".[]:\uff0e\uff3b\uff3d\uff1a";
  constexpr std::size_t kMostSteps = 64;
  std::vector<std::string> steps;
  std::string step;
  const auto end_step = [&] {
    if (!step.empty() && !std::ranges::all_of(step, is_digit)) steps.push_back(step);
    step.clear();
  };
  bool is_apart = false;
  for (std::string_view rest = name; !rest.empty() && steps.size() <= kMostSteps;) {
    const auto [code, bytes] = first_character(rest);
    const bool is_between = kBetween.contains(code);
    is_apart = is_apart || is_between;
    if (is_between) {
      end_step();
    } else {
      step += rest.substr(0, bytes);
    }
    rest.remove_prefix(bytes);
  }
  end_step();
  if (!is_apart || steps.size() > kMostSteps) steps.clear();
  return steps;
}

constexpr std::string_view kPrototype = "__proto__";

// Whether a step of it is a prototype to what assigns by paths ("__proto__.path", qs and lodash).
bool leads_through_prototype(std::string_view name) {
  if (name == kPrototype) return true;
  if (!name.contains(kPrototype) && !name.contains("constructor")) return false;
  const auto steps = steps_of(name);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i] == kPrototype) return true;
    if (i > 0 && steps[i - 1] == "constructor" && steps[i] == "prototype") return true;
  }
  return false;
}

bool is_prototype(std::string_view name, const Json& value, const Path& path) {
  if (leads_through_prototype(name)) return true;
  return name == "prototype" && value.is_structured() && path.outer != nullptr &&
         path.outer->step == Path::Step::kMember && path.outer->name == "constructor";
}

class NameCheck {
 public:
  NameCheck(const Program& program, const AlsoNamed& also) : places_(program), also_(also) {}

  std::optional<SchemaViolation> run(const Json& value) {
    look(value, places_.root(), Path());
    if (exhausted_)
      return SchemaViolation{"", "limit", "is too complex to be checked against this schema"};
    return std::move(found_);
  }

 private:
  // What names members beside the schema, as far as it was asked for.
  struct Others {
    const NamedMembers* at = nullptr;
    bool is_asked = false;
  };

  bool look(const Json& value, Place& place, const Path& path) {
    if (++work_ + places_.work() > kMostNameWork) exhausted_ = true;
    if (exhausted_) return false;
    if (value.is_array()) return look_at_elements(value, place, path);
    if (value.is_object()) return look_at_members(value, place, path);
    return true;
  }

  bool look_at_elements(const Json& value, Place& place, const Path& path) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (!value[i].is_structured()) continue;
      const Path below{&path, {}, i, Path::Step::kItem};
      if (!look(value[i], places_.element(place, i), below)) return false;
    }
    return true;
  }

  bool look_at_members(const Json& value, Place& place, const Path& path) {
    Others others;
    for (const auto& [name, member] : value.get_ref<const Json::object_t&>()) {
      const Path below{&path, name, 0, Path::Step::kMember};
      if (!place.names(name) &&
          (is_refused(name, member, below) || is_misnamed(name, place, below, others)))
        return false;
      if (!member.is_structured()) continue;
      // Where neither a schema nor a rule speaks of what is below, only prototypes are looked for.
      Place& next = places_.member(place, name);
      const bool is_free = next.nodes.empty() && !others_at(others, path);
      if (is_free ? !look_for_prototypes(member, below) : !look(member, next, below)) return false;
    }
    return true;
  }

  bool look_for_prototypes(const Json& value, const Path& path) {
    if (++work_ + places_.work() > kMostNameWork) exhausted_ = true;
    if (exhausted_) return false;
    if (value.is_array()) {
      for (std::size_t i = 0; i < value.size(); ++i) {
        const Path below{&path, {}, i, Path::Step::kItem};
        if (value[i].is_structured() && !look_for_prototypes(value[i], below)) return false;
      }
      return true;
    }
    for (const auto& [name, member] : value.get_ref<const Json::object_t&>()) {
      const Path below{&path, name, 0, Path::Step::kMember};
      if (is_refused(name, member, below)) return false;
      if (member.is_structured() && !look_for_prototypes(member, below)) return false;
    }
    return true;
  }

  bool is_refused(std::string_view name, const Json& value, const Path& path) {
    if (!is_prototype(name, value, path)) return false;
    found_ = SchemaViolation{pointer_of(path), "properties",
                             "is a prototype to servers in JavaScript, which take what is in it "
                             "for other members: leave "
                             "it out, or say these by their own names"};
    return true;
  }

  bool is_misnamed(const std::string& name, Place& place, const Path& path, Others& others) {
    const std::string* meant = nullptr;
    if (!place.nodes.empty()) meant = known(place).meant_by(name);
    if (meant == nullptr) {
      const NamedMembers* named = others_at(others, *path.outer);
      if (named != nullptr && !named->members.contains(name)) meant = known(*named).meant_by(name);
    }
    ++work_;
    if (meant == nullptr) return is_taken_apart(name, place, path, others);
    found_ = SchemaViolation{
        pointer_of(path), "properties",
        fmt::format("is another spelling of \"{}\", which some servers take for it: did you mean "
                    "\"{}\"?",
                    meant->substr(0, 100), meant->substr(0, 100))};
    return true;
  }

  // Whether each step of it leads to a member that is named.
  bool is_taken_apart(const std::string& name, Place& place, const Path& path, Others& others) {
    const auto steps = steps_of(name);
    if (steps.empty()) return false;
    Place* at = &place;
    const NamedMembers* named = others_at(others, *path.outer);
    std::string above;
    std::string last;
    for (const auto& step : steps) {
      const auto meant = named_at(step, at, named);
      ++work_;
      if (!meant) return false;
      if (!last.empty()) above += (above.empty() ? "" : ".") + last;
      last = meant->substr(0, 100);
    }
    const std::string where =
        above.empty() ? "" : fmt::format(" in \"{}\"", std::string_view(above).substr(0, 100));
    found_ = SchemaViolation{
        pointer_of(path), "properties",
        fmt::format("is another spelling of \"{}\"{}, which some servers take for it: did you mean "
                    "\"{}\"{}?",
                    last, where, last, where)};
    return true;
  }

  // The name that a step means here, or in the elements of what is here; `at` and `named` go there.
  std::optional<std::string> named_at(const std::string& step, Place*& at,
                                      const NamedMembers*& named) {
    for (int depth = 0; depth < 2; ++depth) {
      if (depth > 0) {
        at = &places_.element(*at, 0);
        named = named == nullptr ? nullptr : named->elements.get();
      }
      const std::string* meant = at->names(step) ? &step : known(*at).meant_by(step);
      if (meant == nullptr && named != nullptr)
        meant = named->members.contains(step) ? &step : known(*named).meant_by(step);
      if (meant == nullptr) continue;
      std::string name = *meant;
      at = &places_.member(*at, name);
      const auto* below = named;
      named = nullptr;
      if (below != nullptr) {
        const auto found = below->members.find(name);
        if (found != below->members.end()) named = &found->second;
      }
      return name;
    }
    return std::nullopt;
  }

  const NamedMembers* others_at(Others& others, const Path& path) {
    if (!others.is_asked) {
      others.at = also_ ? follow(path) : nullptr;
      others.is_asked = true;
    }
    return others.at;
  }

  const NamedMembers* follow(const Path& path) {
    if (path.step == Path::Step::kRoot) return also_();
    const NamedMembers* above = follow(*path.outer);
    ++work_;
    if (above == nullptr) return nullptr;
    if (path.step == Path::Step::kItem) return above->elements.get();
    const auto found = above->members.find(path.name);
    return found == above->members.end() ? nullptr : &found->second;
  }

  const NamesOfPlace& known(const Place& place) {
    const auto [at, fresh] = of_places_.try_emplace(&place);
    if (fresh) at->second = names_of(place);
    return at->second;
  }
  const NamesOfPlace& known(const NamedMembers& named) {
    const auto [at, fresh] = of_others_.try_emplace(&named);
    if (fresh) at->second = names_of(named);
    return at->second;
  }

  Places places_;
  const AlsoNamed& also_;
  std::unordered_map<const Place*, NamesOfPlace> of_places_;
  std::unordered_map<const NamedMembers*, NamesOfPlace> of_others_;
  std::optional<SchemaViolation> found_;
  std::size_t work_ = 0;
  bool exhausted_ = false;
};

// Most calls: texts and numbers, each named by the schema itself.
bool is_plainly_named(const Node& root, const Json& value) {
  if (!value.is_object() || !root.object) return false;
  return std::ranges::all_of(value.get_ref<const Json::object_t&>(), [&](const auto& member) {
    const auto& properties = root.object->properties;
    return !member.second.is_structured() &&
           std::ranges::binary_search(properties, member.first, {}, &NamedNode::first);
  });
}

}  // namespace

std::optional<SchemaViolation> find_misnamed(const Program& program, const Json& value,
                                             const AlsoNamed& also) {
  if (is_plainly_named(*program.root, value)) return std::nullopt;
  return NameCheck(program, also).run(value);
}

}  // namespace mcpac::schema
