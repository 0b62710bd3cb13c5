// SPDX-License-Identifier: Apache-2.0

// Declared conditions: check of every Narrow of a program against the grant language and the tool's
// schema. The analyzer only sees that it is a text.
#pragma once

#include "analyzer/report.h"
#include "run/check/authorities.h"

namespace mcpac::run {

// A finding (narrow-where) for each that does not, at its place in the source; the program is then
// refused.
void check_conditions(const PolicyWorld& world, analyzer::Report& report);

}  // namespace mcpac::run
