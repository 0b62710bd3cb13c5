// SPDX-License-Identifier: Apache-2.0

#include "gateway/tracing/span.h"

#include "core/printable.h"

namespace mcpac::gateway::tracing {

std::string attribute_text(std::string_view text) {
  constexpr std::size_t kMaxText = 128;
  return printable(text, kMaxText);
}

}  // namespace mcpac::gateway::tracing
