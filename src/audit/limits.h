// SPDX-License-Identifier: Apache-2.0

// Limits shared by the writer and the reader of audit files. An event that the writer admits must
// be readable, or a hostile program could make the whole log unreadable with one strange argument.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "audit/log.h"
#include "core/json.h"

namespace mcpac::audit {

inline constexpr std::string_view kFileEnding = ".jsonl";

// Deeper than parse_json admits by default: the arguments of a call lie some levels down in
// it.
inline constexpr JsonLimits kLineLimits{
    .max_bytes = kMaxEventBytes, .max_depth = 160, .max_values = kMaxEventBytes};

// Letters, digits and '-': a run id is also a file name.
[[nodiscard]] bool is_run_id(std::string_view text);

// The files of all runs whose ids begin with `start`, sorted. No folder means none.
[[nodiscard]] Result<std::vector<std::filesystem::path>> run_files(
    const std::filesystem::path& folder, std::string_view start);

[[nodiscard]] std::unexpected<Error> unknown_run(std::string_view id, std::size_t matches);

}  // namespace mcpac::audit
