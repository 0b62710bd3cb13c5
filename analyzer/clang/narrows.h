// SPDX-License-Identifier: Apache-2.0

// Narrows: conditions in a program that are not enforced (rule narrow-elsewhere).
//
// What the host enforces is what the entry receives. A Narrow in the Requires of a helper is a type
// and no limit, though it looks like one.
#pragma once

#include <vector>

#include "analyzer/clang/findings.h"
#include "analyzer/clang/identity.h"
#include "analyzer/clang/walker.h"

namespace mcpac::analyzer {

class NarrowChecker : public Checker {
 public:
  explicit NarrowChecker(const Identity& identity) : identity_(identity) {}
  void on_node(CXCursor node, CXCursor parent, const Scope& scope) override;
  // `declared` is what the entry receives.
  void finish(const std::vector<Declared>& declared, Findings& findings) const;

 private:
  struct Found {
    Authority authority;
    CXCursor at;
  };
  const Identity& identity_;
  std::vector<Found> found_;
};

}  // namespace mcpac::analyzer
