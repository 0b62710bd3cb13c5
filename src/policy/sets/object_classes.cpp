#include "policy/sets/object_classes.h"

#include <algorithm>
#include <optional>

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
class Product {
 public:
  Product(const std::vector<MemberOptions>& members, Exploration& exploration)
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
  for (auto& made : Product(members, exploration).all(own)) values.insert(std::move(made));
}

}  // namespace mcpac::policy
