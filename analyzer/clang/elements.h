// SPDX-License-Identifier: Apache-2.0

// Elements: the elements of a list literal in the source.
//
// A braced list, a constant C array or std::array, a constant container made from a braced list,
// and names of those. Whatever may hold more, less or something else than the list shows is
// unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/clang/cx.h"

namespace mcpac::analyzer {

struct Elements {
  std::vector<CXCursor> expressions;
  CXType type{CXType_Invalid, {nullptr, nullptr}};  // of one element, canonical, unqualified
};

// Knowledge of variables that keep their initial value. kPlain: only what other files of the
// program cannot see otherwise (plain.h).
enum class Variables : std::uint8_t { kKnown, kPlain, kUnknown };
[[nodiscard]] std::optional<Elements> elements_of(CXCursor list, Variables variables);

}  // namespace mcpac::analyzer
