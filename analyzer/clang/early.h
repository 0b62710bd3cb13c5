// Early: what runs before the entry, in the initialisers of globals (rules early-call, early-code).
#pragma once

#include "analyzer/clang/findings.h"
#include "analyzer/clang/identity.h"
#include "analyzer/clang/walker.h"

namespace mcpac::analyzer {

class EarlyChecker : public Checker {
 public:
  EarlyChecker(const Identity& identity, const Sources& sources, Findings& findings)
      : identity_(identity), sources_(sources), findings_(findings) {}
  void on_node(CXCursor node, CXCursor parent, const Scope& scope) override;

 private:
  void search(CXCursor global, CXCursor node, unsigned depth);

  const Identity& identity_;
  const Sources& sources_;
  Findings& findings_;
};

}  // namespace mcpac::analyzer
