// SPDX-License-Identifier: Apache-2.0

// Enumerators: C++ names of the values of an enum.
//
// The rule of names.h, after one step that is for values alone, since values are often no words:
// "+1" and "-1" are plus_1 and minus_1 (as "-created" is minus_created), "" is empty, and a value
// without a letter or a digit is spelled (">=" is greater_equals). Other values cannot change the
// name of one that is legal from the start.
#pragma once

#include <string>
#include <vector>

#include "codegen/model.h"

namespace mcpac::codegen {

// The enumerators of `values`, in their order; values must be distinct strings, numbers or
// booleans.
[[nodiscard]] std::vector<Enumerator> enumerators_of(const std::vector<OrderedJson>& values);

}  // namespace mcpac::codegen
