// SPDX-License-Identifier: Apache-2.0

// Format: a policy file in the one spelling of the printer, a statement a line, with its comments.
#pragma once

#include <string>

#include "core/error.h"
#include "policy/text/source_text.h"

namespace mcpac::policy {

// What parses is printed anew; comments stay above or behind the statement that they stood at (one
// inside a statement moves above it), and of blank lines one is kept. The result means the same,
// and formatting it again changes nothing.
[[nodiscard]] Result<std::string> format(const SourceText& source);

}  // namespace mcpac::policy
