// SPDX-License-Identifier: Apache-2.0

// Parameter names: the purpose of a parameter, by the words of its name and by its schema.
//
// A deny or ask over "*" reads a text as its parameter's name suggests (MeantAs): that is a net.
// Advice and questions to records ask for the finer ParameterKind. No allow hangs on either, for
// what a server makes of a parameter it alone knows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "policy/match/matcher.h"

namespace mcpac::policy {

// The words of "oldText", "file_path2" and "output-dir", in small letters; at most `most`.
[[nodiscard]] std::vector<std::string> words_of(std::string_view name, std::size_t most = 1'000);

// What strings of a parameter with this name are for. The last word of a name says what it is: a
// "file_content" is content.
[[nodiscard]] MeantAs meaning_by_name(std::string_view name);
// What its schema says of it, where that is known, and the name says otherwise: a "format" of
// places goes before the name, a place in the description behind it.
[[nodiscard]] MeantAs meaning_of_member(std::string_view name, const Json* schema);

// Of one that no schema names: a place or a command where its name says so, and else not known.
[[nodiscard]] MeantAs meaning_of_unnamed(std::string_view name);

enum class ParameterKind : std::uint8_t { kNone, kPath, kUrl };

// By whole words, in any of the usual spellings: "outputPath", "config_file", "dirs"; not
// "profile", "direction", "file_name".
[[nodiscard]] ParameterKind place_named(std::string_view parameter);
// By the "format" of its schema, or of its elements, and by the beginning of its description:
// "Absolute path of the file"; not "Content to write to the file".
[[nodiscard]] ParameterKind place_described(const Json& schema);
// Names that are of places as often as of something else: source, target, root.
[[nodiscard]] bool may_name_place(std::string_view parameter);

}  // namespace mcpac::policy
