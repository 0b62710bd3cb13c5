// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/named_constants.h"

#include <algorithm>

#include "analyzer/clang/cx.h"

namespace mcpac::analyzer {
namespace {

// Values of arguments are far below.
constexpr std::size_t kMaxConstants = 64;

}  // namespace

bool NamedConstants::add(CXCursor variable) {
  const auto is_it = [variable](CXCursor known) { return same(known, variable); };
  if (std::ranges::any_of(known_, is_it)) return true;
  if (known_.size() == kMaxConstants) return false;
  known_.push_back(variable);
  return true;
}

std::optional<CXCursor> NamedConstants::next_initialiser() {
  if (next_ == known_.size()) return std::nullopt;
  return clang_Cursor_getVarDeclInitializer(known_[next_++]);
}

}  // namespace mcpac::analyzer
