// SPDX-License-Identifier: Apache-2.0

#include "gate/agent_message.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace mcpac::gate {

std::expected<ipc::Message, ipc::RpcError> decode_message(std::string_view text,
                                                          const JsonLimits& limits) {
  return ipc::decode_finite(text, limits);
}

std::expected<CallRequest, CallError> read_tool_call(Json params) {
  const auto name = params.is_object() ? params.find("name") : params.end();
  if (name == params.end() || !name->is_string()) {
    CallError error = unknown_tool("");
    error.message = "params.name must be the name of a tool, \"server.tool\"";
    return std::unexpected(std::move(error));
  }
  CallRequest request{std::move(name->get_ref<std::string&>())};
  if (const auto found = params.find("arguments"); found != params.end()) {
    request.arguments = std::move(*found);
  }
  return request;
}

std::expected<ConnectRequest, CallError> read_connect(const Json& params) {
  const auto refuse = [](const char* member, const char* message) {
    return std::unexpected(invalid_arguments({std::string("/") + member, "type", message}));
  };
  const Json* host = find_member(params, "host");
  if (host == nullptr || !host->is_string()) return refuse("host", "must be a text");
  const Json* port = find_member(params, "port");
  const bool is_number = port != nullptr && port->is_number_integer() &&
                         (port->is_number_unsigned() || port->get<std::int64_t>() > 0);
  if (!is_number || port->get<std::uint64_t>() == 0 || port->get<std::uint64_t>() > 65535)
    return refuse("port", "must be an integer from 1 to 65535");
  const Json* tls = find_member(params, "tls");
  if (tls != nullptr && !tls->is_boolean()) return refuse("tls", "must be true or false");
  return ConnectRequest{host->get<std::string>(),
                        static_cast<std::uint16_t>(port->get<std::uint64_t>()),
                        tls == nullptr || tls->get<bool>() ? Tls::kYes : Tls::kNo};
}

bool claims_authority(std::string_view line) {
  constexpr std::string_view kMember = "\"grantedPermissions\"";
  for (auto at = line.find(kMember); at != std::string_view::npos;
       at = line.find(kMember, at + 1)) {
    // A member's name is followed by a colon; inside a text the quotes would carry backslashes.
    const auto next = line.find_first_not_of(" \t\r", at + kMember.size());
    if (next != std::string_view::npos && line[next] == ':') return true;
  }
  return false;
}

std::optional<std::string_view> log_level(std::string_view text) {
  static constexpr std::array<std::string_view, 8> kLevels = {
      "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"};
  const auto* const found = std::ranges::find(kLevels, text);
  if (found == kLevels.end()) return {};
  return *found;
}

std::optional<ipc::Id> request_id(const Json& params) {
  const Json* id = find_member(params, "requestId");
  if (id == nullptr) return {};
  if (id->is_string()) return id->get<std::string>();
  if (id->is_number_unsigned() &&
      id->get<std::uint64_t>() >
          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return {};
  }
  if (id->is_number_integer()) return id->get<std::int64_t>();
  return {};
}

}  // namespace mcpac::gate
