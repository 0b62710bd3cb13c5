// SPDX-License-Identifier: Apache-2.0

// Shared code of the writers of the audit folder: the folder, and the error that it cannot be
// written.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/json.h"

namespace mcpac::audit {

// The words of an errno.
[[nodiscard]] std::string reason_of(int error);
[[nodiscard]] std::unexpected<Error> unwritable(const std::filesystem::path& path,
                                                std::string_view why_not);
// With the remedy for an errno.
[[nodiscard]] std::unexpected<Error> unwritable(const std::filesystem::path& path, int error);
// The folder, made where it is absent. One that others can write is refused: they could take
// records away, or put a file of their own where the next one belongs.
[[nodiscard]] Result<void> prepare_folder(const std::filesystem::path& folder);
// Iterative: the value may be deeper than the stack is.
[[nodiscard]] bool is_deeper_than(const Json& value, std::size_t limit);
// The same of a JSON text.
[[nodiscard]] bool is_deeper_than(std::string_view text, std::size_t limit);

}  // namespace mcpac::audit
