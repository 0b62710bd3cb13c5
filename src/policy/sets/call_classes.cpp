// SPDX-License-Identifier: Apache-2.0

#include "policy/sets/call_classes.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>

#include "policy/sets/scalar_classes.h"

namespace mcpac::policy {
namespace {

// A member with one value, or without.
struct Option {
  Marks marks;
  std::optional<Json> value;
};

struct MemberOptions {
  std::string name;
  std::size_t weight = 0;  // how much hangs on it
  std::vector<Option> options;
};

class Members {
 public:
  Members(const CallPlace& place, const ValuesAt& values_at, Exploration& exploration)
      : place_(place), values_at_(values_at), exploration_(exploration) {}

  std::vector<MemberOptions> all() {
    const auto known = place_.known_members();
    for (const auto& name : known) add_known(name);
    std::string fresh = "other";
    while (known.contains(fresh)) fresh += "_";
    if (!place_.forbids_member(fresh)) {
      add_fresh(fresh);
      add_telling_names(known, fresh);
    }
    // What decides most comes first: the rest is left out where nothing is to be hoped for.
    std::ranges::sort(members_, [](const MemberOptions& a, const MemberOptions& b) {
      return a.weight != b.weight ? a.weight > b.weight : a.name < b.name;
    });
    return std::move(members_);
  }

 private:
  void add_known(const std::string& name) {
    const CallPlace below = place_.member(name);
    MemberOptions member{name, below.watches().size(), {}};
    const bool may_be_absent =
        !place_.view().requires_member(name) && below.view().default_value() == nullptr;
    if (may_be_absent) member.options.push_back({place_.of_absence(name), std::nullopt});
    const bool matters = !below.is_unwatched() || place_.of_presence(name, false).any();
    if (!place_.forbids_member(name) && (matters || !may_be_absent))
      add_values(below, name, member.options);
    members_.push_back(std::move(member));
  }

  void add_values(const CallPlace& below, const std::string& name, std::vector<Option>& options) {
    for (auto& value : values_at_(below)) {
      const Marks marks = value.marks | place_.of_presence(name, value.is_default);
      if (exploration_.is_hopeless(marks)) continue;
      if (std::ranges::find(options, marks, &Option::marks) != options.end()) continue;
      options.push_back({marks, std::move(value.example)});
    }
  }

  // A member without a name in the rules or the schema.
  void add_fresh(const std::string& name) {
    if (place_.any_strings().empty() && place_.of_presence(name, false).none()) return;
    MemberOptions member{name, 0, {{Marks(), std::nullopt}}};
    add_values(place_.member(name), name, member.options);
    members_.push_back(std::move(member));
  }

  // Where names are data, names that tests on any string catch.
  void add_telling_names(const std::set<std::string>& known, const std::string& fresh) {
    if (place_.any_strings().empty()) return;
    ValueSet names;
    exploration_.note(add_any_strings(place_, exploration_.strings, exploration_.budget, names));
    const auto values = values_at_(place_.member(fresh));
    if (values.empty()) return;
    for (auto& name : names.take()) {
      const auto text = name.example.get<std::string>();
      if (name.marks.none() || text == fresh) continue;
      if (known.contains(text)) {
        exploration_.note("names of members that a rule could catch");
        continue;
      }
      members_.push_back(
          {text,
           0,
           {{Marks(), std::nullopt},
            {place_.of_presence(text, false) | values.front().marks, values.front().example}}});
    }
  }

  const CallPlace& place_;
  const ValuesAt& values_at_;
  Exploration& exploration_;
  std::vector<MemberOptions> members_;
};

// Objects member by member: of those that have the same marks so far, one is continued.
class ClassProduct {
 public:
  ClassProduct(const std::vector<MemberOptions>& members, Exploration& exploration)
      : members_(members), exploration_(exploration) {}

  std::vector<ValueClass> all(const Marks& own) {
    levels_.push_back({{own, 0, 0}});
    for (const auto& member : members_) extend(member);
    std::vector<ValueClass> objects;
    for (const auto& part : levels_.back()) objects.push_back({part.marks, object_of(part)});
    return objects;
  }

 private:
  struct Part {
    Marks marks;
    std::size_t before;  // in the level before
    std::size_t option;
  };

  void extend(const MemberOptions& member) {
    std::vector<Part> next;
    std::unordered_map<Marks, std::size_t> known;
    const auto& parts = levels_.back();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      for (std::size_t j = 0; j < member.options.size(); ++j) {
        if (!exploration_.budget.spend()) return levels_.push_back({});
        const Marks marks = parts[i].marks | member.options[j].marks;
        if (exploration_.is_hopeless(marks) || !known.try_emplace(marks, next.size()).second)
          continue;
        next.push_back({marks, i, j});
      }
    }
    levels_.push_back(std::move(next));
  }

  [[nodiscard]] Json object_of(const Part& last) const {
    Json object = Json::object();
    const Part* part = &last;
    for (std::size_t level = members_.size(); level > 0; --level) {
      const auto& value = members_[level - 1].options[part->option].value;
      if (value) object[members_[level - 1].name] = *value;
      part = &levels_[level - 1][part->before];
    }
    return object;
  }

  const std::vector<MemberOptions>& members_;
  Exploration& exploration_;
  std::vector<std::vector<Part>> levels_;
};

}  // namespace

void add_object_classes(const CallPlace& place, const ValuesAt& values_at, Exploration& exploration,
                        ValueSet& values) {
  const Marks own = place.of_value(Json::object());
  if (exploration.is_hopeless(own)) return;
  const auto members = Members(place, values_at, exploration).all();
  for (auto& made : ClassProduct(members, exploration).all(own)) values.insert(std::move(made));
}

namespace {

// Schemas may describe themselves; this is the depth limit.
constexpr std::size_t kMaxDepth = 8;
// Longer lists are not written down as examples.
constexpr double kMaxElements = 2000;

class Explorer {
 public:
  explicit Explorer(Exploration& exploration) : exploration_(exploration) {}

  std::vector<ValueClass> calls(const CallPlace& root) {
    ValueSet values;
    add_objects(root, values);
    return values.take();
  }

 private:
  enum class Container : std::uint8_t { kArray, kObject };

  std::vector<ValueClass> values_at(const CallPlace& place) {
    ValueSet values;
    exploration_.note(add_scalar_classes(place, exploration_.strings, exploration_.budget, values,
                                         exploration_.lengths));
    const Json* text = place.view().text();
    const bool listed = text != nullptr && (text->contains("enum") || text->contains("const"));
    const Types types = place.view().types();
    if (!listed && (types & kArrayType) != 0 && matters(place, values, Container::kArray))
      add_arrays(place, values);
    if (!listed && (types & kObjectType) != 0 && matters(place, values, Container::kObject))
      add_objects(place, values);
    auto all = values.take();
    std::erase_if(all, [this](const ValueClass& v) { return exploration_.is_hopeless(v.marks); });
    return all;
  }

  // Does it matter what such a container holds, or would a scalar do as well?
  bool matters(const CallPlace& place, const ValueSet& values, Container container) {
    if (place.is_unwatched()) return values.size() == 0 && place.depth() <= kMaxDepth;
    const Json* text = place.view().text();
    const bool structured = text != nullptr && text->is_object() &&
                            (text->contains("properties") || text->contains("items"));
    const Types types = place.view().types();
    const bool only_strings = place.watches().empty() && !place.counts_names();
    // Of a value without a known type, one list of strings shows all that tests on any string
    // can tell; within a list the strings by themselves do.
    if (only_strings && !structured && (types & kStringType) != 0) {
      if (inside_list_) return false;
      return container == Container::kArray || (types & kArrayType) == 0;
    }
    if (place.depth() <= kMaxDepth) return true;
    exploration_.note("arguments that are nested too deep");
    return false;
  }

  void add_objects(const CallPlace& place, ValueSet& values) {
    add_object_classes(
        place, [this](const CallPlace& below) { return values_at(below); }, exploration_, values);
  }

  // Lists: which unions of marks their elements can make, and with how many of them.
  void add_arrays(const CallPlace& place, ValueSet& values) {
    const bool was_inside = std::exchange(inside_list_, true);
    const auto elements = values_at(place.elements());
    inside_list_ = was_inside;
    const auto unions = unions_of(elements);
    const auto cuts = length_cuts(place);
    for (auto cut = cuts.begin(); cut != cuts.end(); ++cut) {
      const std::size_t end = std::next(cut) == cuts.end() ? longest_ : *std::next(cut);
      const Marks own = place.of_value(Json(Json::array_t(*cut)));
      if (*cut == 0) values.insert({own, Json::array()});
      for (const auto& [marks, list] : unions) {
        if (*cut == 0 || list.size() >= end || !exploration_.budget.spend()) continue;
        Json example = list;
        while (example.size() < *cut) example.push_back(Json(list.back()));
        values.insert({own | marks, std::move(example)});
      }
    }
  }

  // Every union, made of as few elements as possible: breadth first.
  std::vector<std::pair<Marks, Json>> unions_of(const std::vector<ValueClass>& elements) {
    std::vector<std::pair<Marks, Json>> unions;
    std::unordered_map<Marks, std::size_t> known;
    const auto add = [&](const Marks& marks, Json list) {
      if (!exploration_.is_hopeless(marks) && known.try_emplace(marks, unions.size()).second)
        unions.emplace_back(marks, std::move(list));
    };
    for (const auto& element : elements) add(element.marks, Json::array({element.example}));
    for (std::size_t at = 0; at < unions.size(); ++at) {
      for (const auto& element : elements) {
        if (!exploration_.budget.spend()) return unions;
        const Marks both = unions[at].first | element.marks;
        if (both == unions[at].first) continue;
        Json list = unions[at].second;
        list.push_back(element.example);
        add(both, std::move(list));
      }
    }
    return unions;
  }

  // Where lists begin to be longer than some test or the schema says: between two cuts all lengths
  // are alike. Only those that the schema admits.
  std::set<std::size_t> length_cuts(const CallPlace& place) {
    std::set<double> cuts = {0, 1};
    for (const auto& watch : place.watches()) {
      if (!watch.ends()) continue;
      for (const auto& test : watch.arg->tests) {
        const auto* count = std::get_if<ast::CountTest>(&test.body);
        if (count == nullptr || count->kind != ast::CountTest::Kind::kSize) continue;
        cuts.insert(std::ceil(std::strtod(count->low.spelling.c_str(), nullptr)));
        cuts.insert(std::floor(std::strtod(count->high.spelling.c_str(), nullptr)) + 1);
      }
    }
    const auto bound = [&](const char* word, double otherwise) {
      const Json* text = place.view().text();
      const Json* found = text == nullptr ? nullptr : find_member(*text, word);
      return found != nullptr && found->is_number() ? std::max(found->get<double>(), 0.0)
                                                    : otherwise;
    };
    const double least = bound("minItems", 0);
    const double most = bound("maxItems", 1e18);
    longest_ = most < 1e18 ? static_cast<std::size_t>(most) + 1 : SIZE_MAX;
    cuts.insert(least);
    std::set<std::size_t> lengths;
    for (const double cut : cuts) {
      if (cut < least || cut > most) continue;
      if (cut > kMaxElements) {
        exploration_.note("a list of more than 2,000 elements");
        break;
      }
      lengths.insert(static_cast<std::size_t>(cut));
    }
    return lengths;
  }

  Exploration& exploration_;
  bool inside_list_ = false;
  std::size_t longest_ = SIZE_MAX;  // of the lists that are just looked at, and one more
};

}  // namespace

std::vector<ValueClass> call_classes(const CallPlace& root, Exploration& exploration) {
  auto calls = Explorer(exploration).calls(root);
  if (exploration.budget.is_spent()) exploration.gap = "the step budget";
  return calls;
}

}  // namespace mcpac::policy
