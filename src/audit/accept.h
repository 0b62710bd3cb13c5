// SPDX-License-Identifier: Apache-2.0

// Accept: a person says that they know why a run has no closing record (`kill -9`, a power cut).
//
// Such a run cannot be told from one whose end was cut off together with the end of the index, so
// no process of mcpac ever does this by itself. What is accepted is the log as it lies there: its
// number of records and the hash of the last go into the index, signed, and whatever is changed or
// cut off afterwards is tampering.
#pragma once

#include <filesystem>
#include <string>

#include "audit/signing_key.h"
#include "core/clock.h"
#include "core/error.h"

namespace mcpac::audit {

// `run`: an id or an unambiguous start of one; returns the whole id. kUsage of one that has another
// standing, kAuditTampered of one that was changed: only unfinished runs are accepted.
[[nodiscard]] Result<std::string> accept(const std::filesystem::path& folder,
                                         const std::string& run, const Clock& clock);

}  // namespace mcpac::audit
