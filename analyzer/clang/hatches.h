// Hatches: ways around the types of C++ (rules capability-cast, inline-assembly, attribute).
#pragma once

#include "analyzer/clang/findings.h"
#include "analyzer/clang/identity.h"
#include "analyzer/clang/walker.h"

namespace mcpac::analyzer {

class HatchChecker : public Checker {
 public:
  HatchChecker(const Identity& identity, const Sources& sources, Findings& findings)
      : identity_(identity), sources_(sources), findings_(findings) {}
  void on_node(CXCursor node, CXCursor parent, const Scope& scope) override;

 private:
  void on_cast(CXCursor cast);
  void on_implicit_conversion(CXCursor conversion);
  void on_named(CXCursor reference);
  void on_throw(CXCursor node);
  void on_made_from_bytes(CXCursor node, CXType made);
  void on_field(CXCursor field);
  void on_operator(CXCursor node);
  void on_arithmetic(CXCursor node);
  void on_attribute(CXCursor attribute);
  void on_unexposed_declaration(CXCursor declaration);

  const Identity& identity_;
  const Sources& sources_;
  Findings& findings_;
};

}  // namespace mcpac::analyzer
