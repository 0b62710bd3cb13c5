// SPDX-License-Identifier: Apache-2.0

// ObjectCheck: check of a program's compiled object for things that its source may have hidden.
//
// The analyzer reads source; a macro or a template that fooled it still ends as a symbol, a section
// or a pointer here. Four questions: what does the program need from outside (object-symbol), what
// of the runtime or the libraries does it define itself (object-override), what runs before its
// entry or lies in an odd section (object-section), and, once linked, does its note declare what
// the analysis saw (object-note).
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/object_file.h"
#include "analyzer/report.h"

namespace mcpac::analyzer {

// Whether the runtime or a library that is linked defines this name.
using IsDefinedElsewhere = std::function<bool(std::string_view symbol)>;

// All objects of one program together: what one of them defines, another may need. What the
// source's findings say already is left out.
[[nodiscard]] std::vector<Finding> check_objects(const std::vector<ObjectFile>& objects,
                                                 const IsDefinedElsewhere& is_defined_elsewhere,
                                                 const Report& source);

// `noted`: what the note of the linked program declares (binary_note.h); nothing: it has none.
[[nodiscard]] std::vector<Finding> check_note(const std::optional<std::vector<Declared>>& noted,
                                              const Report& source);

}  // namespace mcpac::analyzer
