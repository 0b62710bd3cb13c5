// SPDX-License-Identifier: Apache-2.0

// The lead's files on the host (analyzer/lead.h says what a lead is), in a folder that a tool's
// sandbox gets as analyzer::lead::kFolder.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/error.h"
#include "sandbox/sandbox.h"

namespace mcpac::toolchain {

// To the program whose source lies at this path inside. `folder` is there, and empty.
[[nodiscard]] Result<void> write_lead(const std::filesystem::path& folder, std::string_view source);

// For a program that is not known yet. The tool at its pipe has read what programs use, as the
// headers of `prepared` have it; headers of an older mcpac lack it, which is an error.
[[nodiscard]] Result<void> write_waiting_lead(const std::filesystem::path& folder,
                                              const std::filesystem::path& prepared);
[[nodiscard]] std::filesystem::path pipe_of_lead(const std::filesystem::path& folder);

[[nodiscard]] sandbox::Mount mount_of_lead(const std::filesystem::path& folder);

// Clang's words without how it came from the lead to the program.
[[nodiscard]] std::string without_lead(std::string_view diagnostics);

}  // namespace mcpac::toolchain
