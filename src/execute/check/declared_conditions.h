// Declared conditions: whether every Narrow of a program says something that the grant language and
// the tool's schema know. The analyzer only sees that it is a text.
#pragma once

#include "analyzer/report.h"
#include "execute/check/authorities.h"

namespace mcpac::execute {

// A finding (narrow-where) for each that does not, at its place in the source; the program is then
// refused.
void check_conditions(const PolicyWorld& world, analyzer::Report& report);

}  // namespace mcpac::execute
