// SPDX-License-Identifier: Apache-2.0

// NamedConstants: the variables that a value names, also by way of one another, to be looked into
// in their turn.
//
// Each is looked into once: constants that double one another name the first one without end.
#pragma once

#include <clang-c/Index.h>

#include <cstddef>
#include <optional>
#include <vector>

namespace mcpac::analyzer {

class NamedConstants {
 public:
  // One that is known already changes nothing. False: there are too many, which is a table and not
  // the value of an argument.
  [[nodiscard]] bool add(CXCursor variable);
  // Initialiser of the next one, which need not exist; nothing when all were looked into.
  [[nodiscard]] std::optional<CXCursor> next_initialiser();

 private:
  std::vector<CXCursor> known_;
  std::size_t next_ = 0;
};

}  // namespace mcpac::analyzer
