// SPDX-License-Identifier: Apache-2.0

// ListKind: the lists that a server has besides its tools.
#pragma once

#include <cstdint>
#include <string_view>

namespace mcpac::gateway {

enum class ListKind : std::uint8_t { kResources, kTemplates, kPrompts };

// "resources/list"; the member of its result; the member by which an entry is known.
[[nodiscard]] std::string_view method_of(ListKind kind);
[[nodiscard]] std::string_view member_of(ListKind kind);
[[nodiscard]] std::string_view key_of(ListKind kind);
// The capability that a server has it with: "resources", "prompts".
[[nodiscard]] std::string_view capability_of(ListKind kind);

}  // namespace mcpac::gateway
