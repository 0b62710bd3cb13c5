// SPDX-License-Identifier: Apache-2.0

// Outside: ways past the tools (rules os-call, raw-descriptor, unknown-function,
// library-internals).
//
// The sandbox stops what reaches the system, so that is only said. The one descriptor that an agent
// has leads to the gate: a program that writes there by hand calls a tool that no analysis sees, so
// what reads or writes descriptors by number is refused.
#pragma once

#include <string>
#include <vector>

#include "analyzer/clang/findings.h"
#include "analyzer/clang/walker.h"

namespace mcpac::analyzer {

class OutsideChecker : public Checker {
 public:
  OutsideChecker(const Sources& sources, Findings& findings)
      : sources_(sources), findings_(findings) {}
  void on_node(CXCursor node, CXCursor parent, const Scope& scope) override;
  // Says what reaches files; where the program declares them only what is refused all the same.
  void finish(const std::vector<Declared>& declared);

 private:
  void on_function(CXCursor reference, CXCursor function, Home home);
  [[nodiscard]] bool is_spelled_by_program(CXCursor reference) const;
  void on_unknown(CXCursor reference, CXCursor named);
  void on_internal(CXCursor reference, CXCursor named);
  [[nodiscard]] bool on_input(CXCursor reference, const std::string& name);
  void os_call(CXCursor reference, const std::string& name, const char* what);

  struct FileCall {
    CXCursor reference;
    std::string name;
  };
  const Sources& sources_;
  Findings& findings_;
  std::vector<FileCall> file_calls_;
};

}  // namespace mcpac::analyzer
