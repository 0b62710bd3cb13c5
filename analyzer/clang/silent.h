// SPDX-License-Identifier: Apache-2.0

// Silent: check for code that compiles and does not mean what it says.
//
// Two literals that are read as the beginning and the end of one text (rule text-range), and
// dynamic_cast of a copy that is nothing but its base (rule sliced-error).
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "analyzer/clang/findings.h"
#include "analyzer/clang/sources.h"
#include "analyzer/clang/walker.h"

namespace mcpac::analyzer {

class SilentChecker : public Checker {
 public:
  SilentChecker(const Sources& sources, Findings& findings)
      : sources_(sources), findings_(findings) {}
  void on_node(CXCursor node, CXCursor parent, const Scope& scope) override;

 private:
  void on_constructor(CXCursor call);
  void check(CXType type, CXCursor list, unsigned depth);
  void check_members(CXType type, const std::vector<CXCursor>& items, unsigned depth);
  void add(CXCursor at, CXCursor first, CXCursor second, bool is_text);
  void on_dynamic_cast(CXCursor cast);

  const Sources& sources_;
  Findings& findings_;
  std::set<std::pair<CXFile, unsigned>> told_;  // places
};

}  // namespace mcpac::analyzer
