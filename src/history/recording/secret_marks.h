// SPDX-License-Identifier: Apache-2.0

// Secret marks: placeholders of secrets in a recording, and equality with them.
//
// `${env:NAME}`, `${file:PATH}` and `${login:SERVER}` stand for values of the configuration,
// `[redacted]` for what a schema calls secret. When a recording is played the values are not known,
// so a text with such marks fits every text that has something in their place. How much is said
// wrong by that: a call with another secret passes for the recorded one.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "history/recording/recording.h"

namespace mcpac::history {

// `after` is what is left of `before`: where a text changed, it has marks in it.
[[nodiscard]] Cleaned cleaned(const Json& before, Json after);

[[nodiscard]] bool fits_marks(std::string_view marked, std::string_view text);

struct JsonDifference {
  std::string pointer;           // RFC 6901; "" is the whole
  std::optional<Json> recorded;  // none: it is not there
  std::optional<Json> made;
};
// At most `most`, in the order of the members' names.
[[nodiscard]] std::vector<JsonDifference> differences(const Cleaned& recorded, const Json& made,
                                                      std::size_t most);

}  // namespace mcpac::history
