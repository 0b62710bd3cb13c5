// SPDX-License-Identifier: Apache-2.0

// SARIF 2.1.0: the problems of a report for code scanning.
//
// Refuses, warns and note become error, warning and note. A result is known again by its rule and
// the text of its line, not by the number of the line, so that an edit above it changes nothing.
#pragma once

#include <string_view>

#include "analyzer/source_texts.h"
#include "core/json.h"

namespace mcpac::analyzer {

// `version` is that of mcpac.
[[nodiscard]] Json to_sarif(const Report& report, const SourceTexts& sources,
                            std::string_view version);

}  // namespace mcpac::analyzer
