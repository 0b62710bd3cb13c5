#include "gateway/server_watch.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <boost/asio/post.hpp>

#include "gateway/log_level.h"

namespace mcpac::gateway {
namespace {

// A server that ends a subscription by itself, or knows none, is not asked again at once.
constexpr std::chrono::seconds kFirstPause(5);
constexpr std::chrono::seconds kLongestPause(600);
constexpr std::size_t kLogsASecond = 100;

bool says(const Json* capabilities, std::string_view name, std::string_view flag) {
  const Json* one = capabilities == nullptr ? nullptr : find_member(*capabilities, name);
  const Json* value = one == nullptr ? nullptr : find_member(*one, flag);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

}  // namespace

ServerWatch::~ServerWatch() {
  for (auto& [server, one] : listening_) {
    if (one.token != 0) servers_.forget(one.token);
  }
}

void ServerWatch::subscribe(Subscriber who, const std::string& server, const std::string& uri,
                            std::shared_ptr<gate::Caller> caller, Done done) {
  subscriptions_.add(who, server, uri);
  if (!servers_.is_stateless(server))
    return subscriptions_.ask(server, uri, std::move(caller), std::move(done));
  listen_soon(server);
  done(gate::Servers::Outcome(Json::object()));
}

void ServerWatch::unsubscribe(Subscriber who, const std::string& server, const std::string& uri) {
  if (subscriptions_.remove(who, server, uri) && servers_.is_stateless(server)) listen_soon(server);
}

void ServerWatch::want_level(const std::string& server, const std::string& level) {
  std::string& wanted = wanted_levels_[server];
  if (!wanted.empty() && severity(wanted) <= severity(level)) return;
  wanted = level;
  apply_level(server);
}

void ServerWatch::apply_level(const std::string& server) {
  const Json* capabilities = servers_.capabilities(server);
  const auto wanted = wanted_levels_.find(server);
  // One of 2026-07-28 is told with each request.
  if (wanted == wanted_levels_.end() || capabilities == nullptr ||
      !capabilities->contains("logging") || servers_.is_stateless(server))
    return;
  std::string& told = levels_[server];
  if (told == wanted->second) return;
  told = wanted->second;
  servers_.request(server, "logging/setLevel", {{"level", told}}, nullptr, [](const auto&) {});
}

bool ServerWatch::is_too_much(const std::string& server, const Clock& clock) {
  Second& second = logging_[server];
  if (clock.steady_now() - second.begin >= std::chrono::seconds(1))
    second = {clock.steady_now(), 0};
  return ++second.messages > kLogsASecond;
}

void ServerWatch::settled(const std::string& server) {
  levels_.erase(server);
  apply_level(server);
  if (servers_.is_stateless(server)) return listen(server);
  subscriptions_.ask_again(server);
}

Json ServerWatch::filter_of(const std::string& server) const {
  const Json* capabilities = servers_.capabilities(server);
  Json filter = Json::object();
  if (says(capabilities, "resources", "listChanged")) filter["resourcesListChanged"] = true;
  if (says(capabilities, "prompts", "listChanged")) filter["promptsListChanged"] = true;
  if (auto uris = subscriptions_.uris_at(server); !uris.empty())
    filter["resourceSubscriptions"] = std::move(uris);
  return filter;
}

// A client names many resources at once: what is open then is opened anew once.
void ServerWatch::listen_soon(const std::string& server) {
  if (!changed_.insert(server).second) return;
  boost::asio::post(executor_, [this, alive = std::weak_ptr(alive_), server] {
    if (alive.expired()) return;
    changed_.erase(server);
    listen(server);
  });
}

// The new one is opened before the old one is closed: nothing is missed, and what comes twice harms
// nobody.
void ServerWatch::listen(const std::string& server) {
  Listening& one = listening_[server];
  Json filter = filter_of(server);
  if (one.token != 0 && filter == one.filter) return;
  if (filter != one.filter) one.pause = std::chrono::seconds(0);
  const auto before = std::exchange(one.token, 0);
  one.filter = filter;
  if (!filter.empty()) {
    one.token = servers_.listen(server, {{"notifications", std::move(filter)}},
                                [this, alive = std::weak_ptr(alive_), server] {
                                  if (!alive.expired()) listen_again(server);
                                });
  }
  if (before != 0) servers_.forget(before);
}

void ServerWatch::listen_again(const std::string& server) {
  Listening& one = listening_[server];
  one.token = 0;
  one.pause = one.pause.count() == 0 ? kFirstPause : std::min(2 * one.pause, kLongestPause);
  one.again = std::make_unique<boost::asio::steady_timer>(executor_, one.pause);
  one.again->async_wait([this, alive = std::weak_ptr(alive_), server](const auto& error) {
    if (!error && !alive.expired() && servers_.capabilities(server) != nullptr) listen(server);
  });
}

}  // namespace mcpac::gateway
