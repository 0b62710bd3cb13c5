// SPDX-License-Identifier: Apache-2.0

#include "policy/rules/miss_text.h"

#include <fmt/format.h>

namespace mcpac::policy {

std::string failing(std::string_view test) {
  const auto begins = [test](std::string_view word) { return test.starts_with(word); };
  if (begins("within ") || begins("in ")) return fmt::format("is not {}", test);
  if (begins("== ")) return fmt::format("is not {}", test.substr(3));
  if (begins("matches ")) return fmt::format("does not match {}", test.substr(8));
  return fmt::format("fails '{}'", test);
}

std::string unread(std::string_view test) {
  if (!test.starts_with("re ")) return failing(test);
  return fmt::format("is too long to be read by '{}'", test);
}

}  // namespace mcpac::policy
