// SPDX-License-Identifier: Apache-2.0

// Hidden: declarations that libclang names but does not open.
//
// The initialiser of a variable template is one: a lambda in it can do anything, and no checker
// visits it. What cannot be analysed is refused; templates of plain constants hold nothing that
// acts.
#pragma once

#include "analyzer/clang/findings.h"
#include "analyzer/clang/identity.h"
#include "analyzer/clang/walker.h"

namespace mcpac::analyzer {

class HiddenChecker : public Checker {
 public:
  HiddenChecker(const Identity& identity, Findings& findings)
      : identity_(identity), findings_(findings) {}

  void on_node(CXCursor node, CXCursor parent, const Scope& scope) override;

 private:
  const Identity& identity_;
  Findings& findings_;
};

}  // namespace mcpac::analyzer
