// SPDX-License-Identifier: Apache-2.0

// System calls by name, for people, and where a call has a path among its arguments.
#pragma once

#include <optional>
#include <string>

namespace mcpac::sandbox {

// "socket"; "" where the number has no name that we know.
[[nodiscard]] std::string name_of_call(int call);
// The argument that points to the call's path; nothing where there is none.
[[nodiscard]] std::optional<unsigned> path_argument_of(int call);

}  // namespace mcpac::sandbox
