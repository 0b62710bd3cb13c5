// SPDX-License-Identifier: Apache-2.0

// Replacements: declarations of the program that take the place of, or reach into, code that is not
// its own (rules replaced-function, redeclared-function, reopened-namespace,
// library-specialisation).
//
// Agents are linked statically with one archive of the library and the runtime: a function of the
// same symbol wins over the one in the archive, and every message goes through it.
#pragma once

#include "analyzer/clang/findings.h"
#include "analyzer/clang/walker.h"

namespace mcpac::analyzer {

class ReplacementChecker : public Checker {
 public:
  ReplacementChecker(const Sources& sources, Findings& findings)
      : sources_(sources), findings_(findings) {}
  void on_node(CXCursor node, CXCursor parent, const Scope& scope) override;

 private:
  void on_function(CXCursor function);
  void on_variable(CXCursor variable);
  void on_foreign_scope(CXCursor declaration);
  [[nodiscard]] bool has_runtime_type(CXCursor specialisation) const;

  const Sources& sources_;
  Findings& findings_;
};

}  // namespace mcpac::analyzer
