// SPDX-License-Identifier: Apache-2.0

// Json: parser with limits for untrusted text.
//
// nlohmann's own parse() lets the last of two equal keys win in silence, recurses as deep as the
// text asks and has no size limit; a checker and a server that read such a text differently are two
// programs. So every JSON text from outside comes in here: duplicate keys, excess depth, and excess
// size are refused with line and column. Never throws on bad text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/error.h"

namespace mcpac {

using Json = nlohmann::json;                 // members sorted by name
using OrderedJson = nlohmann::ordered_json;  // members in the order of the text: schemas, headers

struct JsonLimits {
  std::size_t max_bytes = 16U << 20U;  // 16 MiB: one frame (docs/protocol.md, "Limits")
  std::size_t max_depth = 128;         // real tool schemas stay below 40; deeper text is an attack
  std::size_t max_values = 2'000'000;  // bounds memory: 16 to 160 bytes each (json_cost.h)
};

// `where` names the text in the error: a file name, "server filesystem"; line and column are added.
[[nodiscard]] Result<Json> parse_json(std::string_view text, std::string_view where = "",
                                      const JsonLimits& limits = {});
[[nodiscard]] Result<OrderedJson> parse_ordered_json(std::string_view text,
                                                     std::string_view where = "",
                                                     const JsonLimits& limits = {});

// Compact text; invalid UTF-8 (which parse never lets in) becomes U+FFFD instead of an exception.
[[nodiscard]] std::string to_text(const Json& value);
[[nodiscard]] std::string to_text(const OrderedJson& value);

// The member as the type asked for, or nullptr / the fallback where it is absent or of another
// type.
[[nodiscard]] const Json* find_member(const Json& object, std::string_view name);
[[nodiscard]] std::string string_member(const Json& object, std::string_view name,
                                        std::string_view fallback = "");

}  // namespace mcpac
