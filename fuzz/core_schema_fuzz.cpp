// SPDX-License-Identifier: Apache-2.0

// Fuzzes the schema compiler and validator: the first line is the schema, the rest the value.
//
// Nothing may crash or hang, and a schema's opposite says the opposite, unless a limit was met.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "core/json_schema.h"

namespace {

void demand(bool holds) {
  if (!holds) std::abort();
}

bool met_a_limit(const std::optional<mcpac::SchemaViolation>& violation) {
  return violation && violation->keyword == "limit";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto end = text.find('\n');
  if (end == std::string_view::npos) return 0;
  const auto schema_json = mcpac::parse_json(text.substr(0, end));
  auto value = mcpac::parse_json(text.substr(end + 1));
  if (!schema_json || !value) return 0;
  const auto schema = mcpac::JsonSchema::compile(*schema_json);
  if (!schema) return 0;
  const auto violation = (*schema)->validate(*value);
  // Wrapping moves "#/…" references, so the opposite may not compile; where it does not refer at
  // all it must.
  if (mcpac::to_text(*schema_json).find('$') == std::string::npos) {
    const auto opposite = mcpac::JsonSchema::compile({{"not", *schema_json}});
    demand(opposite.has_value());
    const auto answer = (*opposite)->validate(*value);
    if (!met_a_limit(violation) && !met_a_limit(answer))
      demand(violation.has_value() != answer.has_value());
  }
  static_cast<void>((*schema)->fill_defaults(*value));  // false: bounded
  return 0;
}
