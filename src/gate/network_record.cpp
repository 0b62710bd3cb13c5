// SPDX-License-Identifier: Apache-2.0

#include "gate/network_record.h"

#include <fmt/format.h>

#include <utility>
#include <variant>

#include "gate/answer.h"
#include "policy/match/url.h"
#include "policy/places.h"

namespace mcpac::gate {
namespace {}  // namespace

std::optional<std::string> canonical_host(std::string_view text) {
  const bool is_bare_v6 = text.find(':') != std::string_view::npos && !text.starts_with('[');
  const auto host = policy::read_host(is_bare_v6 ? fmt::format("[{}]", text) : std::string(text));
  if (!host) return std::nullopt;
  if (const auto* name = std::get_if<std::string>(&*host)) return *name;
  std::string address = policy::to_text(std::get<policy::IpAddress>(*host));
  if (address.starts_with('[')) address = address.substr(1, address.size() - 2);
  return address;
}

std::string_view to_string(ConnectionEnd end) {
  switch (end) {
    case ConnectionEnd::kEnded: return "ended";
    case ConnectionEnd::kBroken: return "broken";
    case ConnectionEnd::kIdle: return "idle";
    case ConnectionEnd::kLimit: break;
  }
  return "limit";
}

Json check_payload(const NetworkRecord& record) {
  return {{"connection", record.connection},
          {"host", bounded(record.host, kRecordedName)},
          {"port", record.port},
          {"tls", record.tls == Tls::kYes},
          {"address", record.address.empty() ? Json(nullptr) : Json(record.address)},
          {"allowed", record.allowed},
          {"rule", bounded(record.rule, kRecordedText)},
          {"layer", bounded(record.layer, kRecordedName)},
          {"reason", bounded(record.reason, kRecordedText)}};
}

Json ended_payload(std::uint64_t connection, std::string_view outcome, std::string_view address,
                   Traffic traffic, std::chrono::microseconds took) {
  return {{"connection", connection},
          {"outcome", outcome},
          {"address", address.empty() ? Json(nullptr) : Json(address)},
          {"bytes_in", traffic.bytes_in},
          {"bytes_out", traffic.bytes_out},
          {"duration_us", took.count()}};
}

Check as_check(const NetworkRecord& record, const policy::NetworkAnswer& answer) {
  Check check;
  check.call_id = record.connection;
  check.capability = policy::kNetworkPermission;
  check.decided_by = DecidedBy::kPolicy;
  check.rule = record.rule;
  check.layer = record.layer;
  check.reason = record.reason;
  check.would_grant = answer.would_grant;
  check.no_grant = answer.no_grant;
  return check;
}

}  // namespace mcpac::gate
