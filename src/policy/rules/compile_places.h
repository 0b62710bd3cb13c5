// SPDX-License-Identifier: Apache-2.0

// Compiled places: compiled statements of one layer about files and the network.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "policy/match/host_pattern.h"
#include "policy/match/ip_network.h"
#include "policy/match/path_value.h"
#include "policy/places.h"
#include "policy/text/source_text.h"

namespace mcpac::policy {

struct Environment;

struct CompiledFiles {
  Components written;
  Components real;
  FileMode mode = FileMode::kReadOnly;
  std::string said_in;
  [[nodiscard]] bool lies_within(const CompiledFiles& outer) const {
    return begins_with(written, outer.written) && begins_with(real, outer.real);
  }
};

struct AnyHost {};  // any name, and public addresses
struct CompiledNetwork {
  std::variant<AnyHost, HostPattern, IpNetwork> hosts;
  std::uint16_t port = 0;  // 0: any
  std::string host;        // as it was written
  std::string said_in;
};

// Of one layer.
struct LayerPlaces {
  struct Statement {
    std::string text;  // as printed
    std::string said_in;
  };
  std::vector<Statement> statements;  // in their order
  std::vector<CompiledFiles> files;
  std::vector<CompiledNetwork> networks;
  std::optional<std::string> network_denied_in;
  std::optional<DeclaredPlaces> declared;  // then there is nothing else
};

[[nodiscard]] bool is_place(const ast::Statement& statement);
// Adds a statement, if it is one about places; where it stands is told by `source`.
[[nodiscard]] Result<void> add_place(const ast::Statement& statement, const SourceText& source,
                                     const Environment& environment, LayerPlaces& places);

// "./src" and the like, with the anchor put in place; "/" alone is refused.
[[nodiscard]] Checked<Components> read_place_path(const std::string& text, ast::Offset at,
                                                  const Environment& environment);

}  // namespace mcpac::policy
