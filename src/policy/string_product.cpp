#include "policy/string_product.h"

#include <deque>

namespace mcpac::policy {
namespace {

// Breadth first through the product of all automata.
class Product {
 public:
  Product(const std::vector<Nfa>& automata, StepBudget& budget)
      : alphabet_(automata), budget_(budget) {
    for (const auto& nfa : automata) dfas_.emplace_back(nfa, alphabet_);
  }

  std::optional<std::vector<StringKind>> kinds() {
    std::vector<int> first;
    for (auto& dfa : dfas_) first.push_back(dfa.start());
    visit(std::move(first), -1, 0);
    for (std::size_t at = 0; at < nodes_.size(); ++at) {
      // The states are copied: visiting makes nodes.
      const std::vector<int> states = *nodes_[at].states;
      for (std::size_t letter = 0; letter < alphabet_.size(); ++letter) {
        if (!budget_.spend(1 + dfas_.size() / 8)) return std::nullopt;
        std::vector<int> next(states.size());
        for (std::size_t i = 0; i < states.size(); ++i) next[i] = dfas_[i].step(states[i], letter);
        const int to = visit(std::move(next), static_cast<int>(at), letter);
        nodes_[at].successors.push_back(to);
      }
    }
    return gathered();
  }

 private:
  struct Node {
    const std::vector<int>* states;
    int from;
    std::size_t letter;
    std::vector<int> successors;
  };

  int visit(std::vector<int> states, int from, std::size_t letter) {
    const auto [known, is_new] =
        known_.try_emplace(std::move(states), static_cast<int>(nodes_.size()));
    if (is_new) nodes_.push_back({&known->first, from, letter, {}});
    return known->second;
  }

  [[nodiscard]] std::string example(std::size_t node) const {
    std::u32string text;
    for (int at = static_cast<int>(node); nodes_[index(at)].from >= 0; at = nodes_[index(at)].from)
      text.insert(text.begin(), alphabet_.letter(nodes_[index(at)].letter));
    return utf8_of(text);
  }

  // Nodes that stand on a circle or behind one: what is left when those without predecessors are
  // taken away, one after the other.
  [[nodiscard]] std::vector<bool> endless() const {
    std::vector<std::size_t> predecessors(nodes_.size());
    for (const auto& node : nodes_) {
      for (const int to : node.successors) ++predecessors[index(to)];
    }
    std::vector<bool> left(nodes_.size(), true);
    std::deque<std::size_t> free;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (predecessors[i] == 0) free.push_back(i);
    }
    while (!free.empty()) {
      const std::size_t at = free.front();
      free.pop_front();
      left[at] = false;
      for (const int to : nodes_[at].successors) {
        if (--predecessors[index(to)] == 0) free.push_back(index(to));
      }
    }
    return left;
  }

  [[nodiscard]] std::vector<StringKind> gathered() const {
    const std::vector<bool> is_endless = endless();
    std::map<std::vector<bool>, std::size_t> known;
    std::vector<StringKind> kinds;
    for (std::size_t at = 0; at < nodes_.size(); ++at) {
      std::vector<bool> accepted(dfas_.size());
      for (std::size_t i = 0; i < dfas_.size(); ++i)
        accepted[i] = dfas_[i].accepts((*nodes_[at].states)[i]);
      const auto [kind, is_new] = known.try_emplace(accepted, kinds.size());
      if (is_new) kinds.push_back({std::move(accepted), example(at), false});
      if (is_endless[at]) kinds[kind->second].endless = true;
    }
    return kinds;
  }

  static std::size_t index(int node) { return static_cast<std::size_t>(node); }

  Alphabet alphabet_;
  StepBudget& budget_;
  std::vector<Dfa> dfas_;
  std::map<std::vector<int>, int> known_;
  std::vector<Node> nodes_;
};

}  // namespace

std::optional<std::vector<StringKind>> string_kinds(const std::vector<Nfa>& automata,
                                                    StepBudget& budget) {
  return Product(automata, budget).kinds();
}

}  // namespace mcpac::policy
