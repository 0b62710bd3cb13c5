// Search: the tools of a lock ranked by words over names, titles, descriptions and argument names.
//
// Works on the lock alone, so it is offline and finds only what may be called. Words match whole or
// by their beginning, rare words count more, a name counts more than a sentence.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "codegen/lock.h"

namespace mcpac::codegen {

struct SearchHit {
  const LockedServer* server = nullptr;
  const LockedTool* tool = nullptr;
  double score = 0;
};

// Best first, at most `limit`; the pointers live as long as `lock`.
[[nodiscard]] std::vector<SearchHit> search_tools(const Lock& lock, std::string_view words,
                                                  std::size_t limit = 20);

}  // namespace mcpac::codegen
