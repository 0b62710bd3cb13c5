// SPDX-License-Identifier: Apache-2.0

// Judge: from the warden's report and the limits to the verdict that a host shows.
#pragma once

#include "sandbox/end_report.h"
#include "sandbox/sandbox.h"

namespace mcpac::sandbox {

// `killed_for`: the Verdict::Kind of our own kill, or -1.
[[nodiscard]] Verdict judge(const EndReport& report, const Limits& limits,
                            std::chrono::microseconds wall, int killed_for);

}  // namespace mcpac::sandbox
