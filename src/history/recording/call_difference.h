// SPDX-License-Identifier: Apache-2.0

// Messages about calls that a recording does not have, or not yet, and about recorded calls that
// were not made.
#pragma once

#include <optional>
#include <string>

#include "history/recording/play_order.h"
#include "history/recording/recording.h"

namespace mcpac::history {

// No recorded call fits: beside the nearest, by which of the arguments.
[[nodiscard]] Error unknown_call(const Recording& recording, const PlayOrder& order,
                                 const std::string& tool, const Json& arguments);
// The recorded call fits, and `before` had to come first.
[[nodiscard]] Error early_call(const Recording& recording, std::size_t call, std::size_t before);
[[nodiscard]] Error unmade_call(const Recording& recording, std::size_t call);
// What the user gives the program is not what it was given when it was recorded; none: it fits.
[[nodiscard]] std::optional<Error> other_arguments(const Cleaned& recorded, const Json& given);
// The client answered a question otherwise than recorded, or does not answer such questions.
[[nodiscard]] Error other_reply(const RecordedCall& call, const Said& said,
                                const Result<Json>& reply);

}  // namespace mcpac::history
