// SPDX-License-Identifier: Apache-2.0

#include "policy/sets/string_product.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <unordered_map>

namespace mcpac::policy {
namespace {

// What the tables of one product may take, roughly; vectors that grow may hold twice as much for a
// moment.
constexpr std::size_t kMaxBytes = std::size_t{48} << 20;

// Tuples of states, each once, numbered as they come. One comparison meets tens of thousands, so
// they stand side by side in one vector, and are found by open addressing.
class Tuples {
 public:
  explicit Tuples(std::size_t width) : width_(width), slots_(256, -1) {}

  [[nodiscard]] std::size_t size() const { return size_; }
  // Until the next one is added.
  [[nodiscard]] std::span<const int> at(std::size_t number) const {
    return {states_.data() + number * width_, width_};
  }
  int number_of(std::span<const int> tuple) {
    std::size_t slot = slot_of(tuple);
    for (; slots_[slot] >= 0; slot = (slot + 1) & (slots_.size() - 1)) {
      if (std::ranges::equal(at(static_cast<std::size_t>(slots_[slot])), tuple))
        return slots_[slot];
    }
    states_.insert(states_.end(), tuple.begin(), tuple.end());
    slots_[slot] = static_cast<int>(size_++);
    if (2 * size_ > slots_.size()) grow();
    return static_cast<int>(size_ - 1);
  }

 private:
  [[nodiscard]] std::size_t slot_of(std::span<const int> tuple) const {
    std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a, a state at a time
    for (const int state : tuple)
      hash = (hash ^ static_cast<std::uint64_t>(state)) * 0x100000001b3U;
    return static_cast<std::size_t>(hash ^ hash >> 32U) & (slots_.size() - 1);
  }

  void grow() {
    slots_.assign(2 * slots_.size(), -1);
    for (std::size_t number = 0; number < size_; ++number) {
      std::size_t slot = slot_of(at(number));
      while (slots_[slot] >= 0) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = static_cast<int>(number);
    }
  }

  std::size_t width_;
  std::size_t size_ = 0;
  std::vector<int> states_;
  std::vector<int> slots_;  // numbers; -1: free. As many as a power of two
};

// Breadth first through the product of all automata.
class Product {
 public:
  Product(const std::vector<Nfa>& automata, StepBudget& budget)
      : alphabet_(automata), budget_(budget), rows_(automata.size()), tuples_(automata.size()) {
    dfas_.reserve(automata.size());
    for (const auto& nfa : automata) dfas_.emplace_back(nfa, alphabet_);
  }

  std::optional<std::vector<StringKind>> kinds() {
    std::vector<int> next;
    for (const auto& dfa : dfas_) next.push_back(dfa.start());
    visit(next, -1, 0);
    std::vector<int> states;
    for (std::size_t at = 0; at < tuples_.size(); ++at) {
      if (at % 64 == 0 && bytes() > kMaxBytes) return std::nullopt;
      // Copied: visiting adds tuples.
      states.assign(tuples_.at(at).begin(), tuples_.at(at).end());
      for (std::size_t i = 0; i < states.size(); ++i) rows_[i] = dfas_[i].row(states[i]);
      for (std::size_t letter = 0; letter < alphabet_.size(); ++letter) {
        const auto changed = step(states, letter, next);
        if (!changed) return std::nullopt;
        // Most letters lead where the one before did.
        const bool is_known = letter > 0 && !*changed;
        successors_.push_back(is_known ? successors_.back()
                                       : visit(next, static_cast<int>(at), letter));
      }
    }
    return gathered();
  }

 private:
  // How a tuple was first met.
  struct Origin {
    int from;
    std::size_t letter;
  };

  // Where the letter leads from here, into `next`, and whether that is another tuple than stood
  // there; nothing where the budget is spent.
  std::optional<bool> step(std::span<const int> states, std::size_t letter, std::span<int> next) {
    std::size_t work = 1 + states.size() / 8;
    bool changed = false;
    // The innermost loop of a comparison.
    const int** rows = rows_.data();
    int* into = next.data();
    for (std::size_t i = 0, width = states.size(); i < width; ++i) {
      int to = rows[i][letter];
      if (to < 0) {
        const std::size_t before = dfas_[i].work();
        to = dfas_[i].step(states[i], letter);
        work += dfas_[i].work() - before;
        rows[i] = dfas_[i].row(states[i]);
      }
      changed = changed || to != into[i];
      into[i] = to;
    }
    if (!budget_.spend(work)) return std::nullopt;
    return changed;
  }

  [[nodiscard]] std::size_t bytes() const {
    const std::size_t one = dfas_.size() * sizeof(int) + sizeof(Origin) + 4 * sizeof(int) +
                            alphabet_.size() * sizeof(int);
    std::size_t all = tuples_.size() * one;
    for (const auto& dfa : dfas_) all += dfa.bytes();
    return all;
  }

  int visit(std::span<const int> states, int from, std::size_t letter) {
    const int number = tuples_.number_of(states);
    if (index(number) == origins_.size()) origins_.push_back({from, letter});
    return number;
  }

  [[nodiscard]] std::span<const int> successors(std::size_t at) const {
    return std::span(successors_).subspan(at * alphabet_.size(), alphabet_.size());
  }

  [[nodiscard]] std::string example(std::size_t tuple) const {
    std::u32string text;
    for (auto at = tuple; origins_[at].from >= 0; at = index(origins_[at].from))
      text.push_back(alphabet_.letter(origins_[at].letter));
    std::ranges::reverse(text);
    return utf8_of(text);
  }

  // Nodes that stand on a circle or behind one: what is left when those without predecessors are
  // taken away, one after the other.
  [[nodiscard]] std::vector<bool> endless() const {
    std::vector<std::size_t> predecessors(tuples_.size());
    for (const int to : successors_) ++predecessors[index(to)];
    std::vector<bool> left(tuples_.size(), true);
    std::deque<std::size_t> free;
    for (std::size_t i = 0; i < tuples_.size(); ++i) {
      if (predecessors[i] == 0) free.push_back(i);
    }
    while (!free.empty()) {
      const std::size_t at = free.front();
      free.pop_front();
      left[at] = false;
      for (const int to : successors(at)) {
        if (--predecessors[index(to)] == 0) free.push_back(index(to));
      }
    }
    return left;
  }

  [[nodiscard]] std::optional<std::vector<StringKind>> gathered() {
    const std::vector<bool> is_endless = endless();
    std::unordered_map<std::string, std::size_t> known;
    std::vector<StringKind> kinds;
    std::string accepted(dfas_.size(), '0');
    for (std::size_t at = 0; at < tuples_.size(); ++at) {
      const auto states = tuples_.at(at);
      for (std::size_t i = 0; i < dfas_.size(); ++i)
        accepted[i] = dfas_[i].accepts(states[i]) ? '1' : '0';
      const auto [kind, is_new] = known.try_emplace(accepted, kinds.size());
      if (is_new) {
        std::vector<bool> bits(dfas_.size());
        for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = accepted[i] == '1';
        kinds.push_back({std::move(bits), example(at), false});
        if (!budget_.spend(dfas_.size() / 8 + kinds.back().example.size())) return std::nullopt;
      }
      if (is_endless[at]) kinds[kind->second].endless = true;
    }
    return kinds;
  }

  static std::size_t index(int number) { return static_cast<std::size_t>(number); }

  Alphabet alphabet_;
  StepBudget& budget_;
  std::vector<Dfa> dfas_;
  std::vector<const int*> rows_;  // of the tuple that is looked at
  Tuples tuples_;
  std::vector<Origin> origins_;  // by tuple
  std::vector<int> successors_;  // of each tuple one a letter
};

}  // namespace

std::optional<std::vector<StringKind>> string_kinds(const std::vector<Nfa>& automata,
                                                    StepBudget& budget) {
  std::size_t states = 0;
  for (const auto& nfa : automata) states += nfa.states().size();
  if (!budget.spend(states) || !budget.spend(Alphabet::cost(automata))) return std::nullopt;
  return Product(automata, budget).kinds();
}

}  // namespace mcpac::policy
