// SPDX-License-Identifier: Apache-2.0

// LockEntry: the part of a server's entry that mcpac.lock keeps beside its identity, so that a
// changed mcpac.json starts no other program than the one that was approved, and none with more.
//
// {"cwd": "./x", "env": {"PATH": "/opt/bin:/usr/bin", "TOKEN": "${env:TOKEN}", "MODE":
// "sha256:…"}, "headers": {…}, "sandbox": {"files": ["./data:rw"]}}; a member that says nothing is
// not there, and no "sandbox" means none (mcp::ServerConfig::entry()). What is taken from a server,
// as a "sandbox" that it gets or one that gives less, is no other server.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json.h"

namespace mcpac::codegen {

struct EntryChange {
  enum class Effect : std::uint8_t {
    kAnother,  // drift: none of the server's tools is called
    kNarrower,
    kFirst  // an older mcpac wrote the lock, or the server is new: nothing was kept to compare
  };
  std::string member;  // "cwd", "env.PATH", "headers.Authorization", "sandbox.files"
  std::string before;  // empty: not there
  std::string after;
  Effect effect = Effect::kAnother;
};

[[nodiscard]] bool is_lock_entry(const OrderedJson& value);

// Null stands for an entry that was not kept; without a live one nothing is compared.
[[nodiscard]] std::vector<EntryChange> compare_entries(const OrderedJson& locked,
                                                       const OrderedJson& live);
[[nodiscard]] bool starts_another(const std::vector<EntryChange>& changes);

// "\"cwd\" was added", "\"env.PATH\" was changed", "\"sandbox.files\" gives more".
[[nodiscard]] std::string in_words(const EntryChange& change);

}  // namespace mcpac::codegen
