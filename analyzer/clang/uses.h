// SPDX-License-Identifier: Apache-2.0

// Uses: every place where the program calls a tool, or hands the callable on.
//
// A call in a template is reported per instantiation; the template as written only adds what no
// instantiation showed, with unknown arguments (rule dependent-call). A callable that the program
// only gives another name (a reference, a pointer to member, a parameter of a function of its own)
// is used where that name is: its type says which tool it calls. One that goes where no call is
// seen (std::invoke, std::function) counts as a use with unknown arguments. A call in a loop over a
// list that the source spells out is one use for each element.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/clang/findings.h"
#include "analyzer/clang/fold.h"
#include "analyzer/clang/identity.h"
#include "analyzer/clang/tokens.h"
#include "analyzer/clang/walker.h"

namespace mcpac::analyzer {

class UseChecker : public Checker {
 public:
  UseChecker(CXTranslationUnit unit, const Identity& identity, const Sources& sources,
             Variables variables)
      : unit_(unit), identity_(identity), sources_(sources), folder_(sources, variables) {}

  void on_node(CXCursor node, CXCursor parent, const Scope& scope) override;
  // Whether a function or a class of that name, its last, calls the tool.
  [[nodiscard]] bool calls(std::string_view name, std::string_view permission) const;
  // The uses in the order of the source; what only a template as written names is added for the
  // permissions that the entry declares, each with a note.
  [[nodiscard]] std::vector<Use> finish(const std::vector<Declared>& declared, Findings& findings);

 private:
  struct Seen {
    Use use;
    unsigned from = 0;
    unsigned to = 0;  // the text of the call, as offsets in its file
    bool as_written = false;
    bool only_named = false;  // says what a template as written means here, and is no use
    // Within one use of a macro all offsets are the same; where its text is spelled they are not.
    bool from_macro = false;
    Place spelled{};
  };
  void on_call(CXCursor call, const Scope& scope);
  // Callables that stay where every call of them is seen.
  void account(CXCursor expression);
  void account_for_parts(CXCursor node);
  void account_for_arguments(CXCursor call, CXCursor function);
  void account_for_elements(CXCursor list);
  void on_mention(CXCursor mention, CXCursor parent, const Scope& scope);
  void on_dependent_member(CXCursor member, const Scope& scope);
  // Without `arguments` nothing is known of them but their type, `args`: the use is open.
  void record(const std::string& permission, CXCursor node,
              std::optional<Folder::Arguments> arguments, CXType args, const Scope& scope);

  CXTranslationUnit unit_;
  const Identity& identity_;
  const Sources& sources_;
  Folder folder_;
  std::vector<Seen> seen_;
  std::vector<CXCursor> called_;  // callables that what stands around them accounted for
};

}  // namespace mcpac::analyzer
