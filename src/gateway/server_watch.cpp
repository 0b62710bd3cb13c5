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

bool is_part_of(std::string_view uri, std::string_view whole) {
  return uri == whole ||
         (uri.starts_with(whole) &&
          (whole.ends_with('/') || uri[whole.size()] == '/' || uri[whole.size()] == '#'));
}

ServerWatch::~ServerWatch() {
  for (auto& [server, one] : listening_) {
    if (one.token != 0) servers_.forget(one.token);
  }
}

void ServerWatch::subscribe(Subscriber who, const std::string& server, const std::string& uri,
                            std::shared_ptr<gate::Caller> caller, Done done) {
  auto& subscribers = subscribed_[server][uri];
  const bool is_first = subscribers.empty();
  subscribers.insert(who);
  if (servers_.is_stateless(server)) {
    listen_soon(server);
    return done(gate::Servers::Outcome(Json::object()));
  }
  if (!is_first) return done(gate::Servers::Outcome(Json::object()));
  servers_.request(server, "resources/subscribe", {{"uri", uri}}, std::move(caller),
                   std::move(done));
}

void ServerWatch::unsubscribe(Subscriber who, const std::string& server, const std::string& uri) {
  const auto at_server = subscribed_.find(server);
  if (at_server == subscribed_.end()) return;
  const auto found = at_server->second.find(uri);
  if (found == at_server->second.end() || found->second.erase(who) == 0) return;
  if (!found->second.empty()) return;
  at_server->second.erase(found);
  if (at_server->second.empty()) subscribed_.erase(at_server);
  if (servers_.is_stateless(server)) return listen_soon(server);
  servers_.request(server, "resources/unsubscribe", {{"uri", uri}}, nullptr, [](const auto&) {});
}

// Looked for from the longest on: what is sorted before `rest` and is no whole of it shows how much
// of it a shorter one can have at most.
std::optional<std::string> ServerWatch::watched_whole(const std::string& server,
                                                      const std::string& uri) const {
  const auto found = subscribed_.find(server);
  if (found == subscribed_.end()) return std::nullopt;
  const auto& watched = found->second;
  for (std::string_view rest = uri; !rest.empty();) {
    auto at = watched.upper_bound(rest);
    if (at == watched.begin()) return std::nullopt;
    const std::string& before = (--at)->first;
    if (is_part_of(uri, before)) return before;
    const auto differs = std::ranges::mismatch(rest, before);
    const auto same = static_cast<std::size_t>(differs.in1 - rest.begin());
    rest = rest.substr(0, same == before.size() && same > 0 ? same - 1 : same);
  }
  return std::nullopt;
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
  const auto found = subscribed_.find(server);
  if (found == subscribed_.end()) return;
  for (const auto& [uri, subscribers] : found->second)
    servers_.request(server, "resources/subscribe", {{"uri", uri}}, nullptr, [](const auto&) {});
}

Json ServerWatch::filter_of(const std::string& server) const {
  const Json* capabilities = servers_.capabilities(server);
  Json filter = Json::object();
  if (says(capabilities, "resources", "listChanged")) filter["resourcesListChanged"] = true;
  if (says(capabilities, "prompts", "listChanged")) filter["promptsListChanged"] = true;
  const auto found = subscribed_.find(server);
  if (found == subscribed_.end()) return filter;
  Json uris = Json::array();
  for (const auto& [uri, subscribers] : found->second) uris.push_back(uri);
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
