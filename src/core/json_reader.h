// SPDX-License-Identifier: Apache-2.0

// JsonReader: JSON as almost all of it is written, read in runs.
//
// The library reads letter by letter: of a call, whose request and answer are read, that was as
// much as all that is done with them. So a text is read here first. What this reader takes is what
// the library would take, the same value from the same text; of whatever it is not certain about
// (an error, a limit, a number beyond 64 bits, a mark at the beginning) it says nothing, and the
// library alone says what is wrong with a text, and where. Tests and a fuzzer hold the two against
// each other.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "core/json.h"

namespace mcpac {

// For Json and OrderedJson. Nothing: the library is to read it. `cost`: what the values take beside
// their text (JsonCost).
template <class Value>
[[nodiscard]] std::optional<Value> read_plain_json(std::string_view text, const JsonLimits& limits,
                                                   std::size_t* cost = nullptr);

}  // namespace mcpac
