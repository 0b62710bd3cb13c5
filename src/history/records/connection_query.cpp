// SPDX-License-Identifier: Apache-2.0

#include "history/records/connection_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "core/printable.h"
#include "gate/network_record.h"
#include "policy/authority.h"
#include "policy/policy_record.h"

namespace mcpac::history {
namespace {

bool is_network(const std::string& statement) {
  return statement.starts_with("network ") || statement == "deny network";
}

std::vector<std::string> network_statements(const Json& layer) {
  std::vector<std::string> texts;
  const Json* places = find_member(layer, "places");
  if (places == nullptr || !places->is_array()) return texts;
  for (const Json& place : *places) {
    std::string text = string_member(place, "statement");
    if (is_network(text)) texts.push_back(std::move(text));
  }
  return texts;
}

Result<policy::Authority> authority_of(std::vector<policy::LayerText> layers) {
  static const policy::ToolSchemas kNoTools;
  policy::Environment environment;
  environment.tools = &kNoTools;
  return policy::Authority::load(layers, environment);
}

// The rules of a run as far as they speak of the network: these need no lock and no clock.
Result<policy::Authority> network_rules(const Json& started) {
  const Json* policy = find_member(started, "policy");
  if (policy == nullptr) return authority_of({});  // an older mcpac: only what it did is known
  auto recorded = policy::read_policy_record(*policy);
  if (!recorded) return pass_on(recorded);
  const Json& json = policy->at("layers");
  std::vector<policy::LayerText> layers;
  for (std::size_t i = 0; i < recorded->layers.size(); ++i) {
    policy::LayerText layer;
    layer.name = recorded->layers[i].name;
    layer.places = network_statements(json[i]);
    layer.declared = recorded->layers[i].declared;
    layers.push_back(std::move(layer));
  }
  return authority_of(std::move(layers));
}

struct Destination {
  std::string host;  // canonical
  std::uint16_t port = 0;
};

Result<Destination> read_destination(const std::string& text) {
  const auto colon = text.rfind(':');
  Destination destination;
  if (colon != std::string::npos) {
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data() + colon + 1, end, destination.port);
    const auto host = gate::canonical_host(std::string_view(text).substr(0, colon));
    if (host && error == std::errc{} && rest == end && destination.port != 0) {
      destination.host = *host;
      return destination;
    }
  }
  return fail(ErrorId::kUsage, fmt::format("'{}' is not a host and a port", printable(text)),
              {.where = {},
               .why = "a name or an address, ':' and a port from 1 to 65535",
               .fix = "e.g. api.example.com:443 or [2001:4860::1]:443"});
}

// Of a run, of one of its confined servers or of its program (""), and its number there.
using ConnectionId = std::tuple<std::string, std::string, std::uint64_t>;

// Connections that never came to be: their end says with which error.
std::set<ConnectionId> failed_connections(const std::vector<audit::Event>& events) {
  std::set<ConnectionId> failed;
  for (const auto& event : events) {
    if (event.kind != "ConnectionEnded") continue;
    const Json* number = find_member(event.payload, "connection");
    const bool is_error = string_member(event.payload, "outcome").starts_with("MCPAC-E");
    if (is_error && number != nullptr && number->is_number_unsigned())
      failed.emplace(event.run_id, string_member(event.payload, "server"),
                     number->get<std::uint64_t>());
  }
  return failed;
}

bool means(const RecordedConnection& check, const Destination& destination) {
  if (check.port != destination.port) return false;
  const auto address = read_address(destination.host);
  return check.host == destination.host || (address && check.address == address);
}

}  // namespace

std::optional<RecordedConnection> connection_of(const audit::Event& event) {
  if (event.kind != "NetworkCheck") return std::nullopt;
  auto check = read_connection(event.payload);
  return check ? std::optional(std::move(*check)) : std::nullopt;
}

bool is_dialled(const RecordedConnection& check) {
  return check.allowed && check.address.has_value();
}

std::vector<std::string> unused_network_places(const Json& started,
                                               const std::vector<RecordedConnection>& dialled) {
  std::vector<std::string> unused;
  const Json* policy = find_member(started, "policy");
  const Json* layers = policy == nullptr ? nullptr : find_member(*policy, "layers");
  if (layers == nullptr || !layers->is_array() || layers->empty()) return unused;
  for (const auto& statement : network_statements(layers->front())) {
    if (statement == "deny network") continue;
    policy::LayerText alone;
    alone.name = "the statement";
    alone.places = {statement};
    const auto authority = authority_of({alone});
    // A name and the address that it leads to may have a statement each.
    const bool is_used =
        authority && std::ranges::any_of(dialled, [&](const RecordedConnection& check) {
          return authority->decide_network(check.host, check.port).allowed ||
                 authority->decide_network(policy::to_text(*check.address), check.port).allowed;
        });
    if (!is_used) unused.push_back(statement);
  }
  return unused;
}

Result<std::vector<Touch>> who_could_connect(const std::vector<audit::Event>& events,
                                             const std::string& text) {
  auto destination = read_destination(text);
  if (!destination) return pass_on(destination);
  std::vector<Touch> rows;
  std::map<std::string, std::string> programs;
  const auto add = [&](const audit::Event& event, bool did, bool failed,
                       const std::string& permission = policy::kNetworkPermission) {
    rows.push_back({event.run_id, programs[event.run_id], event.time, permission, "", did, failed});
  };
  for (const auto& event : events) {
    if (event.kind != "RunStarted") continue;
    programs[event.run_id] = string_member(event.payload, "program");
    auto rules = network_rules(event.payload);
    if (!rules) return pass_on(rules);
    const std::string server = server_of_record(event.payload);
    if (rules->decide_network(destination->host, destination->port).allowed)
      add(event, false, false, server.empty() ? policy::kNetworkPermission : "server " + server);
  }
  const auto failed = failed_connections(events);
  for (const auto& event : events) {
    const auto check = connection_of(event);
    if (!check || !is_dialled(*check) || !means(*check, *destination)) continue;
    const bool has_failed = failed.contains({event.run_id, check->server, check->connection});
    add(event, !has_failed, has_failed, check->capability());
  }
  return rows;
}

}  // namespace mcpac::history
