// SPDX-License-Identifier: Apache-2.0

// Miss text: the reason why a test does not hold, the same for a decision and a forecast.
#pragma once

#include <string>
#include <string_view>

namespace mcpac::policy {

// "is not within ./data", from the test as printed.
[[nodiscard]] std::string failing(std::string_view test);
// The same of a value that the test cannot read: "is too long to be read by 're /a+/'".
[[nodiscard]] std::string unread(std::string_view test);

}  // namespace mcpac::policy
