#include "policy/sets/call_classes.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "policy/sets/scalar_classes.h"

namespace mcpac::policy {
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
