// SPDX-License-Identifier: Apache-2.0

// Bindings: values of names while one call is folded: the variable of a loop over a list that the
// source spells out, and the parameters of a function of the program that is looked into.
//
// A loop variable stands for every element in turn: the folding starts over until next() says
// that each combination was seen. There is a limit to combinations, and one to all steps of all
// foldings, so that a source of a few lines cannot keep the worker busy.
#pragma once

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/clang/constancy.h"
#include "analyzer/clang/elements.h"
#include "core/json.h"

namespace mcpac::analyzer {

using Parameters = std::vector<std::pair<CXCursor, std::optional<Json>>>;

class Bindings {
 public:
  Bindings(const Sources& sources, Variables variables)
      : sources_(sources), variables_(variables) {}

  void add_loop(CXCursor range_for);
  // The element that the variable of a loop stands for now; nothing for another variable, or one
  // that may hold something else.
  [[nodiscard]] std::optional<CXCursor> element(CXCursor variable);
  // Begins with the first elements.
  void first();
  // Goes on to the next combination; false where all, or more than a report should hold, were seen.
  [[nodiscard]] bool next();
  [[nodiscard]] bool too_many() const { return too_many_; }

  // While a function is looked into.
  void enter(Parameters parameters) { frames_.push_back(std::move(parameters)); }
  void leave() { frames_.pop_back(); }
  [[nodiscard]] const std::optional<Json>* parameter(CXCursor variable) const;

  [[nodiscard]] bool knows_variables() const { return variables_ != Variables::kUnknown; }
  [[nodiscard]] bool only_plain() const { return variables_ == Variables::kPlain; }
  [[nodiscard]] Variables variables() const { return variables_; }
  // While what is initialised once, whatever loop or function stands around it, is looked into.
  void hide() { ++hidden_; }
  void show() { --hidden_; }
  // One more step of folding; false where there were too many.
  [[nodiscard]] bool step() { return steps_left_ > 0 && steps_left_-- > 0; }

 private:
  struct Loop {
    CXCursor variable;
    CXCursor list;
    CXCursor body;
  };
  struct Choice {
    CXCursor variable;
    std::vector<CXCursor> elements;
    std::size_t index = 0;
  };
  [[nodiscard]] std::optional<Elements> elements_for(const Loop& loop) const;

  const Sources& sources_;
  Variables variables_;
  std::unordered_multimap<unsigned, Loop> loops_;  // by the hash of the variable
  std::vector<Choice> choices_;
  std::vector<Parameters> frames_;
  std::size_t combinations_ = 0;
  bool too_many_ = false;
  unsigned hidden_ = 0;
  std::size_t steps_left_ = 2'000'000;
};

}  // namespace mcpac::analyzer
