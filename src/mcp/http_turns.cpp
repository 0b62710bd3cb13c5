// SPDX-License-Identifier: Apache-2.0

#include "mcp/http_turns.h"

#include <algorithm>
#include <utility>

namespace mcpac::mcp {
namespace {

// A client that calls again and again keeps its place.
constexpr std::size_t kKept = 64;

const std::string& name_of(const HttpTurns::Client& client) {
  static const std::string kNobody;
  return client ? *client : kNobody;
}

}  // namespace

HttpTurns::~HttpTurns() {
  for (auto& [name, share] : shares_) {
    for (; share.active > 0; --share.active) room_->give_back(name);
  }
}

bool HttpTurns::may_go(const Shares::value_type& client) const {
  const std::size_t most = room_->limits().of_server;
  const std::size_t free = std::min(most - std::min(most, active_), room_->free());
  if (free == 0) return false;
  return client.first.empty() ||
         (client.second.active < free && room_->active_of(client.first) < room_->free());
}

Outgoing HttpTurns::begin(Shares::value_type& client, Outgoing message) {
  ++client.second.active;
  ++active_;
  room_->take(client.first);
  return message;
}

std::optional<Outgoing> HttpTurns::take(Outgoing message) {
  Shares::value_type& client = *shares_.try_emplace(name_of(message.client)).first;
  Share& share = client.second;
  if (share.waiting.empty() && may_go(client)) return begin(client, std::move(message));
  if (share.waiting.empty()) order_.push_back(&client);
  if (message.request_id) {
    share.waiting.push_back(std::move(message));
  } else {
    share.waiting.push_front(std::move(message));
  }
  return std::nullopt;
}

void HttpTurns::end(const Client& client) {
  const auto found = shares_.find(name_of(client));
  if (found == shares_.end() || found->second.active == 0) return;
  --active_;
  room_->give_back(found->first);
  if (--found->second.active == 0 && found->second.waiting.empty() && shares_.size() > kKept)
    shares_.erase(found);
}

std::optional<Outgoing> HttpTurns::next() {
  const auto found =
      std::ranges::find_if(order_, [this](const auto* client) { return may_go(*client); });
  if (found == order_.end()) return std::nullopt;
  Shares::value_type* const client = *found;
  Share& share = client->second;
  order_.erase(found);
  Outgoing message = std::move(share.waiting.front());
  share.waiting.pop_front();
  if (!share.waiting.empty()) order_.push_back(client);
  return begin(*client, std::move(message));
}

bool HttpTurns::take_out(std::int64_t request_id) {
  for (auto client = order_.begin(); client != order_.end(); ++client) {
    auto& waiting = (*client)->second.waiting;
    const auto message =
        std::ranges::find(waiting, std::optional(request_id), &Outgoing::request_id);
    if (message == waiting.end()) continue;
    waiting.erase(message);
    if (waiting.empty()) order_.erase(client);
    return true;
  }
  return false;
}

void HttpTurns::clear() {
  order_.clear();
  for (auto& [name, share] : shares_) share.waiting.clear();
}

}  // namespace mcpac::mcp
