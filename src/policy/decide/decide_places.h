// SPDX-License-Identifier: Apache-2.0

// Decisions about places: files and destinations that all layers together admit.
#pragma once

#include <string_view>
#include <vector>

#include "policy/rules/compiled.h"

namespace mcpac::policy {

// By path; of each place the one statement that says most, and none that lies within another of the
// same mode or a wider one.
[[nodiscard]] std::vector<FilePlace> files_of(const std::vector<CompiledLayer>& layers);
// What is reachable, as if names led to public addresses; nothing of what `deny network` denies.
[[nodiscard]] std::vector<CompiledNetwork> networks_of(const std::vector<CompiledLayer>& layers);
[[nodiscard]] std::optional<PlaceRefusal> refusal_of(const std::vector<CompiledLayer>& layers,
                                                     PlaceKind kind);

[[nodiscard]] NetworkAnswer decide_network(const std::vector<CompiledLayer>& layers,
                                           std::string_view host, std::uint16_t port);
[[nodiscard]] NetworkAnswer decide_address(const std::vector<CompiledLayer>& layers,
                                           std::string_view host, const IpAddress& address,
                                           std::uint16_t port, AddressOf whose);

// Every file that `inner` covers, in no higher mode?
[[nodiscard]] bool covers(const CompiledFiles& outer, const CompiledFiles& inner);
// Every destination that `inner` covers?
[[nodiscard]] bool covers(const CompiledNetwork& outer, const CompiledNetwork& inner);

// The same before they are put into words.
[[nodiscard]] std::vector<CompiledFiles> compiled_files_of(
    const std::vector<CompiledLayer>& layers);

}  // namespace mcpac::policy
