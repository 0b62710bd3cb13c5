// Miss text: why a test does not hold, as a decision and a forecast both say it.
#pragma once

#include <string>
#include <string_view>

namespace mcpac::policy {

// "is not within ./data", from the test as printed.
[[nodiscard]] std::string failing(std::string_view test);
// The same of a value that the test cannot read: "is too long to be read by 're /a+/'".
[[nodiscard]] std::string unread(std::string_view test);

}  // namespace mcpac::policy
