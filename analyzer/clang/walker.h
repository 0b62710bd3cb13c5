// SPDX-License-Identifier: Apache-2.0

// Walker: one pass over the program's own declarations, handing every node to the checkers.
//
// libclang hands over the declarations of this translation unit, not those of the precompiled
// header, and among them every instantiation of a function template, a member function of a class
// template and a generic lambda; so code in templates is seen once as written and once per
// instantiation. What it does not hand over by itself (the instantiations of a variable template,
// of a static member of a class template, …) is visited when something that was visited names it.
#pragma once

#include <clang-c/Index.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/clang/findings.h"
#include "analyzer/clang/sources.h"

namespace mcpac::analyzer {

// The scope of a node in the program.
struct Scope {
  std::string function;      // qualified name of the function around it; empty outside functions
  bool in_template = false;  // in a template as written: types and values may be unknown
  // In a concept, a requires-expression or an operand that is never run.
  bool unevaluated = false;
  bool at_namespace = true;  // a declaration of a namespace, not of a class or function
  unsigned depth = 0;
  unsigned scopes = 0;  // of the depth: namespaces and classes
};

class Checker {
 public:
  Checker() = default;
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;
  virtual ~Checker() = default;
  virtual void on_node(CXCursor node, CXCursor parent, const Scope& scope) = 0;
};

class Walker {
 public:
  Walker(const Sources& sources, Findings& findings, std::vector<Checker*> checkers)
      : sources_(sources), findings_(findings), checkers_(std::move(checkers)) {}
  void walk(CXTranslationUnit unit);

 private:
  void visit(CXCursor node, CXCursor parent, const Scope& scope);
  [[nodiscard]] static Scope scope_below(CXCursor node, const Scope& scope);
  void remember(CXCursor node);
  [[nodiscard]] bool is_visited(CXCursor declaration) const;

  const Sources& sources_;
  Findings& findings_;
  std::vector<Checker*> checkers_;
  std::unordered_multimap<unsigned, CXCursor> visited_;  // functions and variables, by their hash
  std::vector<CXCursor> named_;                          // what expressions name of them
};

}  // namespace mcpac::analyzer
