// SPDX-License-Identifier: Apache-2.0

// The longest URI that lists, subscriptions and completion have to do with: each is kept, held
// against rules and lists, or both, for its sender.
#pragma once

#include <cstddef>

namespace mcpac::gateway {

inline constexpr std::size_t kMaxUri = 8'192;

}  // namespace mcpac::gateway
