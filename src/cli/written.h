// SPDX-License-Identifier: Apache-2.0

// Messages of `generate` and `lock accept` about the files that they wrote, and about servers while
// they are asked.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/falls_under.h"
#include "project/generate_project.h"
#include "project/list_servers.h"
#include "project/project.h"

namespace mcpac::cli {

enum class Notes : std::uint8_t { kSome, kAll };

// `covering`: what falls_under() says of the tools in `fresh_in`.
void show_written(const Context& context, const project::GenerateReport& report,
                  const std::vector<FallsUnder>& covering, Notes notes);
[[nodiscard]] Json to_json(const project::GenerateReport& report,
                           const std::vector<FallsUnder>& covering);
// The tools that are new: those that wait, and those that came into the lock.
[[nodiscard]] std::vector<ToolDefinition> fresh_in(const project::GenerateReport& report);

// The project with no other servers than these; "*": with all.
[[nodiscard]] project::Project with_servers(project::Project project,
                                            const std::set<std::string>& servers);
// Of these servers, just written into mcpac.json, what is to be said of undeclared roots.
void propose_roots(const Context& context, const std::vector<std::string>& servers);

// "filesystem: connecting …" on a terminal; `counts` says also what came.
enum class Counts : std::uint8_t { kQuiet, kShow };
[[nodiscard]] project::OnProgress progress_of(const Context& context, Counts counts);

}  // namespace mcpac::cli
