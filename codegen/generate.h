// SPDX-License-Identifier: Apache-2.0

// generate: tool definitions in, the text of servers/ and of mcpac.lock out. Pure and
// deterministic.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/lock.h"
#include "core/error.h"
#include "core/tool_definition.h"

namespace mcpac::codegen {

// Something the user should know once: a schema that became Json, a name that changed.
struct Note {
  std::string permission;  // "github.create_issue"
  std::string place;       // JSON pointer into the definition
  std::string message;
};

struct Output {
  std::map<std::string, std::string> files;  // path below servers/ -> text
  Lock lock;                                 // with the digests of `files`
  std::vector<Note> notes;
};

// The tools of a listing that can stand in the lock, sorted by name, each name once; a note for
// every other. A tool that is left out cannot be called.
[[nodiscard]] ServerListing lockable(ServerListing listing, std::vector<Note>& notes);

// Generates every file from the listings. Hostile definitions are bounded, escaped or refused by
// name. What `known` holds already keeps its C++ names (names.h, step 3).
[[nodiscard]] Result<Output> generate(const std::vector<ServerListing>& servers,
                                      const Lock& known = {});

// Whether a tool's patterns that mcpac cannot check are left to its server (mcpac.json).
using ServerChecks = std::function<bool(std::string_view server, std::string_view tool)>;

// Notes on locked tools that the gate or clients do not take as they are: that arguments cannot be
// checked, so that no call is made or their server alone checks them, defaults that are not filled
// in, and client_form().
[[nodiscard]] std::vector<Note> notes_on_use(const Lock& lock, const ServerChecks& server_checks);

// The approved tools of `locked`, as if its server had just listed them.
[[nodiscard]] ServerListing listing_of(const LockedServer& locked);

// Output for the tools of a lock by themselves, under the names that it gave them. A lock that was
// not edited, and is of this version of mcpac, names just these headers.
[[nodiscard]] Result<Output> regenerate(const Lock& lock);

}  // namespace mcpac::codegen
