// SPDX-License-Identifier: Apache-2.0

// One use as people read it.
#pragma once

#include <string>

#include "analyzer/report.h"

namespace mcpac::analyzer {

// "filesystem.read_text_file(path = "a", head = (run time))  agent.cpp:3:5 in agent_main", fit for
// a terminal; "…" stands for arguments that cannot be read off.
[[nodiscard]] std::string use_text(const Use& use);

}  // namespace mcpac::analyzer
