// Hatches: ways around C++ types and around the tools (rules capability-cast, inline-assembly,
// attribute, os-call, redeclared-function).
#pragma once

#include "analyzer/clang/findings.h"
#include "analyzer/clang/identity.h"
#include "analyzer/clang/walker.h"

namespace mcpac::analyzer {

class HatchChecker : public Checker {
 public:
  // `pastes`: whether the program joins tokens with ##, so that a macro can hide any word.
  HatchChecker(const Identity& identity, const Sources& sources, Findings& findings, bool pastes)
      : identity_(identity), sources_(sources), findings_(findings), pastes_(pastes) {}
  void on_node(CXCursor node, CXCursor parent, const Scope& scope) override;

 private:
  void on_cast(CXCursor cast);
  void on_implicit_conversion(CXCursor conversion);
  void on_named(CXCursor reference);
  void on_function(CXCursor function);
  void on_attribute(CXCursor attribute);
  void on_unexposed_declaration(CXCursor declaration);

  const Identity& identity_;
  const Sources& sources_;
  Findings& findings_;
  bool pastes_;
};

}  // namespace mcpac::analyzer
