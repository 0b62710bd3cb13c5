// SPDX-License-Identifier: Apache-2.0

// Automata over the characters of Unicode: sets of strings that a test passes, as values.
//
// An Nfa is put together from fragments; an Alphabet cuts all characters into the classes that a
// group of automata can tell apart; a Dfa walks one Nfa over such an alphabet, making its states
// when they are first met. Strings of JSON are sequences of code points, never of surrogates.
#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mcpac::policy {

struct CharRange {
  char32_t first = 0;
  char32_t last = 0;
  friend auto operator<=>(const CharRange&, const CharRange&) = default;
};
using CharSet = std::vector<CharRange>;

[[nodiscard]] CharSet any_char();
[[nodiscard]] CharSet one_char(char32_t c);
[[nodiscard]] CharSet all_but(const CharSet& set);

class Nfa {
 public:
  struct Edge {
    CharSet set;
    int to;
  };
  struct State {
    std::vector<Edge> edges;
    std::vector<int> epsilons;
    bool accepts = false;
  };
  int add() {
    states_.emplace_back();
    return static_cast<int>(states_.size()) - 1;
  }
  void edge(int from, CharSet set, int to) { at(from).edges.push_back({std::move(set), to}); }
  void epsilon(int from, int to) { at(from).epsilons.push_back(to); }
  void accept(int state) { at(state).accepts = true; }
  // A chain that reads exactly this text (UTF-8) from `from`; answers its end.
  int chain(int from, std::string_view text);
  int start = 0;
  [[nodiscard]] const std::vector<State>& states() const { return states_; }

 private:
  State& at(int state) { return states_[static_cast<std::size_t>(state)]; }
  std::vector<State> states_;
};

// The classes of characters; each is known by one of its own, a readable one where it has any.
class Alphabet {
 public:
  explicit Alphabet(const std::vector<Nfa>& automata);
  // Steps to make one: the square of all ranges that differ.
  [[nodiscard]] static std::size_t cost(const std::vector<Nfa>& automata);
  [[nodiscard]] std::size_t size() const { return letters_.size(); }
  [[nodiscard]] char32_t letter(std::size_t index) const { return letters_[index]; }

 private:
  std::vector<char32_t> letters_;
};

class Dfa {
 public:
  Dfa(const Nfa& nfa, const Alphabet& alphabet);
  [[nodiscard]] int start() const { return 0; }
  [[nodiscard]] int step(int state, std::size_t letter) {
    const int known = row(state)[letter];
    return known >= 0 ? known : make_step(state, letter);
  }
  // Successors of a state by letter; -1: step() has not been asked yet. Until it makes one.
  [[nodiscard]] const int* row(int state) const { return table_.data() + index(state) * letters_; }
  [[nodiscard]] bool accepts(int state) const { return accepting_[index(state)]; }
  // Of its states so far: how many states of the Nfa were looked at to make them, and what they
  // take.
  [[nodiscard]] std::size_t work() const { return work_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  static std::size_t index(int state) { return static_cast<std::size_t>(state); }
  int make_step(int state, std::size_t letter);
  int intern(const std::vector<int>& set);
  void close(std::vector<int>& set) const;

  struct Move {
    std::size_t set;  // in has_letter_
    int to;
  };
  const Nfa* nfa_;
  std::size_t letters_;
  std::vector<std::vector<Move>> moves_;       // by state of the Nfa
  std::vector<std::vector<bool>> has_letter_;  // by set of characters and letter
  bool has_epsilons_ = false;
  // The state that stands for one of the Nfa alone, and last for none; other sets are in known_.
  std::vector<int> alone_;
  std::map<std::vector<int>, int> known_;
  std::vector<std::vector<int>> sets_;
  std::vector<int> next_;  // the set that is being made
  std::size_t work_ = 0;
  std::size_t bytes_ = 0;
  std::vector<int> table_;  // by state and letter; -1: not yet made
  std::vector<bool> accepting_;
};

[[nodiscard]] std::u32string code_points_of(std::string_view utf8);
[[nodiscard]] std::string utf8_of(const std::u32string& text);
[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace mcpac::policy
