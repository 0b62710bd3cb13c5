// SPDX-License-Identifier: Apache-2.0

// Call arguments: read and completed in one way for every caller: a program through its
// door, a person on the command line, a test in a policy file.
//
// JSON bounds no number, and a call with 1e400 is a call: rules must see it as the large number
// that it is, rather than never hear of it. So a number beyond double is taken as the largest
// finite one of its sign; what is decided is what is sent, and that value goes on from here.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"
#include "core/json.h"

namespace mcpac {

// parse_json(), but for numbers beyond double.
[[nodiscard]] Result<Json> parse_call(std::string_view text, std::string_view where = "");
// The text with every number whose magnitude is beyond double written as the largest finite one.
// Strings are left alone; a text that is no JSON stays none.
[[nodiscard]] std::string with_finite_numbers(std::string_view text);

}  // namespace mcpac
