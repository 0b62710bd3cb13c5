// SPDX-License-Identifier: Apache-2.0

// Fold: an argument of a call as JSON, where the source alone tells its value.
//
// Folding errs to one side: whatever might run code of the program on the way (a constructor, a
// conversion, a variable that can change) is unknown. A wrong constant would promise a check that
// the run does not keep; "runtime" promises nothing.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/clang/bindings.h"
#include "analyzer/clang/cx.h"
#include "analyzer/clang/fields.h"
#include "analyzer/clang/sources.h"
#include "analyzer/report.h"

namespace mcpac::analyzer {

// One initialiser of a braced list: `.name = value`, or a value by its position.
struct Item {
  std::string field;
  CXCursor value;
};
// Nothing for a designator of several steps: .a.b = x, .a[1] = x
[[nodiscard]] std::optional<Item> item_of(CXCursor child);

class Folder {
 public:
  using Arguments = std::map<std::string, Argument>;

  Folder(const Sources& sources, Variables variables)
      : sources_(sources), bindings_(sources, variables) {}

  // The loops around a call are told before it.
  void enter_loop(CXCursor range_for) { bindings_.add_loop(range_for); }
  // The arguments of one call, once for every combination of the elements that the variables of
  // loops stand for. `expression` is what stands for the tool's Args, `args` their type; nothing
  // where the expression does not name the fields: then any may be passed.
  [[nodiscard]] std::optional<std::vector<Arguments>> arguments(CXCursor expression, CXType args);
  // Every field of Args as unknown: for a call whose arguments cannot be seen.
  [[nodiscard]] Arguments unknown_arguments(CXType args);

 private:
  using Folded = std::optional<Json>;
  // Expressions nest as deep as people write them; a value deeper than this is not worth knowing.
  static constexpr unsigned kMaxDepth = 64;

  [[nodiscard]] std::optional<Arguments> one_call(CXCursor list, CXType record);
  [[nodiscard]] Folded value(CXCursor expression, CXType target, unsigned depth);
  [[nodiscard]] Folded array(CXCursor list, CXType element, unsigned depth);
  [[nodiscard]] Folded object(CXCursor list, CXType record, unsigned depth);
  [[nodiscard]] bool is_generated(CXType type) const;
  [[nodiscard]] CXType unwrapped(CXType type) const;

  // Text, with the numbers and choices on its way, and results of functions.
  [[nodiscard]] Folded text(CXCursor expression, unsigned depth);
  [[nodiscard]] Folded named_text(CXCursor reference, unsigned depth);
  [[nodiscard]] Folded called_text(CXCursor call, unsigned depth);
  [[nodiscard]] Folded library_text(CXCursor call, CXCursor function, unsigned depth);
  [[nodiscard]] Folded text_of_parts(const std::vector<CXCursor>& parts, unsigned depth);
  [[nodiscard]] Folded element_text(CXCursor list, CXCursor index, unsigned depth);
  [[nodiscard]] Folded text_of_function(CXCursor call, CXCursor function, unsigned depth);
  [[nodiscard]] Folded chosen_text(CXCursor conditional, unsigned depth);
  [[nodiscard]] Folded number(CXCursor expression);
  [[nodiscard]] Folded number_here(CXCursor expression) const;
  [[nodiscard]] Folded compared(CXCursor comparison);

  const Sources& sources_;
  Bindings bindings_;
  Fields fields_;
};

}  // namespace mcpac::analyzer
