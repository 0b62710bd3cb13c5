// The metaschemas of the two dialects, for the rare tool that takes a JSON Schema as an argument.
#pragma once

#include <optional>
#include <string_view>

namespace mcpac::schema {

// The text of the metaschema that the URI (without fragment) names, if it is one.
[[nodiscard]] std::optional<std::string_view> metaschema(std::string_view uri);

}  // namespace mcpac::schema
