// SPDX-License-Identifier: Apache-2.0

// LockDiff: difference between the current offers of servers and mcpac.lock.
//
// It is what a person reads before approving, so it is complete: every part that the digest of a
// tool covers is compared, and a tool whose digest differs is never without a difference. "Probably
// renamed" is a hint for the reader and decides nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/lock.h"
#include "codegen/lock_entry.h"
#include "codegen/schema_change.h"
#include "core/json.h"
#include "core/tool_definition.h"

namespace mcpac::codegen {

struct TextChange {
  std::string before;  // the whole text; empty where there was none
  std::string after;
};

struct HintChange {
  std::string name;    // "readOnlyHint"
  std::string before;  // compact JSON; empty where it was not there
  std::string after;
};

// Declared needs of a tool or a server, in words (core/claims.h).
struct ClaimChanges {
  std::vector<std::string> gone;
  std::vector<std::string> fresh;
  [[nodiscard]] bool empty() const { return gone.empty() && fresh.empty(); }
};

struct FieldRename {
  std::string original;
  std::string before;  // C++ names
  std::string after;
};

struct ToolDiff {
  enum class Kind : std::uint8_t { kAdded, kWithdrawn, kChanged };
  Kind kind = Kind::kChanged;
  std::string permission;  // "server.tool"
  std::string tool;
  std::string digest_before;  // empty: not locked
  std::string digest_after;   // empty: not offered
  bool texts_only = false;    // changed: titles and descriptions, and nothing that decides (lock.h)
  std::optional<TextChange> title{};
  std::optional<TextChange> description{};
  std::vector<HintChange> hints{};
  SchemaChanges input{};
  SchemaChanges output{};
  std::vector<FieldRename> fields{};  // arguments that a program must call by another name
  ClaimChanges claims{};
  OrderedJson definition{};  // of an added tool, all of it; else null
  std::string like{};  // added: the withdrawn tool of the same shape; withdrawn: the added one
};

struct ServerDiff {
  enum class Kind : std::uint8_t { kKept, kNew, kGone };
  Kind kind = Kind::kKept;
  std::string server;
  std::size_t locked = 0;                // tools in the lock
  std::optional<TextChange> identity{};  // another server: none of it is called
  std::vector<EntryChange> entry{};      // what else mcpac.json says of how it is started
  ClaimChanges claims{};                 // of its manifest
  std::optional<TextChange> version{};   // what it calls itself; said, but nothing depends on it
  std::vector<ToolDiff> tools{};         // sorted by name; what is equal is not in it
  bool keeps_texts = false;              // the locked ones hold (mcpac.json: "texts": "locked")
  [[nodiscard]] std::size_t count(ToolDiff::Kind kind) const;
  // Tools that changed in texts alone.
  [[nodiscard]] std::size_t count_texts_only() const;
  [[nodiscard]] bool empty() const {
    return kind == Kind::kKept && !identity && entry.empty() && claims.empty() && !version &&
           tools.empty();
  }
  // Not the server that was approved: none of it is called.
  [[nodiscard]] bool is_another() const {
    return kind == Kind::kKept && (identity.has_value() || starts_another(entry));
  }
  // Something that was approved is not what is there.
  [[nodiscard]] bool drifted() const;
  [[nodiscard]] bool drifted_in_texts_alone() const;
};

using LockDiff = std::vector<ServerDiff>;

// `locked` or `live` may be null, not both; the listing must have gone through lockable().
[[nodiscard]] ServerDiff compare_server(const LockedServer* locked, const ServerListing* live);

// The declared needs of the tool or its server's manifest differ from the approved ones, and all
// else that decides is the same.
[[nodiscard]] bool needs_others(const LockedServer& locked, const LockedTool& tool,
                                const ServerListing& live, const OrderedJson& definition);

// Of all that it would approve, against what it was compared with, as 32 hexadecimal digits: half
// of a SHA-256, so that no server can make two differences of one digest.
[[nodiscard]] std::string digest_of(const LockDiff& diff);

// For people: lines without colours, escaped, each bounded; their number is not, because nothing
// that is approved may be left out. Of a long value it is the part that differs.
[[nodiscard]] std::string to_lines(const ServerDiff& diff);
// For programs: everything.
[[nodiscard]] Json to_json(const ServerDiff& diff);

}  // namespace mcpac::codegen
