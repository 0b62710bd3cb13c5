// SPDX-License-Identifier: Apache-2.0

// Forgery: declarations that pretend to be, or get inside, what was generated (rules
// reopened-namespace, forged-type, detail-name, private-access, connect-in-agent).
#pragma once

#include <set>
#include <utility>

#include "analyzer/clang/findings.h"
#include "analyzer/clang/identity.h"
#include "analyzer/clang/reach.h"
#include "analyzer/clang/walker.h"

namespace mcpac::analyzer {

class ForgeryChecker : public Checker {
 public:
  ForgeryChecker(const Identity& identity, const Sources& sources, Findings& findings)
      : identity_(identity),
        sources_(sources),
        findings_(findings),
        connection_([&identity](CXType type) { return identity.is_connection(type); },
                    [](CXCursor) { return false; }) {}
  void on_node(CXCursor node, CXCursor parent, const Scope& scope) override;

 private:
  void on_declaration(CXCursor declaration);
  void on_reference(CXCursor reference, CXCursorKind kind);
  void on_construction(CXCursor call);
  void on_type_use(CXCursor node);
  void on_type(CXCursor node, CXType type);

  const Identity& identity_;
  const Sources& sources_;
  Findings& findings_;
  Reach connection_;  // the name of a type, not what its objects hold
  std::set<std::pair<CXFile, unsigned>> connected_;  // lines that have it; one says enough
};

}  // namespace mcpac::analyzer
