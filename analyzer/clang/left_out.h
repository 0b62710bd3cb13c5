// SPDX-License-Identifier: Apache-2.0

// Left out: required arguments that are missing where C++ cannot say so (rule left-out-argument).
//
// `= {}` of a required list, map or free-form object is the empty one, and to the compiler the same
// as leaving the field out. What was written shows which it is.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "analyzer/clang/fields.h"
#include "analyzer/clang/findings.h"
#include "analyzer/clang/identity.h"
#include "analyzer/clang/sources.h"
#include "analyzer/clang/walker.h"

namespace mcpac::analyzer {

class LeftOutChecker : public Checker {
 public:
  LeftOutChecker(const Identity& identity, const Sources& sources, Findings& findings)
      : identity_(identity), sources_(sources), findings_(findings) {}
  void on_node(CXCursor node, CXCursor parent, const Scope& scope) override;
  // Arguments that were begun or made empty, and fields of theirs that nothing in the file names.
  // Of a program of several files those that were made empty may be filled elsewhere, and are left
  // to the gate.
  enum class Files : std::uint8_t { kOne, kSeveral };
  void finish(Files files);

 private:
  void on_library_call(CXCursor call);
  void check(CXCursor list, CXCursor record, const std::string& path);
  [[nodiscard]] bool may_be_empty(const Field& field);
  void check_value(CXCursor value, CXType type, const std::string& path);
  void report(CXCursor at, CXCursor record, const Field& field, const std::string& path,
              const char* fix);
  [[nodiscard]] CXCursor generated(CXType type) const;

  const Identity& identity_;
  const Sources& sources_;
  Findings& findings_;
  Fields fields_;
  std::set<std::string> told_;  // by place
  std::vector<CXCursor> made_;  // constructor calls without arguments
  struct Begun {                // `Args a{.path = "x"};`, which may be filled afterwards
    CXCursor list;
    CXCursor record;
    std::string field;
  };
  std::vector<Begun> begun_;
  bool is_begun_ = false;           // the list that is checked is that of such a variable
  std::set<std::string> reached_;   // fields that something behind a `.` names, by USR
  std::set<std::string> named_;     // fields, by USR
  std::set<std::string> assigned_;  // structs that are assigned as a whole, by USR
};

}  // namespace mcpac::analyzer
