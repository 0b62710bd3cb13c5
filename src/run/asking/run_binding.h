// SPDX-License-Identifier: Apache-2.0

// The digests that an answer is bound to (gate::Binding), made of what a run really uses.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"
#include "gate/approver.h"
#include "mcp/server_config.h"
#include "policy/authority.h"
#include "project/known_lock.h"

namespace mcpac::run {

// `program` is its own digest; `authority` all layers that the run decides by.
[[nodiscard]] gate::Binding bind_run(std::string program, const project::LockDigests& digests,
                                     const mcp::Config& config, const policy::Authority& authority);

// Of what a run was given (--arguments); empty where that is nothing.
[[nodiscard]] std::string digest_of_arguments(const Json& given);

// A compiled program: its bytes and the arguments that it starts with.
[[nodiscard]] Result<std::string> digest_of_program(const std::filesystem::path& file,
                                                    const std::vector<std::string>& arguments);

}  // namespace mcpac::run
