// SPDX-License-Identifier: Apache-2.0

// Undefined functions: used by the program and defined in none of its files (rule
// undefined-function).
//
// Their code is in a file that was not given to the analyzer, so what it does with the program's
// tools is unknown; and the linker would refuse the program in words of its own.
#pragma once

#include <map>
#include <string>

#include "analyzer/clang/sources.h"
#include "analyzer/clang/walker.h"

namespace mcpac::analyzer {

// A function as messages name it, and where the program uses it first.
struct Undefined {
  std::string name;
  std::string file;
  Place place;

  [[nodiscard]] std::string message() const;
  static constexpr const char* kFix =
      "give the file that defines it too: -f FILE for each, or the folder of the program";
};

// By the name that all files know it under (USR).
using UndefinedFunctions = std::map<std::string, Undefined>;

class UndefinedChecker : public Checker {
 public:
  explicit UndefinedChecker(const Sources& sources) : sources_(sources) {}
  void on_node(CXCursor node, CXCursor parent, const Scope& scope) override;
  [[nodiscard]] UndefinedFunctions take() && { return std::move(found_); }

 private:
  const Sources& sources_;
  UndefinedFunctions found_;
};

}  // namespace mcpac::analyzer
