// SPDX-License-Identifier: Apache-2.0

// Claims: needs that a tool or a server declares: files, network, programs, variables
// (docs/configuration.md, "Declared needs of a server").
//
// A tool says it in its definition (`_meta["io.mcpac/effects"]`), a server in a manifest beside its
// package, in the words of mcpac ("FsRead") or of AgentBound ("mcp.ac.filesystem.read"). Nothing is
// granted by one: a claim can only move a tool towards "no". All of it is hostile input: what is
// malformed, too long or holds what no reader sees is dropped and told, and costs no other claim.
// The server's words in a Claim are fit for a terminal.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace mcpac {

inline constexpr const char* kEffectsMember = "io.mcpac/effects";  // in the `_meta` of a tool
inline constexpr std::size_t kMaxManifestBytes = std::size_t{256} << 10U;

struct Claim {
  enum class Kind : std::uint8_t {
    kReadFiles,
    kWriteFiles,
    kNetwork,
    kProgram,
    kVariable,
    kOther  // databases, clocks, cameras: shown, and nothing follows from it
  };
  std::string effect;  // as it was said: "NetRead", "mcp.ac.filesystem.read"
  // One of the two, or neither: a path, "HOST:PORT", a program or a variable; or the argument of
  // the tool that names it.
  std::string target{};
  std::string argument{};
  std::string tool{};     // of a manifest: of this tool alone; empty: of all tools
  bool required = false;  // said so: it cannot work without

  [[nodiscard]] Kind kind() const;
  friend auto operator<=>(const Claim&, const Claim&) = default;
};

struct Claims {
  std::vector<Claim> list{};           // sorted, each once
  std::vector<std::string> dropped{};  // why, one line for each that was left out; for people
};

// An array of claims, as `_meta["io.mcpac/effects"]` has it.
[[nodiscard]] Claims read_claims(const OrderedJson& value);
// Of a tool's definition; none where it says nothing.
[[nodiscard]] Claims claims_of_tool(const OrderedJson& definition);
// The text of a manifest: {"effects": […]} or {"permissions": […]}.
[[nodiscard]] Claims read_manifest(std::string_view text);
// Puts what claims_of_tool() found where the server's words were; whatever else `_meta` has stays.
void write_claims(OrderedJson& definition, const std::vector<Claim>& claims);

// As read_claims() reads it.
[[nodiscard]] OrderedJson to_json(const std::vector<Claim>& claims);

// "network api.github.com:443", "reads ./data", "writes what its argument \"path\" names".
[[nodiscard]] std::string words_of(const Claim& claim);
// The same with "(required)" or "(optional)", and the tool where it is of one alone.
[[nodiscard]] std::string text_of(const Claim& claim);
// "says it needs: network api.github.com:443 (required); reads ./data (optional)"; at most 8 are
// named. Empty for none.
[[nodiscard]] std::string text_of(const std::vector<Claim>& claims);

// Of a server's claims those that are about this tool.
[[nodiscard]] std::vector<Claim> claims_about(const std::vector<Claim>& of_server,
                                              std::string_view tool);

}  // namespace mcpac
