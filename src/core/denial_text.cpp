// SPDX-License-Identifier: Apache-2.0

#include "core/denial_text.h"

#include <fmt/format.h>

namespace mcpac {

std::string denial_text(std::string_view reason, std::string_view rule, std::size_t other_rules) {
  std::string text(reason);
  if (!rule.empty()) text += fmt::format(" [{}]", rule);
  if (other_rules == 1) text += ", nor does 1 other rule admit it";
  if (other_rules > 1) text += fmt::format(", nor do {} other rules admit it", other_rules);
  return text;
}

}  // namespace mcpac
