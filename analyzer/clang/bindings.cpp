// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/bindings.h"

#include <algorithm>

namespace mcpac::analyzer {
namespace {

// A list longer than this is data, not a handful of names; its calls are known at run time only.
constexpr std::size_t kMaxCombinations = 64;

bool is_arithmetic(CXType type) {
  const CXTypeKind kind = clang_getCanonicalType(type).kind;
  return kind >= CXType_Bool && kind <= CXType_LongDouble;
}

}  // namespace

void Bindings::add_loop(CXCursor range_for) {
  Loop loop{clang_getNullCursor(), clang_getNullCursor(), clang_getNullCursor()};
  // The variable, the list, the body; an initialiser of the loop stands before them.
  for (const CXCursor part : children(range_for)) {
    if (clang_getCursorKind(part) == CXCursor_VarDecl && !exists(loop.list)) {
      loop.variable = part;
    } else if (clang_isExpression(clang_getCursorKind(part)) != 0 && exists(loop.variable) &&
               !exists(loop.list)) {
      loop.list = part;
    } else {
      loop.body = part;
    }
  }
  if (exists(loop.variable) && exists(loop.list) && exists(loop.body))
    loops_.emplace(clang_hashCursor(loop.variable), loop);
}

// The variable must keep the element: const, or only read in the body. A number must keep its type,
// or it would be another number.
std::optional<Elements> Bindings::elements_for(const Loop& loop) const {
  const CXType type = clang_getCursorType(loop.variable);
  if (!is_only_read(loop.body, loop.variable, sources_)) return std::nullopt;
  auto elements = elements_of(loop.list, variables_);
  if (!elements || elements->expressions.empty()) return std::nullopt;
  const CXType bare = clang_getUnqualifiedType(without_reference(type));
  const bool keeps_type = clang_equalTypes(bare, elements->type) != 0;
  const auto is_same = [bare](CXCursor expression) {
    const CXType written = without_reference(clang_getCursorType(expression));
    return clang_equalTypes(clang_getUnqualifiedType(written), bare) != 0;
  };
  const bool number = is_arithmetic(bare) || is_arithmetic(elements->type);
  // An element of a class may be made, or read, by code of the program.
  if (!number && !is_text(elements->type)) return std::nullopt;
  if (number && !(keeps_type && std::ranges::all_of(elements->expressions, is_same)))
    return std::nullopt;
  return elements;
}

std::optional<CXCursor> Bindings::element(CXCursor variable) {
  if (too_many_ || hidden_ > 0 || !knows_variables()) return std::nullopt;
  for (const Choice& choice : choices_) {
    if (same(choice.variable, variable)) return choice.elements[choice.index];
  }
  const auto [from, to] = loops_.equal_range(clang_hashCursor(variable));
  for (auto at = from; at != to; ++at) {
    if (!same(at->second.variable, variable)) continue;
    auto elements = elements_for(at->second);
    if (!elements) return std::nullopt;
    choices_.push_back({variable, std::move(elements->expressions), 0});
    return choices_.back().elements.front();
  }
  return std::nullopt;
}

void Bindings::first() {
  choices_.clear();
  combinations_ = 1;
  too_many_ = false;
}

bool Bindings::next() {
  while (!choices_.empty() && choices_.back().index + 1 == choices_.back().elements.size())
    choices_.pop_back();
  if (choices_.empty()) return false;
  ++choices_.back().index;
  too_many_ = ++combinations_ > kMaxCombinations;
  return !too_many_;
}

const std::optional<Json>* Bindings::parameter(CXCursor variable) const {
  if (frames_.empty() || hidden_ > 0) return nullptr;
  for (const auto& [parameter, value] : frames_.back()) {
    if (same(parameter, variable)) return &value;
  }
  return nullptr;
}

}  // namespace mcpac::analyzer
