// SPDX-License-Identifier: Apache-2.0

#include "gateway/oauth/principal_counter.h"

#include <algorithm>

namespace mcpac::gateway::oauth {

bool PrincipalCounter::has_room_for(const std::string& client, const std::string& subject) const {
  if (subjects_.contains(client)) return true;
  const auto of_subject =
      std::ranges::count_if(subjects_, [&](const auto& one) { return one.second == subject; });
  return subjects_.size() < limits_.all &&
         static_cast<std::size_t>(of_subject) < limits_.of_subject;
}

void PrincipalCounter::add(const std::string& client, const std::string& subject) {
  subjects_.emplace(client, subject);
}

}  // namespace mcpac::gateway::oauth
