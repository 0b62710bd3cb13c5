// What the writer and the reader of audit files agree on. An event that the writer lets in must be
// readable, or a hostile program could make the whole log unreadable with one strange argument.
#pragma once

#include <string_view>

#include "audit/log.h"
#include "core/json.h"

namespace mcpac::audit {

inline constexpr std::string_view kFileEnding = ".jsonl";

// Deeper than what parse_json lets in by default: the arguments of a call lie some levels down in
// it.
inline constexpr JsonLimits kLineLimits{
    .max_bytes = kMaxEventBytes, .max_depth = 160, .max_values = kMaxEventBytes};

// Letters, digits and '-': a run id is also a file name.
[[nodiscard]] bool is_run_id(std::string_view text);

}  // namespace mcpac::audit
