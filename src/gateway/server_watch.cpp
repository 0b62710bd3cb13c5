#include "gateway/server_watch.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <boost/asio/post.hpp>

#include "gateway/log_level.h"

namespace mcpac::gateway {
namespace {

// A server that ends a subscription by itself, or knows none, is not asked again at once.
constexpr std::size_t kLogsASecond = 100;
// Bytes of a filter after which the next one waits for once as long.
constexpr std::size_t kOfOneRest = std::size_t{64} << 10U;

bool says(const Json* capabilities, std::string_view name, std::string_view flag) {
  const Json* one = capabilities == nullptr ? nullptr : find_member(*capabilities, name);
  const Json* value = one == nullptr ? nullptr : find_member(*one, flag);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

}  // namespace

ServerWatch::~ServerWatch() {
  for (auto& [server, one] : listening_) {
    forget(one.comes);
    forget(one.stands);
  }
}

void ServerWatch::subscribe(const Subscriber& who, const std::string& server,
                            const std::string& uri, std::shared_ptr<gate::Caller> caller,
                            Done done) {
  subscriptions_.add(who, server, uri);
  if (!servers_.is_stateless(server))
    return subscriptions_.ask(server, uri, std::move(caller), std::move(done));
  listen_soon(server);
  done(gate::Servers::Outcome(Json::object()));
}

void ServerWatch::unsubscribe(const Subscriber& who, const std::string& server,
                              const std::string& uri) {
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
  if (!servers_.is_stateless(server)) return subscriptions_.ask_again(server);
  // What the one before was asked for went with it.
  Listening& one = listening_[server];
  forget(one.comes);
  forget(one.stands);
  one.backoff.reset();
  listen(server);
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

void ServerWatch::forget(Asked& asked) {
  const auto token = std::exchange(asked, {}).token;
  if (token != 0) servers_.forget(token);
}

// The new one is asked for before the old one is forgotten: nothing is missed, and what comes twice
// does no harm.
void ServerWatch::listen(const std::string& server) {
  Listening& one = listening_[server];
  if (one.comes.token != 0) return;  // once that is settled
  Json filter = filter_of(server);
  if (filter.empty()) return forget(one.stands);
  if (one.stands.token != 0 && filter == one.stands.filter) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < one.next) return listen_at(server, one.next);
  const std::size_t size = to_text(filter).size();
  one.next = now + spans_.rest * static_cast<int>(1 + size / kOfOneRest);
  const std::uint64_t number = ++last_asked_;
  one.comes.number = number;
  one.comes.filter = filter;
  one.comes.token = servers_.listen(server, {{"notifications", std::move(filter)}},
                                    [this, alive = std::weak_ptr(alive_), server, number] {
                                      if (!alive.expired()) ended(server, number);
                                    });
  one.patience = std::make_unique<boost::asio::steady_timer>(executor_, spans_.acknowledges);
  one.patience->async_wait(
      [this, alive = std::weak_ptr(alive_), server, number](const auto& error) {
        if (!error && !alive.expired() && listening_.at(server).comes.number == number)
          stands(server);
      });
}

// Of those that were asked for only one is not acknowledged: it is that one's. Of one that was
// taken to listen without a word it may come later, and is taken for the next one's then.
void ServerWatch::acknowledged(const std::string& server, const Json& params) {
  const auto found = listening_.find(server);
  if (found == listening_.end() || found->second.comes.token == 0) return;
  const Json* meta = find_member(params, "_meta");
  const Json* id =
      meta == nullptr ? nullptr : find_member(*meta, "io.modelcontextprotocol/subscriptionId");
  if (id != nullptr && *id == found->second.last_id) return;  // said twice
  found->second.last_id = id == nullptr ? Json() : *id;
  stands(server);
}

void ServerWatch::stands(const std::string& server) {
  Listening& one = listening_.at(server);
  const bool is_gap = one.has_stood && one.stands.token == 0;
  forget(one.stands);
  one.stands = std::exchange(one.comes, {});
  one.has_stood = true;
  one.stands_since = std::chrono::steady_clock::now();
  one.patience.reset();
  one.again.reset();
  listen(server);  // what changed meanwhile
  if (is_gap && gap_) gap_(server);
}

// What was asked for besides goes on: a server that refuses the new one tells of the old.
void ServerWatch::ended(const std::string& server, std::uint64_t number) {
  Listening& one = listening_.at(server);
  const auto now = std::chrono::steady_clock::now();
  if (one.comes.number == number) {
    one.comes = {};
    one.patience.reset();
  } else if (one.stands.number == number) {
    one.stands = {};
    // One that went well for long was ended by something on the way.
    if (now - one.stands_since > one.backoff.last()) one.backoff.reset();
    if (one.comes.token != 0) return;
  } else {
    return;
  }
  listen_at(server, now + one.backoff.next());
}

void ServerWatch::listen_at(const std::string& server, Time when) {
  Listening& one = listening_[server];
  if (one.again && one.again_at <= when) return;
  one.again_at = when;
  one.again = std::make_unique<boost::asio::steady_timer>(executor_);
  one.again->expires_at(when);
  one.again->async_wait([this, alive = std::weak_ptr(alive_), server, when](const auto& error) {
    if (error || alive.expired()) return;
    Listening& now = listening_.at(server);
    if (!now.again || now.again_at != when) return;
    now.again.reset();
    if (servers_.capabilities(server) != nullptr) listen(server);
  });
}

}  // namespace mcpac::gateway
