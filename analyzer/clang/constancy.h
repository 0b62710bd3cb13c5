// SPDX-License-Identifier: Apache-2.0

// Constancy: whether a variable still has its initial value when it is read.
//
// C++ lets a program write through constness (const_cast, casts to pointers and references,
// pointers that share a union), and lawfully so where the object itself is not const. libclang does
// not follow objects, so one such writer anywhere in the program makes every variable unknown.
#pragma once

#include "analyzer/clang/cx.h"
#include "analyzer/clang/walker.h"

namespace mcpac::analyzer {

// Looks for the writers, before anything is folded.
class ConstancyChecker : public Checker {
 public:
  void on_node(CXCursor node, CXCursor parent, const Scope& scope) override;
  [[nodiscard]] bool writes_through_constness() const { return writes_; }

 private:
  bool writes_ = false;
};

// Const, or a reference to const, and not volatile. What it refers to must be constant as well; the
// folding of its initialiser sees to that.
[[nodiscard]] bool is_never_assigned(CXCursor variable);

// Whether the variable is const or a reference to const, or is a value of its own that every
// mention below `body` only reads: takes its value, or hands it on as const or to the generated
// headers.
[[nodiscard]] bool is_only_read(CXCursor body, CXCursor variable, const Sources& sources);

}  // namespace mcpac::analyzer
