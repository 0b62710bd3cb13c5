// Fold: an argument of a call as JSON, where the source alone tells its value.
//
// Folding errs to one side: whatever might run code of the program on the way (a constructor, a
// conversion, a variable that can change) is unknown. A wrong constant would promise a check that
// the run does not keep; "runtime" promises nothing.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "analyzer/clang/cx.h"
#include "analyzer/clang/fields.h"
#include "analyzer/clang/sources.h"
#include "analyzer/report.h"

namespace mcpac::analyzer {

class Folder {
 public:
  explicit Folder(const Sources& sources) : sources_(sources) {}

  // The arguments of one call. `expression` is what stands for the tool's Args, `args` their type;
  // nothing where the expression does not name the fields: then any may be passed.
  [[nodiscard]] std::optional<std::map<std::string, Argument>> arguments(CXCursor expression,
                                                                         CXType args);
  // Every field of Args as unknown: for a call whose arguments cannot be seen.
  [[nodiscard]] std::map<std::string, Argument> unknown_arguments(CXType args);

 private:
  [[nodiscard]] std::optional<Json> value(CXCursor expression, CXType target, unsigned depth);
  [[nodiscard]] std::optional<Json> text(CXCursor expression, unsigned depth);
  [[nodiscard]] std::optional<Json> called_text(CXCursor call, unsigned depth);
  [[nodiscard]] std::optional<Json> array(CXCursor list, CXType element, unsigned depth);
  [[nodiscard]] std::optional<Json> object(CXCursor list, CXType record, unsigned depth);
  [[nodiscard]] bool is_generated(CXType type) const;
  [[nodiscard]] CXType unwrapped(CXType type) const;

  const Sources& sources_;
  Fields fields_;
};

}  // namespace mcpac::analyzer
