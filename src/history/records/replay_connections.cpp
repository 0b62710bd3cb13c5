#include "history/records/replay_connections.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gate/answer.h"
#include "gate/network_record.h"

namespace mcpac::history {
namespace {

const char* word_of(bool allowed) {
  return allowed ? "allowed" : "denied";
}

}  // namespace

ConnectionReplay::ConnectionReplay(const policy::Authority& authority, const Json& policy_record)
    : authority_(authority) {
  const Json* recorded = find_member(policy_record, "layers");
  const auto now = authority.layers();
  for (std::size_t i = 0; recorded != nullptr && i < now.size() && i < recorded->size(); ++i) {
    const Json* places = find_member((*recorded)[i], "places");
    for (std::size_t j = 0; places != nullptr && j < now[i].places.size() && j < places->size();
         ++j)
      places_[now[i].places[j].place] = string_member((*places)[j], "place");
  }
}

ReplayAnswer ConnectionReplay::check(const RecordedConnection& check, Revoked revoked) {
  ReplayAnswer answer;
  if (check.allowed && revoked == Revoked::kYes)
    answer.differences.emplace_back("it was allowed after the network was taken back");
  if (check.address) {
    by_address(check, answer);
  } else {
    by_name(check, answer);
  }
  return answer;
}

void ConnectionReplay::by_name(const RecordedConnection& check, ReplayAnswer& answer) {
  if (open_.contains(check.connection))
    answer.differences.emplace_back("the connection was asked for before");
  // No host is so long: it was cut, and the rest is unknown.
  if (check.host.size() > gate::kRecordedName) {
    if (check.allowed) answer.differences.emplace_back("it was allowed, and its host is no host");
    answer.left_out = "its host was too long to keep";
    return;
  }
  const auto now = authority_.decide_network(check.host, check.port);
  const auto host = gate::canonical_host(check.host);
  if (check.allowed && host) open_[check.connection] = {*host, check.port, {}};
  if (now.allowed && !check.allowed && check.reason.starts_with(gate::kNoNetworkHere)) {
    answer.left_out = "there was no network where it ran";
    return;
  }
  compare(check, now, answer);
}

void ConnectionReplay::by_address(const RecordedConnection& check, ReplayAnswer& answer) {
  const auto open = open_.find(check.connection);
  const bool is_known = open != open_.end() && open->second.port == check.port &&
                        open->second.host == gate::canonical_host(check.host);
  if (!is_known) {
    answer.differences.emplace_back("nobody had allowed the host of this address by its name");
  } else if (check.allowed) {
    open->second.allowed.push_back(*check.address);
  }
  const auto now = authority_.decide_address(check.host, *check.address, check.port);
  if (now.allowed && !check.allowed &&
      check.reason.find(policy::kOwnAddress) != std::string::npos) {
    answer.left_out = "it was an address of the machine where it ran";
    return;
  }
  compare(check, now, answer);
}

void ConnectionReplay::compare(const RecordedConnection& check, const policy::NetworkAnswer& now,
                               ReplayAnswer& answer) const {
  if (now.allowed != check.allowed) {
    answer.differences.push_back(
        fmt::format("it was {}, and is {}", word_of(check.allowed), word_of(now.allowed)));
    return;
  }
  const auto known = places_.find(now.said_in);
  const std::string& rule = known == places_.end() ? now.said_in : known->second;
  if (gate::bounded(rule, gate::kRecordedText) == check.rule && now.layer == check.layer) return;
  answer.differences.push_back(
      fmt::format("it names the statement '{}' of '{}', and it is '{}' of '{}'", check.rule,
                  check.layer, rule, now.layer));
}

std::vector<std::string> ConnectionReplay::ended(const Json& payload) {
  const Json* id = find_member(payload, "connection");
  if (id == nullptr || !id->is_number_unsigned()) return {"a connection without a number ended"};
  const auto node = open_.extract(id->get<std::uint64_t>());
  if (node.empty()) return {"a connection ended that nobody had allowed"};
  const std::string address = string_member(payload, "address");
  if (address.empty()) return {};  // none was reached
  const auto dialled = read_address(address);
  const auto& allowed = node.mapped().allowed;
  if (dialled && std::ranges::find(allowed, policy::unwrap(*dialled)) != allowed.end()) return {};
  return {"it was connected to an address that was not allowed"};
}

}  // namespace mcpac::history
