// SPDX-License-Identifier: Apache-2.0

#include "policy/sets/string_classes.h"

#include <algorithm>
#include <map>
#include <set>

#include "policy/match/path_value.h"
#include "policy/match/readings.h"
#include "policy/sets/path_automata.h"
#include "policy/sets/string_product.h"
#include "policy/sets/string_tests.h"
#include "policy/sets/text_automata.h"

namespace mcpac::policy {
namespace {

using Outcomes = std::vector<Outcome>;

// More opaque tests than this on one argument make too many combinations.
constexpr std::size_t kMaxOpaque = 6;

class Collector {
 public:
  Collector(const std::vector<StringProbe>& probes, const StringLimits& limits,
            const Environment& environment, StepBudget& budget)
      : probes_(probes), limits_(limits), budget_(budget) {
    for (const auto& probe : probes) {
      tests_.add(*probe.arg, probe.view, environment);
      kinds_.push_back(tests_.kinds_of(*probe.arg, probe.view.reading)[probe.matcher]);
      counts_[index(kinds_.back())] += 1;
      if (kinds_.back() != ProbeKind::kPath) continue;
      starts_ = path_starts(environment.bases, probe.view.server);
      is_remote_ = environment.bases.remote_servers.contains(probe.view.server);
    }
    for (const std::size_t length : limits.lengths) tests_.add_at_least(length);
    tests_.literals.insert(limits.values.begin(), limits.values.end());
    found_.gap = tests_.gap;
  }

  StringClasses collect() {
    add_all_examples();
    if (found_.gap.empty() && is_mixed()) add_combinations();
    if (budget_.is_spent()) found_.gap = "the step budget";
    return std::move(found_);
  }

 private:
  static std::size_t index(ProbeKind kind) { return static_cast<std::size_t>(kind); }
  [[nodiscard]] bool has(ProbeKind kind) const { return counts_[index(kind)] > 0; }
  // Tests whose answers hang together in ways that the examples alone do not show.
  [[nodiscard]] bool is_mixed() const {
    const int kinds = (tests_.texts.empty() ? 0 : 1) + (has(ProbeKind::kPath) ? 1 : 0) +
                      (has(ProbeKind::kUrl) ? 1 : 0);
    return kinds > 1 || has(ProbeKind::kOpaque);
  }

  // Whether a path names a folder that exists, the text does not say: both can be.
  enum class Names : std::uint8_t { kFolder, kNoFolder };
  [[nodiscard]] std::vector<Names> worlds() const {
    return has(ProbeKind::kPath) ? std::vector{Names::kFolder, Names::kNoFolder}
                                 : std::vector{Names::kNoFolder};
  }

  [[nodiscard]] Outcomes outcomes_of(const std::string& text, Names names) const {
    const Json value(text);
    KnownReadings readings;
    return outcomes_of(value, names, readings);
  }
  [[nodiscard]] Outcomes outcomes_of(const Json& value, Names names,
                                     KnownReadings& readings) const {
    Outcomes outcomes;
    outcomes.reserve(probes_.size());
    for (const auto& probe : probes_) {
      CallView view = probe.view;
      view.takes_for_folders = names == Names::kFolder;
      view.readings = &readings;
      outcomes.push_back(probe.arg->matchers[probe.matcher]->match(value, view));
    }
    return outcomes;
  }

  // Of strings that the tests cannot tell apart one for all that the schema can: the shortest may
  // be none that it admits, and the default stands for no other value.
  void insert(std::string example, Outcomes outcomes) {
    if (!known_.emplace(outcomes, standing_of(example)).second) return;
    found_.classes.push_back({std::move(example), std::move(outcomes)});
  }

  // By what the schema tells this string from others: how many of its lengths it has, and which of
  // its values it is.
  [[nodiscard]] std::pair<std::ptrdiff_t, std::string> standing_of(const std::string& text) const {
    const std::size_t length = limits_.lengths.empty() ? 0 : code_points_of(text).size();
    const auto least = std::ranges::count_if(
        limits_.lengths, [length](std::size_t limit) { return length >= limit; });
    const bool listed = std::ranges::find(limits_.values, text) != limits_.values.end();
    return {least, listed ? "is " + text : ""};
  }

  // Matching an expression takes its size times the length, at some 2 ns each.
  [[nodiscard]] std::size_t cost_of(const std::string& text) const {
    return probes_.size() + tests_.regex_size * text.size() / 16;
  }

  // Strings that exist, with the answers that they really get, by world.
  std::vector<Outcomes> add_example(const std::string& text) {
    const Json value(text);
    KnownReadings readings;
    std::vector<Outcomes> answers;
    for (const Names names : worlds()) {
      if (!budget_.spend(cost_of(text))) continue;
      answers.push_back(outcomes_of(value, names, readings));
      insert(text, answers.back());
    }
    return answers;
  }
  // And in the dresses that servers take off (readings.h): beside a blank, in quotes, and as JSON.
  // Of strings that no test tells apart one is dressed.
  void add_with_dresses(const std::string& text) {
    if (dressed_.insert(add_example(text)).second) add_dressed(text);
  }
  void add_dressed(const std::string& text) {
    add_example(not_a_literal(" " + text));
    add_example(not_a_literal(text + " "));
    add_example(not_a_literal("\"" + text + "\""));
    add_example(not_a_literal(to_text(Json::array({text}))));
    // Named beside another, and behind a scheme (path_readings.h).
    if (!has(ProbeKind::kPath) || !looks_at_any_string()) return;
    add_example(not_a_literal("_," + text));
    add_example(not_a_literal("_ " + text));
    add_example(not_a_literal("x:" + text));
  }

  void add_all_examples() {
    for (const auto& literal : tests_.literals) {
      add_example(literal);
      add_dressed(literal);
    }
    std::vector<Nfa> automata;
    if (has(ProbeKind::kPath)) automata = path_shapes(starts_);
    shapes_ = automata.size();
    if (has(ProbeKind::kPath) && looks_at_any_string()) {
      add_example(not_a_literal(""));  // the start, where the place is that of a path
      add_example(not_a_literal("\x01"));
    }
    // Their keys are still asked for.
    for (auto& [key, nfa] : tests_.texts) automata.push_back(std::move(nfa));
    for (auto& [key, nfa] : tests_.paths) automata.push_back(std::move(nfa));
    // Among texts the literals are languages like others; alone, any other string will do.
    if (!tests_.texts.empty()) {
      for (const auto& literal : tests_.literals) automata.push_back(exactly(literal));
    }
    if (!tests_.texts.empty()) automata.push_back(plain_automaton());
    auto kinds = string_kinds(automata, budget_);
    if (!kinds) {
      found_.gap = "the step budget";
      return;
    }
    for (auto& kind : *kinds) {
      if (tests_.literals.contains(kind.example)) {
        if (!tests_.texts.empty()) continue;  // it is all of its kind
        kind.example = not_a_literal(kind.example);
      }
      add_with_dresses(kind.example);
      if (has(ProbeKind::kPath) && read_path(kind.example)) {
        for (auto& detour : with_detours(kind.example))
          add_example(not_a_literal(std::move(detour)));
        // A server elsewhere may have the same place below any folder.
        if (looks_at_any_string() && is_remote_) add_ends(kind.example);
        // Under "*" what no other test can read is a path all the same.
        if (looks_at_any_string()) add_example(not_a_literal(kind.example + "/\x01/.."));
      }
      examples_.push_back(std::move(kind));
    }
    if (!has(ProbeKind::kUrl)) return;
    for (auto& url : url_examples(tests_.urls)) add_with_dresses(not_a_literal(std::move(url)));
    add_example(not_a_literal(" "));  // names no host
    add_example(not_a_literal("http:x"));
    add_example(not_a_literal("http://a@b@c"));  // unclear (match/url.h)
    if (!looks_at_any_string()) return;
    for (auto& url : loose_url_examples(tests_.urls)) add_example(not_a_literal(std::move(url)));
  }

  void add_ends(std::string_view path) {
    for (auto slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/')) {
      path.remove_prefix(slash + 1);
      if (!path.empty()) add_example(not_a_literal(std::string(path)));
    }
  }

  // Another string that tests on paths and URLs cannot tell from this one.
  [[nodiscard]] std::string not_a_literal(std::string text) const {
    while (tests_.literals.contains(text)) {
      if (text.empty()) {
        text = '\x01';
      } else {
        text += has(ProbeKind::kPath) ? "/." : "x";
      }
    }
    return text;
  }

  // The answers of one kind of tests, all that there are.
  [[nodiscard]] std::set<Outcomes> answers(ProbeKind kind) const {
    std::set<Outcomes> all;
    for (const auto& one : found_.classes) {
      Outcomes part;
      for (std::size_t i = 0; i < kinds_.size(); ++i) {
        if (kinds_[i] == kind) part.push_back(one.outcomes[i]);
      }
      all.insert(std::move(part));
    }
    return all;
  }

  void put(Outcomes& into, ProbeKind kind, const Outcomes& part) const {
    std::size_t next = 0;
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      if (kinds_[i] == kind) into[i] = part[next++];
    }
  }

  // What a path test may say of strings of this kind, where the automata do not settle it: paths
  // with detours, and those that are no paths because of their length or their normal form.
  [[nodiscard]] std::set<Outcomes> path_answers(const StringKind& kind) const {
    const auto shape = kind.accepted.begin() + 1;
    const bool readable = kind.accepted[0];
    const bool canonical = std::any_of(shape, shape + static_cast<std::ptrdiff_t>(shapes_) - 1,
                                       [](bool is) { return is; });
    if (readable && !canonical) return answers(ProbeKind::kPath);
    std::set<Outcomes> own;
    // What a text names in one of its parts, its path as a whole does not say.
    if (readable && looks_at_any_string()) {
      const Outcomes whole = path_part(outcomes_of(kind.example, Names::kNoFolder));
      for (const auto& part : answers(ProbeKind::kPath)) own.insert(with_parts(whole, part));
    }
    if (!readable && looks_at_any_string()) {
      for (const auto& part : answers(ProbeKind::kPath)) own.insert(unreadable(part));
    }
    const bool ascii = std::ranges::all_of(
        kind.example, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    if (readable && !ascii) return answers(ProbeKind::kPath);
    if (readable && kind.endless) {
      // Too long: nothing to all tests but those under "*" that may tidy it.
      for (const Names names : worlds())
        own.insert(unreadable(path_part(outcomes_of(kind.example, names))));
      const Outcomes part = path_part(outcomes_of(kind.example, Names::kFolder));
      own.insert(unreadable(Outcomes(part.size(), Outcome::kFail)));
    }
    return own;
  }
  [[nodiscard]] Outcomes path_part(const Outcomes& outcomes) const {
    Outcomes part;
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      if (kinds_[i] == ProbeKind::kPath) part.push_back(outcomes[i]);
    }
    return part;
  }
  [[nodiscard]] bool looks_at_any_string() const {
    return std::ranges::any_of(probes_, [](const auto& probe) { return probe.view.any_string; });
  }

  void add_combinations() {
    const auto urls = answers(ProbeKind::kUrl);
    const std::size_t opaque = opaque_texts().size();
    if (opaque > kMaxOpaque) {
      found_.gap = "too many regular expressions that cannot be compared";
      return;
    }
    for (const auto& kind : examples_) {
      if (!budget_.spend(cost_of(kind.example))) return;
      const Outcomes real = outcomes_of(kind.example, worlds().back());
      std::vector<Outcomes> made = {real};
      if (has(ProbeKind::kPath)) {
        made.push_back(outcomes_of(kind.example, Names::kFolder));
        for (const auto& part : path_answers(kind)) {
          made.push_back(real);
          put(made.back(), ProbeKind::kPath, part);
        }
      }
      if (has(ProbeKind::kUrl)) made = crossed(made, urls);
      if (is_read_apart(kind)) std::ranges::for_each(made, [&](Outcomes& o) { admit_no_url(o); });
      for (const auto& outcomes : made) {
        for (std::size_t bits = 0; bits < std::size_t{1} << opaque; ++bits) {
          if (!budget_.spend(probes_.size())) return;
          insert(kind.example, with_opaque(outcomes, bits));
        }
      }
    }
  }

  // URLs whose path servers read in several ways: to an allow none of them is one.
  [[nodiscard]] bool is_read_apart(const StringKind& kind) const {
    const auto apart = tests_.texts.find(kReadApart);
    if (apart == tests_.texts.end()) return false;
    const auto index = static_cast<std::size_t>(std::distance(tests_.texts.begin(), apart));
    return kind.accepted[shapes_ + index];
  }
  void admit_no_url(Outcomes& outcomes) const {
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      if (kinds_[i] == ProbeKind::kUrl && probes_[i].view.reading == Reading::kAdmit)
        outcomes[i] = Outcome::kUnreadable;
    }
  }

  // The answers to a string that under "*" names what another string is.
  [[nodiscard]] Outcomes with_parts(Outcomes whole, const Outcomes& part) const {
    std::size_t next = 0;
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      if (kinds_[i] != ProbeKind::kPath) continue;
      if (probes_[i].view.any_string && part[next] == Outcome::kPass) whole[next] = Outcome::kPass;
      ++next;
    }
    return whole;
  }

  // The same answers to a string that only tests under "*" read.
  [[nodiscard]] Outcomes unreadable(Outcomes part) const {
    std::size_t next = 0;
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      if (kinds_[i] != ProbeKind::kPath) continue;
      if (!probes_[i].view.any_string) part[next] = Outcome::kUnreadable;
      ++next;
    }
    return part;
  }

  [[nodiscard]] std::vector<Outcomes> crossed(const std::vector<Outcomes>& all,
                                              const std::set<Outcomes>& urls) const {
    std::vector<Outcomes> made;
    for (const auto& outcomes : all) {
      made.push_back(outcomes);
      for (const auto& part : urls) {
        made.push_back(outcomes);
        put(made.back(), ProbeKind::kUrl, part);
      }
    }
    return made;
  }

  [[nodiscard]] Outcomes with_opaque(Outcomes outcomes, std::size_t bits) const {
    const auto texts = opaque_texts();
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      if (kinds_[i] != ProbeKind::kOpaque) continue;
      const auto at = std::ranges::find(texts, text_of(i)) - texts.begin();
      if ((bits >> at & 1U) != 0)
        outcomes[i] = outcomes[i] == Outcome::kPass ? Outcome::kFail : Outcome::kPass;
    }
    return outcomes;
  }

  // The same expression says the same in two rules that read it alike.
  [[nodiscard]] std::vector<std::string> opaque_texts() const {
    std::set<std::string> texts;
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      if (kinds_[i] == ProbeKind::kOpaque) texts.insert(text_of(i));
    }
    return {texts.begin(), texts.end()};
  }
  [[nodiscard]] std::string text_of(std::size_t probe) const {
    const auto& [arg, matcher, view] = probes_[probe];
    const bool in_url = std::ranges::any_of(arg->tests, is_url_test);
    return (view.reading == Reading::kAdmit ? "+"
            : in_url                        ? "-u"
                                            : "-") +
           arg->matcher_texts[matcher];
  }

  const std::vector<StringProbe>& probes_;
  const StringLimits& limits_;
  StepBudget& budget_;
  StringTests tests_;
  std::vector<ProbeKind> kinds_;
  std::size_t counts_[4] = {};
  std::vector<Components> starts_;
  bool is_remote_ = false;
  std::size_t shapes_ = 0;
  std::vector<StringKind> examples_;
  std::set<std::pair<Outcomes, std::pair<std::ptrdiff_t, std::string>>> known_;
  std::set<std::vector<Outcomes>> dressed_;  // answers to strings that were dressed
  StringClasses found_;
};

}  // namespace

StringClasses string_classes(const std::vector<StringProbe>& probes, const StringLimits& limits,
                             const Environment& environment, StepBudget& budget) {
  return Collector(probes, limits, environment, budget).collect();
}

}  // namespace mcpac::policy
