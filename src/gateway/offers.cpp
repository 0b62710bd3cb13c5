// SPDX-License-Identifier: Apache-2.0

#include "gateway/offers.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "mcp/resync_notice.h"

namespace mcpac::gateway {
Offers::Offers(gate::Servers& servers, const boost::asio::any_io_executor& executor,
               const Clock& clock, ServerLists::Warning warning, std::chrono::milliseconds patience)
    : servers_(servers),
      executor_(executor),
      patience_(patience),
      lists_(servers, executor, clock, std::move(warning)),
      watch_(servers, executor) {
  servers_.on_settled([this] { look(); });
  watch_.on_gap([this](const std::string& server) { lists_.doubt(server); });
}

Offers::~Offers() {
  servers_.on_settled(nullptr);
}

void Offers::use(const std::set<std::string>& servers) {
  used_.insert(servers.begin(), servers.end());
  look();
}

bool Offers::is_settled(const std::string& server) const {
  return !used_.contains(server) || servers_.is_settled(server);
}

bool Offers::are_settled(const std::set<std::string>& servers) const {
  return std::ranges::all_of(servers,
                             [this](const std::string& server) { return is_settled(server); });
}

void Offers::when_settled(const std::set<std::string>& servers, std::function<void()> done) {
  if (are_settled(servers)) return done();
  const auto waiting = std::make_shared<Waiting>(Waiting{servers, std::move(done)});
  waiting->place = waiting_.insert(waiting_.end(), waiting);
  waiting->patience = std::make_unique<boost::asio::steady_timer>(executor_, patience_);
  // Nothing of it stays: while a server starts for minutes, clients come and come.
  waiting->patience->async_wait([this, weak = std::weak_ptr(waiting)](const auto& error) {
    const auto one = weak.lock();
    if (error || !one || !one->done) return;
    waiting_.erase(one->place);
    std::exchange(one->done, nullptr)();
  });
}

void Offers::look() {
  for (const std::string& server : used_) {
    if (servers_.capabilities(server) == nullptr) continue;
    const auto start = servers_.starts(server);
    if (std::exchange(known_[server], start) == start) continue;
    lists_.began_anew(server);
    watch_.settled(server);
  }
  std::list<std::shared_ptr<Waiting>> over;
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    const auto next = std::next(at);
    if (are_settled((*at)->servers)) over.splice(over.end(), waiting_, at);
    at = next;
  }
  for (const auto& one : over) {
    if (one->done) std::exchange(one->done, nullptr)();
  }
}

void Offers::heard(const std::string& server, const std::string& method, const Json& params) {
  if (method == "notifications/subscriptions/acknowledged")
    return watch_.acknowledged(server, params);
  if (method == mcp::kResync) return lists_.doubt(server);
  if (method == "notifications/prompts/list_changed")
    return lists_.forget(server, ListKind::kPrompts);
  if (method != "notifications/resources/list_changed") return;
  lists_.forget(server, ListKind::kResources);
  lists_.forget(server, ListKind::kTemplates);
}

bool Offers::any_has(const std::set<std::string>& servers, std::string_view capability,
                     std::string_view flag) const {
  return std::ranges::any_of(servers, [&](const std::string& server) {
    const Json* capabilities = servers_.capabilities(server);
    // One that is still starting may have it, and one that is down may have had it: no other takes
    // its place.
    if (capabilities == nullptr) return true;
    const Json* one = find_member(*capabilities, capability);
    if (one == nullptr || !one->is_object() || flag.empty())
      return one != nullptr && one->is_object();
    const Json* value = find_member(*one, flag);
    return value != nullptr && value->is_boolean() && value->get<bool>();
  });
}

}  // namespace mcpac::gateway
