// Dangling: what looks at memory that is given back before it is read (rule dangling).
//
// `std::string_view text = call().text();` prints anything at all, with exit code 0. Clang warns of
// most of it; what keeps such a view later (an assignment, a container of views) is looked for
// here. The temporaries in the head of a range-for live as long as the loop (P2718), which clang 19
// does not know where it warns.
#pragma once

#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/clang/findings.h"
#include "analyzer/clang/walker.h"

namespace mcpac::analyzer {

class DanglingChecker : public Checker {
 public:
  DanglingChecker(const Sources& sources, Findings& findings)
      : sources_(sources), findings_(findings) {}
  void on_node(CXCursor node, CXCursor parent, const Scope& scope) override;
  // A warning of clang under this option ("-Wdangling-gsl"), once the walk is over.
  void on_warning(std::string_view option, const Place& place, std::string_view message);

 private:
  void on_call(CXCursor call);
  void on_loop(CXCursor range_for);
  void add(const Place& place, std::string_view said);

  const Sources& sources_;
  Findings& findings_;
  std::vector<std::pair<Place, Place>> heads_;  // of loops
  std::set<std::pair<CXFile, unsigned>> told_;  // lines
};

}  // namespace mcpac::analyzer
