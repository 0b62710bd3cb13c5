// SPDX-License-Identifier: Apache-2.0

// EntryFinder: finds the one entry of the program and what it receives (docs/agents.md).
//
// Declared is what the entry receives, nothing else: a Requires elsewhere in the program can only
// be made from that one, by conversions that narrow.
#pragma once

#include <vector>

#include "analyzer/clang/findings.h"
#include "analyzer/clang/identity.h"
#include "analyzer/clang/walker.h"

namespace mcpac::analyzer {

class EntryFinder : public Checker {
 public:
  EntryFinder(const Identity& identity, const Sources& sources, Findings& findings)
      : identity_(identity), sources_(sources), findings_(findings) {}
  void on_node(CXCursor node, CXCursor parent, const Scope& scope) override;

  struct Found {
    Entry entry = Entry::kNone;
    std::vector<Declared> declared;  // sorted, without repetition
  };
  // Whether this file of the program has one; a `runtime` without a main is another file's.
  [[nodiscard]] bool is_present() const { return !agent_mains_.empty() || !mains_.empty(); }
  // Adds the findings about the entry as a whole.
  [[nodiscard]] Found finish(CXTranslationUnit unit);

 private:
  [[nodiscard]] Found from_agent_main();
  [[nodiscard]] Found from_runtime();
  void add_permissions(CXType type, CXCursor at, std::vector<Declared>& declared);
  void check_parameter(CXType type, CXCursor parameter);
  void check_result(CXCursor function);
  [[nodiscard]] bool check_one_entry(CXTranslationUnit unit);

  const Identity& identity_;
  const Sources& sources_;
  Findings& findings_;
  std::vector<CXCursor> agent_mains_;  // one cursor per function, its definition where there is one
  std::vector<CXCursor> runtimes_;
  std::vector<CXCursor> mains_;
};

}  // namespace mcpac::analyzer
