// SPDX-License-Identifier: Apache-2.0

// Fuzzes the JSON reader: whatever it accepts, both forms read alike and as the library does,
// writing and reading again gives the same value, and the canonical form is a fixed point.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/canonical_json.h"

namespace {

void demand(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto plain = mcpac::parse_json(text);
  const auto ordered = mcpac::parse_ordered_json(text);
  demand(plain.has_value() == ordered.has_value());
  if (!plain) {
    demand(plain.error() == ordered.error());
    demand(!plain.error().where.empty() || size > mcpac::JsonLimits{}.max_bytes);
    return 0;
  }
  demand(mcpac::Json::parse(text, nullptr, false) == *plain);
  demand(mcpac::parse_json(mcpac::to_text(*plain)) == *plain);
  const std::string canonical = mcpac::canonical_json(*plain);
  demand(canonical == mcpac::canonical_json(*ordered));
  const auto again = mcpac::parse_json(canonical);
  demand(again.has_value() && mcpac::canonical_json(*again) == canonical);
  return 0;
}
