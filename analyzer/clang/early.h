// SPDX-License-Identifier: Apache-2.0

// Early: code that runs before the entry, in the initialisers of globals (rules early-call,
// early-code).
#pragma once

#include <cstdint>
#include <vector>

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
  void search(CXCursor global, CXCursor node, unsigned depth, bool runs_lambdas);
  void on_call(CXCursor global, CXCursor call);
  // Place of an object: in the global itself, or where the library makes it.
  enum class Made : std::uint8_t { kInPlace, kByLibrary };
  void on_made(CXCursor global, CXCursor at, CXType type, Made made);
  void note(CXCursor global, CXCursor at);

  const Identity& identity_;
  const Sources& sources_;
  Findings& findings_;
  std::vector<CXCursor> made_;  // classes whose making the search for one global looked into
};

}  // namespace mcpac::analyzer
