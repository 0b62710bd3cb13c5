// Place names: whether a parameter is one for a path or a URL, by the words of its name and by what
// its schema says of it.
//
// For advice and for questions to records, never for a decision: what a server makes of a parameter
// it alone knows.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/json.h"

namespace mcpac::policy {

enum class ParameterKind : std::uint8_t { kNone, kPath, kUrl };

// By whole words, in any of the usual spellings: "outputPath", "file_name", "dirs"; not "profile",
// "direction".
[[nodiscard]] ParameterKind place_named(std::string_view parameter);
// By the "format" of its schema, or of its elements, and by the beginning of its description:
// "Absolute path of the file"; not "Content to write to the file".
[[nodiscard]] ParameterKind place_described(const Json& schema);
// Names that are of places as often as of something else: source, target, root.
[[nodiscard]] bool may_name_place(std::string_view parameter);

}  // namespace mcpac::policy
