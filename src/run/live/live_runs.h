// SPDX-License-Identifier: Apache-2.0

// Live runs: a folder of sockets, one a run, and how to talk to what listens there.
//
// The folder is the user's alone (0700, checked), so is every socket (0600); each end asks the
// kernel who the other is. One JSON object a line each way (docs/asking.md, "Live runs").
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/file.h"
#include "core/json.h"

namespace mcpac::run {

inline constexpr std::size_t kMaxControlLine = std::size_t{1} << 20U;

// core/socket_folder.h
[[nodiscard]] Result<UniqueFd> open_runs_folder(const std::filesystem::path& folder);

// Ids of the runs that listen, oldest first. Sockets without a listener are removed.
[[nodiscard]] Result<std::vector<std::string>> live_runs(const std::filesystem::path& folder);
// The same without waiting for any process, and without a folder where there is none.
void sweep_dead_runs(const std::filesystem::path& folder);
// The one live run whose id begins so: kUnknownRun for none and for several.
[[nodiscard]] Result<std::string> find_live_run(const std::filesystem::path& folder,
                                                std::string_view start);
// Asks one run and waits at most some seconds for its answer. An answer that is an error comes back
// as one; kRunUnreachable where there is none.
[[nodiscard]] Result<Json> ask_live_run(const std::filesystem::path& folder, std::string_view id,
                                        const Json& request);

}  // namespace mcpac::run
