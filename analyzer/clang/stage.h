// SPDX-License-Identifier: Apache-2.0

// Stage: the worker's current step, named when a source is refused because it takes too long.
//
// The limit lies below the host's own, which ends the worker without a word. A thread of its own
// waits for it: clang cannot be interrupted and then asked.
#pragma once

#include <chrono>
#include <functional>

namespace mcpac::analyzer {

// Texts that are never freed: "parsing it".
void set_stage(const char* stage);

// Calls `too_long` with the stage, on a thread of its own, when the process has used this much time
// of the processor and has not ended.
// Without threads there is only the host's limit.
void watch(std::chrono::seconds limit, std::function<void(const char*)> too_long);

}  // namespace mcpac::analyzer
