// SPDX-License-Identifier: Apache-2.0

#include "policy/sets/path_automata.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>

#include "core/glob.h"

namespace mcpac::policy {
namespace {

const CharSet kSlash = one_char(U'/');
const CharSet kDot = one_char(U'.');
const CharSet kRefused = {{0, 0x1F}, {U'\\', U'\\'}, {0x7F, 0x7F}, {U'/', U'/'}};
const CharSet kNameChars = all_but(kRefused);

CharSet name_chars_without_dot() {
  CharSet set = kRefused;
  set.push_back({U'.', U'.'});
  return all_but(set);
}

// One item of a pattern: a component by name or glob, or any number of components.
struct Item {
  std::string text;
  bool literal = false;
  [[nodiscard]] bool any_number() const { return !literal && text == "**"; }
  [[nodiscard]] bool fits(const std::string& component) const {
    return literal ? component == text : glob_matches(text, component);
  }
};
using Items = std::vector<Item>;
using Positions = std::set<std::size_t>;

Items items_of(const Components& base, const Components& glob, bool everything_below) {
  Items items;
  for (const auto& name : base) items.push_back({name, true});
  for (const auto& piece : glob) items.push_back({piece, false});
  if (everything_below) items.push_back({"**", false});
  return items;
}

Positions closed(Positions at, const Items& items) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (at.contains(i) && items[i].any_number()) at.insert(i + 1);
  }
  return at;
}

// Where in the pattern the components of a start lead.
Positions after(std::span<const std::string> components, const Items& items) {
  Positions at = closed({0}, items);
  for (const auto& component : components) {
    Positions next;
    for (const std::size_t i : at) {
      if (i == items.size()) continue;
      if (items[i].any_number()) next.insert(i);
      if (!items[i].any_number() && items[i].fits(component)) next.insert(i + 1);
    }
    at = closed(std::move(next), items);
  }
  return at;
}

// Which ways into a pattern are built.
struct Heads {
  bool absolute = true;
  bool absolute_climbing = true;      // "/../x"
  const Components* start = nullptr;  // relative paths begin here; null: none are covered
  std::optional<std::size_t> climbs;  // only relative paths that climb so far
};

// Which paths are accepted: those that all items fit, or those that the first few do.
enum class Fit : std::uint8_t { kAll, kFirst };

class PathBuilder {
 public:
  explicit PathBuilder(Items items, Fit fit = Fit::kAll) : items_(std::move(items)), fit_(fit) {
    for (std::size_t i = 0; i <= items_.size(); ++i) {
      begins_.push_back(nfa_.add());
      ends_.push_back(nfa_.add());
    }
    for (std::size_t i = 0; i <= items_.size(); ++i) add_place(i);
  }

  Nfa build(const Heads& heads) {
    nfa_.start = nfa_.add();
    if (heads.absolute) enter(kSlash, {0});
    if (heads.absolute_climbing) {
      const int root = nfa_.add();
      nfa_.edge(nfa_.start, kSlash, root);
      nfa_.edge(root, kSlash, root);
      climb(root, {}, 0);
    }
    if (heads.start != nullptr) relative(*heads.start, heads.climbs);
    return std::move(nfa_);
  }

 private:
  [[nodiscard]] bool is_end(std::size_t at) const {
    return fit_ == Fit::kFirst ||
           std::all_of(items_.begin() + static_cast<std::ptrdiff_t>(at), items_.end(),
                       [](const Item& item) { return item.any_number(); });
  }

  // Behind a separator (begins_) and behind a component (ends_), `i` items into the pattern.
  void add_place(std::size_t i) {
    const int begin = begins_[i];
    nfa_.edge(ends_[i], kSlash, begin);
    nfa_.edge(begin, kSlash, begin);
    const int dot = nfa_.add();
    nfa_.edge(begin, kDot, dot);
    nfa_.edge(dot, kSlash, begin);
    if (is_end(i)) {
      for (const int state : {begin, ends_[i], dot}) nfa_.accept(state);
    }
    component(begin, i);
    if (i < items_.size() && items_[i].any_number()) {
      nfa_.epsilon(begin, begins_[i + 1]);
      nfa_.epsilon(ends_[i], ends_[i + 1]);
    }
  }

  void component(int from, std::size_t i) {
    if (i == items_.size()) return;
    if (items_[i].literal) return nfa_.epsilon(nfa_.chain(from, items_[i].text), ends_[i + 1]);
    const bool many = items_[i].any_number();
    name(from, many ? std::string("*") : items_[i].text, many ? ends_[i] : ends_[i + 1]);
  }

  // A component that the glob matches and that is neither "." nor "..": for each place in the glob
  // four states, by what of the component was dots so far.
  void name(int from, const std::string& glob, int to) {
    const std::u32string text = code_points_of(glob);
    std::vector<std::array<int, 4>> states(text.size() + 1);
    for (auto& row : states) {
      for (int& state : row) state = nfa_.add();
    }
    nfa_.epsilon(from, states[0][0]);
    for (std::size_t i = 0; i <= text.size(); ++i) {
      const bool star = i < text.size() && text[i] == U'*';
      for (std::size_t dots = 0; dots < 4; ++dots) {
        const std::size_t one_more = dots == 3 ? 3 : dots + 1;
        if (star) {
          nfa_.epsilon(states[i][dots], states[i + 1][dots]);
          nfa_.edge(states[i][dots], kDot, states[i][one_more]);
          nfa_.edge(states[i][dots], name_chars_without_dot(), states[i][3]);
        } else if (i < text.size()) {
          const std::size_t next = text[i] == U'.' ? one_more : 3;
          nfa_.edge(states[i][dots], one_char(text[i]), states[i + 1][next]);
        }
      }
    }
    nfa_.epsilon(states[text.size()][3], to);
  }

  void enter(const CharSet& by, const Positions& at) {
    for (const std::size_t i : closed(at, items_)) nfa_.edge(nfa_.start, by, begins_[i]);
  }

  void relative(const Components& start, std::optional<std::size_t> climbs) {
    const Positions here = after(start, items_);
    if (climbs.value_or(0) == 0) {
      // The first component stands without a separator; "." names the start itself.
      const int dot = nfa_.add();
      nfa_.edge(nfa_.start, kDot, dot);
      for (const std::size_t i : here) {
        component(nfa_.start, i);
        nfa_.edge(dot, kSlash, begins_[i]);
        if (is_end(i)) nfa_.accept(dot);
      }
    }
    const int first = nfa_.add();
    nfa_.epsilon(nfa_.start, first);
    // "./../x" climbs as "../x" does.
    const int dot = nfa_.add();
    const int again = nfa_.add();
    nfa_.edge(nfa_.start, kDot, dot);
    nfa_.edge(dot, kSlash, again);
    nfa_.edge(again, kSlash, again);
    const int dot_again = nfa_.add();
    nfa_.edge(again, kDot, dot_again);
    nfa_.edge(dot_again, kSlash, again);
    nfa_.epsilon(again, first);
    climb(first, start, climbs.value_or(0));
  }

  // ".." once more at a time, up to one step more than there are; `only`: just so many (0: all).
  void climb(int from, const Components& start, std::size_t only) {
    for (std::size_t up = 1; up <= start.size() + 1; ++up) {
      const int dot = nfa_.add();
      const int dots = nfa_.add();
      const int behind = nfa_.add();
      nfa_.edge(from, kDot, dot);
      nfa_.edge(dot, kDot, dots);
      nfa_.edge(dots, kSlash, behind);
      nfa_.edge(behind, kSlash, behind);
      const int skipped = nfa_.add();
      nfa_.edge(behind, kDot, skipped);
      nfa_.edge(skipped, kSlash, behind);
      if (up == start.size() + 1) nfa_.epsilon(behind, from);  // there is nothing above the root
      if (only == 0 || only == up) {
        const std::size_t left = up > start.size() ? 0 : start.size() - up;
        for (const std::size_t i : after(std::span(start).first(left), items_)) {
          nfa_.epsilon(dots, ends_[i]);
          nfa_.epsilon(behind, begins_[i]);
        }
      }
      from = behind;
    }
  }

  Items items_;
  Fit fit_;
  Nfa nfa_;
  std::vector<int> begins_;
  std::vector<int> ends_;
};

CharSet together(CharSet set, const CharSet& more) {
  set.insert(set.end(), more.begin(), more.end());
  return set;
}

// What read_path_value() reads: no refused character, no "~", no variable and no "scheme:" at the
// beginning.
Nfa readable() {
  const CharSet letters = {{U'A', U'Z'}, {U'a', U'z'}};
  const CharSet others = together(letters, {{U'+', U'+'}, {U'-', U'.'}, {U'0', U'9'}});
  const CharSet refused = {{0, 0x1F}, {U'\\', U'\\'}, {0x7F, 0x7F}};
  Nfa nfa;
  nfa.start = nfa.add();
  const int scheme = nfa.add();
  const int more = nfa.add();
  nfa.edge(nfa.start, letters, scheme);
  nfa.edge(nfa.start, all_but(together(refused, together(letters, {{U'~', U'~'}, {U'$', U'$'}}))),
           more);
  const int dollar = nfa.add();
  nfa.edge(nfa.start, one_char(U'$'), dollar);
  nfa.edge(dollar, all_but(together(refused, {{U'A', U'Z'}, {U'{', U'{'}, {U'(', U'('}})), more);
  nfa.accept(dollar);
  nfa.edge(scheme, others, scheme);
  nfa.edge(scheme, all_but(together(refused, together(others, {{U':', U':'}}))), more);
  nfa.edge(more, all_but(refused), more);
  nfa.accept(scheme);
  nfa.accept(more);
  return nfa;
}

}  // namespace

std::vector<Components> path_starts(const Bases& bases, const std::string& server) {
  std::set<Components> starts = {split(bases.current_directory)};
  const RelativeStarts relative = relative_starts(bases, server);
  for (const auto& start : relative.admit) starts.insert(split(start));
  for (const auto& start : relative.to_catch) starts.insert(split(start));
  return {starts.begin(), starts.end()};
}

std::vector<Nfa> path_shapes(const std::vector<Components>& starts) {
  const Items anything = items_of({}, {}, true);
  std::vector<Nfa> shapes;
  shapes.push_back(readable());
  shapes.push_back(PathBuilder(anything).build({true, false, nullptr, {}}));
  shapes.push_back(PathBuilder(anything).build({false, true, nullptr, {}}));
  const Components none;
  shapes.push_back(PathBuilder(anything).build({false, false, &none, 0}));
  std::size_t deepest = 0;
  for (const auto& start : starts) deepest = std::max(deepest, start.size());
  // A path that climbs matters by how far it climbs, up to beyond the root of every start.
  const Components deep(deepest, "x");
  for (std::size_t up = 1; up <= deepest + 1; ++up)
    shapes.push_back(PathBuilder(anything).build({false, false, &deep, up}));
  return shapes;
}

std::vector<Nfa> path_automata(const PathPattern& pattern, const std::string& server,
                               const std::vector<Components>& starts) {
  std::vector<Nfa> automata;
  const PathBase& base = pattern.base_for(server);
  std::set<Components> names = {base.written, base.real};
  for (const auto& name : names) {
    for (const bool whole : {true, false}) {
      const Items items = whole ? items_of(name, pattern.glob(), pattern.everything_below())
                                : items_of(name, {}, true);
      for (const auto& start : starts)
        automata.push_back(PathBuilder(items).build({true, true, &start, {}}));
      if (pattern.glob().empty()) break;  // the base and everything below: the same twice
    }
  }
  return automata;
}

std::vector<Nfa> folders_above(const PathPattern& pattern, const std::string& server,
                               const std::vector<Components>& starts) {
  std::vector<Nfa> automata;
  const PathBase& base = pattern.base_for(server);
  for (const auto& name : std::set<Components>{base.written, base.real}) {
    const Items items = items_of(name, {}, false);
    for (const auto& start : starts)
      automata.push_back(PathBuilder(items, Fit::kFirst).build({true, true, &start, {}}));
  }
  return automata;
}

std::vector<std::string> with_detours(const std::string& path) {
  std::vector<std::string> made;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (i == 0 ? path[0] != '/' : path[i - 1] == '/')
      made.push_back(path.substr(0, i) + "_/../" + path.substr(i));
  }
  made.push_back(path + (path.ends_with('/') ? "_/.." : "/_/.."));
  return made;
}

}  // namespace mcpac::policy
