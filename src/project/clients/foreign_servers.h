// SPDX-License-Identifier: Apache-2.0

// ForeignServers: entries of another client's file for mcpac.json (`mcpac server add --import`).
//
// Every server by itself: one that mcpac cannot have does not keep the others out. Read as editors
// read such files, comments and commas at the end included. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "project/clients/adopt.h"

namespace mcpac::project {

struct ForeignServer {
  std::string name;                  // as mcpac.json can have it
  Result<OrderedJson> entry;         // as mcpac.json would have it, or why it cannot
  std::vector<std::string> notes{};  // what stands otherwise there (Adopted::notes)
  std::string original{};            // its name in the file
};

// In the order of the file, in the words of mcpac.json: "mcpServers" of any client, "servers" of
// VS Code (also below "mcp", in its settings), "context_servers" of Zed. A name that mcpac.json
// cannot have becomes one that it can, and stands as "original_name" in the entry. Values stay
// where they stand (literal_secrets.h says which look like secrets): only `mcpac connect --adopt`
// moves secrets into files of their own. An Error where the text is no JSON, or has neither.
[[nodiscard]] Result<std::vector<ForeignServer>> read_foreign_servers(
    std::string_view text, const std::string& where,
    const IsOfAnother& is_of_another = [](const auto&, const auto&) { return false; });

}  // namespace mcpac::project
