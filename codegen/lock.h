// SPDX-License-Identifier: Apache-2.0

// Lock: the approved tool definitions, mcpac.lock. What is not in it cannot be called (ADR 0004).
//
// Per server its identity (command line or URL, secrets unexpanded), what else its entry says of
// how it is started (lock_entry.h) and what its manifest says that it needs; per tool the whole
// definition and its SHA-256 over canonical JSON (RFC 8785) of name, title, description,
// inputSchema, outputSchema and annotations, and of what the tool says that it needs
// (core/claims.h); and the SHA-256 of every generated header. The text is
// deterministic: same tools, same bytes. Loading recomputes every digest: an edited lock that does
// not fit itself is refused.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/claims.h"
#include "core/error.h"
#include "core/tool_definition.h"

namespace mcpac::codegen {

struct LockedTool {
  std::string name;      // the original MCP name
  std::string cpp_name;  // "mcp::filesystem::read_text_file"
  std::string digest;    // 64 hexadecimal digits
  OrderedJson definition;
};

struct LockedServer {
  std::string name;
  std::string identity;
  std::string implementation;
  std::string protocol_version;
  std::string cpp_name;           // "mcp::filesystem"
  std::vector<LockedTool> tools;  // sorted by name
  std::vector<Claim> claims{};    // of its manifest
  OrderedJson entry = nullptr;    // null: an older mcpac wrote it, and there is nothing to compare
};

struct Lock {
  std::vector<LockedServer> servers;           // sorted by name
  std::map<std::string, std::string> headers;  // "filesystem.hpp" -> SHA-256, all files of servers/

  [[nodiscard]] const LockedServer* find_server(std::string_view name) const;
  [[nodiscard]] const LockedTool* find_tool(std::string_view server, std::string_view tool) const;
};

// Some hundred servers of 1 MiB.
inline constexpr std::size_t kMaxLockBytes = std::size_t{256} << 20U;

// SHA-256 over the canonical JSON of the parts of a definition that a user approves.
[[nodiscard]] std::string definition_digest(const OrderedJson& definition);
// The same as older versions of mcpac had it, which kept no claims.
[[nodiscard]] std::string digest_without_claims(const OrderedJson& definition);
// Whether two definitions of one tool are the same but for texts: the title and the description,
// the `title` of the annotations, and `title`, `description` and `$comment` of the schemas, as far
// as these are strings. Hints are no texts: readOnlyHint decides what is recorded.
[[nodiscard]] bool differ_in_texts_alone(const OrderedJson& one, const OrderedJson& other);

[[nodiscard]] Result<Lock> parse_lock(std::string_view text, std::string_view where);
[[nodiscard]] std::string to_text(const Lock& lock);

}  // namespace mcpac::codegen
