// SPDX-License-Identifier: Apache-2.0

// Search: the tools of a lock ranked by words over server, name, title, description and arguments.
//
// Works on the lock alone, so it is offline and finds only what may be called. The index is SQLite
// FTS5 in memory, made for one question: words match by their stem or beginning in any spelling of
// a name, rare words count more, a name counts more than a sentence. Equal questions get equal
// answers: ties stand in the order of the lock. What is asked is never read as query syntax.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/lock.h"

namespace mcpac::codegen {

struct SearchHit {
  const LockedServer* server = nullptr;
  const LockedTool* tool = nullptr;
  double score = 0;
  std::string
      argument{};  // original name of the argument that fits the words best; "" if none does
};

// Best first, at most `limit`; the pointers live as long as `lock`.
[[nodiscard]] std::vector<SearchHit> search_tools(const Lock& lock, std::string_view words,
                                                  std::size_t limit = 20);

}  // namespace mcpac::codegen
