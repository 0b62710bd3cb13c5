// SARIF 2.1.0: the problems of a report for code scanning.
//
// Refuses, warns and note become error, warning and note. A result is known again by its rule and
// the text of its line, not by the number of the line, so that an edit above it changes nothing.
#pragma once

#include <string_view>

#include "analyzer/report.h"
#include "core/json.h"

namespace mcpac::analyzer {

// `source` is the text of report.file; `version` that of mcpac.
[[nodiscard]] Json to_sarif(const Report& report, std::string_view source,
                            std::string_view version);

}  // namespace mcpac::analyzer
