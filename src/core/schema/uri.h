// SPDX-License-Identifier: Apache-2.0

// References between schemas: the part of RFC 3986 that "$id" and "$ref" need. Nothing is ever
// fetched; a URI is a name here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpac::schema {

struct Reference {
  std::string uri;       // absolute, without fragment
  std::string fragment;  // percent-decoded: "" | "/pointer" | "anchor"
};

// `reference` as seen from `base` (RFC 3986, section 5.2).
[[nodiscard]] Reference resolve(std::string_view base, std::string_view reference);

// "/a~1b/0" as {"a/b", "0"}; nothing when it is not a JSON pointer (RFC 6901).
[[nodiscard]] std::optional<std::vector<std::string>> pointer_tokens(std::string_view pointer);
// One token as it stands in a pointer: "a/b" as "a~1b".
[[nodiscard]] std::string pointer_token(std::string_view name);

}  // namespace mcpac::schema
