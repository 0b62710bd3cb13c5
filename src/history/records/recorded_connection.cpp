// SPDX-License-Identifier: Apache-2.0

#include "history/records/recorded_connection.h"

#include <fmt/format.h>

#include <limits>
#include <string_view>
#include <variant>

#include "policy/match/url.h"
#include "policy/places.h"

namespace mcpac::history {

std::string RecordedConnection::destination() const {
  const bool is_bare_v6 = host.find(':') != std::string::npos && !host.starts_with('[');
  return is_bare_v6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

std::string RecordedConnection::capability() const {
  return server.empty() ? std::string(policy::kNetworkPermission) : "server " + server;
}

std::string server_of_record(const Json& started) {
  constexpr std::string_view kServer = "server ";
  const std::string program = string_member(started, "program");
  const bool is_own =
      string_member(started, "declared_in") == "mcpac.json" && program.starts_with(kServer);
  return is_own ? program.substr(kServer.size()) : std::string();
}

std::optional<policy::IpAddress> read_address(const std::string& text) {
  const bool is_bare_v6 = text.find(':') != std::string::npos && !text.starts_with('[');
  const auto host = policy::read_host(is_bare_v6 ? "[" + text + "]" : text);
  const auto* address = host ? std::get_if<policy::IpAddress>(&*host) : nullptr;
  return address == nullptr ? std::nullopt : std::optional(*address);
}

Result<RecordedConnection> read_connection(const Json& payload) {
  const auto unreadable = [](const char* what) {
    return fail(ErrorId::kAuditUnreadable, fmt::format("a NetworkCheck without {}", what));
  };
  const Json* id = find_member(payload, "connection");
  const Json* port = find_member(payload, "port");
  const Json* allowed = find_member(payload, "allowed");
  const Json* address = find_member(payload, "address");
  if (id == nullptr || !id->is_number_unsigned()) return unreadable("its connection");
  if (port == nullptr || !port->is_number_unsigned() ||
      port->get<std::uint64_t>() > std::numeric_limits<std::uint16_t>::max())
    return unreadable("a port");
  if (allowed == nullptr || !allowed->is_boolean()) return unreadable("its answer");
  if (address == nullptr || !(address->is_null() || address->is_string()))
    return unreadable("an address");
  RecordedConnection check;
  check.connection = id->get<std::uint64_t>();
  check.server = string_member(payload, "server");
  check.host = string_member(payload, "host");
  check.port = port->get<std::uint16_t>();
  check.allowed = allowed->get<bool>();
  check.rule = string_member(payload, "rule");
  check.layer = string_member(payload, "layer");
  check.reason = string_member(payload, "reason");
  if (address->is_null()) return check;
  check.address = read_address(address->get<std::string>());
  if (!check.address) return unreadable("an address");
  return check;
}

}  // namespace mcpac::history
