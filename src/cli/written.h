// What `generate` and `lock accept` say of the files that they wrote, and of servers while they
// are asked.
#pragma once

#include "cli/context.h"
#include "execute/project/generate_project.h"
#include "execute/project/list_servers.h"

namespace mcpac::cli {

enum class Notes : std::uint8_t { kSome, kAll };

void show_written(const Context& context, const execute::GenerateReport& report, Notes notes);
[[nodiscard]] Json to_json(const execute::GenerateReport& report);

// Of these servers, just written into mcpac.json, what is to be said of roots that nobody declared.
void propose_roots(const Context& context, const std::vector<std::string>& servers);

// "filesystem: connecting …" on a terminal; `counts` says also what came.
enum class Counts : std::uint8_t { kQuiet, kShow };
[[nodiscard]] execute::OnProgress progress_of(const Context& context, Counts counts);

}  // namespace mcpac::cli
