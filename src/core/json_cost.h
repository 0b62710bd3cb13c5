// SPDX-License-Identifier: Apache-2.0

// JsonCost: memory that JSON values take in addition to their text.
//
// A text of few letters can say many values: `[{"":0},…]` takes 24 times its length. So a holder of
// untrusted values that bounds them counts that too; during parsing that is a few additions. About,
// of this library on a 64-bit machine: each value has its place, and what is allocated for it.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/json.h"

namespace mcpac {

struct JsonCost {
  static constexpr std::size_t kValue = 16;
  static constexpr std::size_t kText = 48;
  static constexpr std::size_t kArray = 32;
  static constexpr std::size_t kObject = 64;
  static constexpr std::size_t kMember = 80;
};

// As parse_json; the costs of all values are in `beside`, where they could be read.
[[nodiscard]] Result<Json> parse_json_counted(std::string_view text, const JsonLimits& limits,
                                              std::size_t& beside);
// The same of a value that was read elsewhere.
[[nodiscard]] std::size_t beside_text(const Json& value);

}  // namespace mcpac
