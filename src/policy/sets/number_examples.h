// Number examples: for given bounds, numbers that stand for all that a call can hold.
//
// A call holds what JSON parses to here: 64-bit integers and doubles, each the decimal that its
// text says. So between two bounds lie the neighbours of the bounds, or nothing.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"

namespace mcpac::policy {

// `bounds` are numbers as JSON spells them; readable examples come first.
[[nodiscard]] std::vector<Json> number_examples(const std::vector<std::string>& bounds);

}  // namespace mcpac::policy
