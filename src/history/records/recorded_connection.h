// SPDX-License-Identifier: Apache-2.0

// A recorded decision on a connection: the payload of a NetworkCheck, read back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/error.h"
#include "core/json.h"
#include "policy/match/ip_network.h"

namespace mcpac::history {

struct RecordedConnection {
  std::uint64_t connection = 0;
  std::string server;  // a confined server whose own connection it is; empty: the program's
  std::string host;    // as it was asked for; canonical once it was allowed
  std::uint16_t port = 0;
  std::optional<policy::IpAddress> address;  // nothing: the decision by name
  bool allowed = false;
  std::string rule;
  std::string layer;
  std::string reason;
  // "api.example.com:443", "[::1]:443"
  [[nodiscard]] std::string destination() const;
  // The permission used: policy::kNetworkPermission, or "server NAME".
  [[nodiscard]] std::string capability() const;
};

// Whose own record it is: that of a confined server, which begins with the rules of its entry and
// has no lock and no calls (server_network.h); empty for one of a run. `started` is the payload of
// its RunStarted.
[[nodiscard]] std::string server_of_record(const Json& started);

// kAuditUnreadable for a payload that no mcpac wrote.
[[nodiscard]] Result<RecordedConnection> read_connection(const Json& payload);
// An address as records have it, IPv6 with or without square brackets.
[[nodiscard]] std::optional<policy::IpAddress> read_address(const std::string& text);

}  // namespace mcpac::history
