// SPDX-License-Identifier: Apache-2.0

// Audit payloads of connections, of bounded size (docs/audit.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/json.h"
#include "gate/dialer.h"
#include "gate/record.h"

namespace mcpac::gate {

// The beginning of the reason of a refusal where rules would admit it, and no host dials.
inline constexpr char kNoNetworkHere[] = "there is no network here";
inline constexpr char kNoneIsMade[] = ": where a recording is played, no connection is made";

// One decision: by name, or about one address.
struct NetworkRecord {
  std::uint64_t connection = 0;
  std::string host;
  std::uint16_t port = 0;
  Tls tls = Tls::kYes;
  std::string address;  // empty: the decision by name
  bool allowed = false;
  std::string rule;  // the statement that decided
  std::string layer;
  std::string reason;
};

// A host as policy reads it, so that what is looked up is what was decided: a name in lower case
// and A-labels, or an address without square brackets. Nothing for what is no host.
[[nodiscard]] std::optional<std::string> canonical_host(std::string_view text);
[[nodiscard]] std::string_view to_string(ConnectionEnd end);
// The payload of a "NetworkCheck".
[[nodiscard]] Json check_payload(const NetworkRecord& record);
// The payload of a "ConnectionEnded".
[[nodiscard]] Json ended_payload(std::uint64_t connection, std::string_view outcome,
                                 std::string_view address, Traffic traffic,
                                 std::chrono::microseconds took);
// A refusal as the user is told of it.
[[nodiscard]] Check as_check(const NetworkRecord& record, const policy::NetworkAnswer& answer);

}  // namespace mcpac::gate
