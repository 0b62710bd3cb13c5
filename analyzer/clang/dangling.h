// SPDX-License-Identifier: Apache-2.0

// Dangling: check for views of memory that is freed before it is read (rule dangling).
//
// `std::string_view text = call().text();` prints anything at all, with exit code 0. Clang warns of
// some of it; what it does not follow (JSON, results, groups and containers of views, a view of
// what ends with its block) is looked for here. The temporaries in the head of a range-for live as
// long as the loop (P2718), which clang 19 does not know where it warns.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/clang/findings.h"
#include "analyzer/clang/temporaries.h"
#include "analyzer/clang/walker.h"

namespace mcpac::analyzer {

class DanglingChecker : public Checker {
 public:
  DanglingChecker(const Sources& sources, Findings& findings)
      : sources_(sources), findings_(findings), temporaries_(sources) {}
  void on_node(CXCursor node, CXCursor parent, const Scope& scope) override;
  // A warning of clang under this option ("-Wdangling-gsl"), once the walk is over.
  void on_warning(std::string_view option, const Place& place, std::string_view message);

  // Uses of a variable, in the order of the text: reads and assignments.
  struct Touch {
    unsigned at;
    bool overwrites;
  };

 private:
  enum class Ends : std::uint8_t { kWithLine, kWithFunction };
  struct Block {
    CXCursor node;
    unsigned depth;
  };
  // A variable, and the block that it ends with.
  struct Owner {
    CXCursor variable;
    CXCursor block;
    bool lives_on;  // over the turns of its loop
  };
  void on_call(CXCursor call);
  void on_loop(CXCursor range_for);
  void on_variable(CXCursor variable, CXCursor parent);
  void on_function(CXCursor function);
  // `view` keeps the value.
  void on_kept(CXCursor view, CXCursor value, CXType type);
  [[nodiscard]] bool is_read_later(CXCursor view, CXCursor at, const Owner& owner);
  void add(const Place& place, std::string_view said, Ends ends, const std::string& fix = "");

  const Sources& sources_;
  Findings& findings_;
  Temporaries temporaries_;
  std::vector<Block> blocks_;  // around the node
  std::vector<Owner> owners_;
  std::map<std::string, std::vector<Touch>> touches_;  // of local views, by their USR
  std::vector<std::pair<Place, Place>> heads_;         // of loops
  std::set<std::pair<CXFile, unsigned>> told_;         // lines
};

}  // namespace mcpac::analyzer
