// SPDX-License-Identifier: Apache-2.0

// unless_over(): for the two files of SessionOffers.
#pragma once

#include <memory>
#include <utility>

#include "gateway/mcp_session.h"
#include "gateway/session_offers.h"

namespace mcpac::gateway {

// The request waits from here on. What comes when the session is gone, or the client took it back,
// is dropped.
template <class Then>
auto SessionOffers::unless_over(const ipc::Id& id, Then then) {
  waiting_.insert(id);
  return [this, weak = session_.weak_from_this(), id, then = std::move(then)](auto&&... with) {
    const auto session = weak.lock();
    if (!session || waiting_.erase(id) == 0) return;
    then(std::forward<decltype(with)>(with)...);
  };
}

}  // namespace mcpac::gateway
