// SPDX-License-Identifier: Apache-2.0

#include "gateway/server_watch.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <boost/asio/post.hpp>

#include "gateway/log_level.h"

namespace mcpac::gateway {
namespace {

constexpr std::size_t kAgainAtOnce = 16;

}  // namespace

bool is_part_of(std::string_view uri, std::string_view whole) {
  return uri == whole ||
         (uri.starts_with(whole) &&
          (whole.ends_with('/') || uri[whole.size()] == '/' || uri[whole.size()] == '#'));
}

// As it stands in a request: what must be escaped is longer there.
void Subscriptions::Share::add(const std::string& uri) {
  ++uris;
  bytes += to_text(Json(uri)).size();
}

void Subscriptions::Share::remove(const std::string& uri) {
  --uris;
  bytes -= to_text(Json(uri)).size();
}

bool Subscriptions::is_watched_by(const std::string& client, const Watched& watched) {
  const auto first = watched.subscribers.lower_bound({client, 0});
  return first != watched.subscribers.end() && first->client == client;
}

bool Subscriptions::has_room_for(const std::string& client, const std::string& server,
                                 const std::set<std::string>& uris) const {
  Share all;
  Share own;
  const auto at = servers_watched_.find(server);
  if (at != servers_watched_.end()) {
    all = at->second.all;
    if (const auto share = at->second.shares.find(client); share != at->second.shares.end())
      own = share->second;
  }
  for (const std::string& uri : uris) {
    const Watched* watched = nullptr;
    if (at != servers_watched_.end()) {
      const auto found = at->second.watched.find(uri);
      if (found != at->second.watched.end()) watched = &found->second;
    }
    if (watched == nullptr) all.add(uri);
    if (watched == nullptr || !is_watched_by(client, *watched)) own.add(uri);
  }
  return own.uris <= limits_.client_uris && own.bytes <= limits_.client_bytes &&
         all.uris <= limits_.all_uris && all.bytes <= limits_.all_bytes;
}

void Subscriptions::add(const Subscriber& who, const std::string& server, const std::string& uri) {
  AtServer& at = servers_watched_[server];
  Watched& watched = at.watched[uri];
  if (watched.subscribers.empty()) at.all.add(uri);
  if (!is_watched_by(who.client, watched)) at.shares[who.client].add(uri);
  watched.subscribers.insert(who);
}

void Subscriptions::ask(const std::string& server, const std::string& uri,
                        std::shared_ptr<gate::Caller> caller, Done done) {
  Watched* watched = find(server, uri);
  if (watched == nullptr || watched->told == Told::kYes)
    return done(gate::Servers::Outcome(Json::object()));
  if (watched->told == Told::kAsked) return watched->waiting->push_back(std::move(done));
  watched->waiting = std::make_shared<std::vector<Done>>();
  watched->waiting->push_back(std::move(done));
  request(server, uri, *watched, std::move(caller));
}

// Waiters are told whatever becomes of the subscription meanwhile.
void Subscriptions::request(const std::string& server, const std::string& uri, Watched& watched,
                            std::shared_ptr<gate::Caller> caller) {
  watched.told = Told::kAsked;
  watched.question = ++last_question_;
  watched.waits_for_server = servers_.capabilities(server) == nullptr;
  servers_.request(server, "resources/subscribe", {{"uri", uri}}, std::move(caller),
                   [this, alive = std::weak_ptr(alive_), server, uri, question = last_question_,
                    waiting = watched.waiting](const Result<gate::Servers::Outcome>& said) {
                     if (alive.expired()) return;
                     Watched* asked = find(server, uri);
                     if (asked != nullptr && asked->question == question) {
                       asked->told = said && *said ? Told::kYes : Told::kNo;
                       asked->waiting = nullptr;
                     }
                     for (const Done& done : *waiting) done(said);
                   });
}

bool Subscriptions::remove(const Subscriber& who, const std::string& server,
                           const std::string& uri) {
  Watched* watched = find(server, uri);
  if (watched == nullptr || watched->subscribers.erase(who) == 0) return false;
  AtServer& at = servers_watched_.at(server);
  if (!is_watched_by(who.client, *watched)) {
    const auto share = at.shares.find(who.client);
    share->second.remove(uri);
    if (share->second.uris == 0) at.shares.erase(share);
  }
  if (!watched->subscribers.empty()) return false;
  const bool may_be_told = watched->told != Told::kNo && !servers_.is_stateless(server);
  at.all.remove(uri);
  at.watched.erase(uri);
  if (at.watched.empty()) servers_watched_.erase(server);
  if (may_be_told)
    servers_.request(server, "resources/unsubscribe", {{"uri", uri}}, nullptr, [](const auto&) {});
  return true;
}

void Subscriptions::ask_again(const std::string& server) {
  const auto found = servers_watched_.find(server);
  if (found == servers_watched_.end()) return;
  Again& again = again_[server];
  again.uris.clear();
  for (auto& [uri, watched] : found->second.watched) {
    if (watched.told == Told::kAsked && std::exchange(watched.waits_for_server, false)) continue;
    watched.told = Told::kNo;
    watched.question = 0;  // what was asked of the one before
    again.uris.push_back(uri);
  }
  ask_more(server);
}

// Each of them is a request that waits: not thousands at once, before a server that has just begun.
void Subscriptions::ask_more(const std::string& server) {
  Again& again = again_[server];
  while (!again.uris.empty() && again.under_way < kAgainAtOnce) {
    const std::string uri = std::move(again.uris.front());
    again.uris.pop_front();
    Watched* watched = find(server, uri);
    if (watched == nullptr || watched->told != Told::kNo) continue;  // given up, or asked for anew
    ++again.under_way;
    watched->waiting = std::make_shared<std::vector<Done>>();
    watched->waiting->push_back([this, server](const auto&) {
      --again_[server].under_way;
      ask_more(server);
    });
    request(server, uri, *watched, nullptr);
  }
}

Subscriptions::Watched* Subscriptions::find(const std::string& server, const std::string& uri) {
  const auto at_server = servers_watched_.find(server);
  if (at_server == servers_watched_.end()) return nullptr;
  const auto found = at_server->second.watched.find(uri);
  return found == at_server->second.watched.end() ? nullptr : &found->second;
}

bool Subscriptions::is_told(const std::string& server, const std::string& uri) const {
  const auto at_server = servers_watched_.find(server);
  if (at_server == servers_watched_.end()) return false;
  const auto found = at_server->second.watched.find(uri);
  return found != at_server->second.watched.end() && found->second.told == Told::kYes;
}

// Looked for from the longest on: what is sorted before `rest` and is no whole of it shows how much
// of it a shorter one can have at most.
std::optional<std::string> Subscriptions::watched_whole(const std::string& server,
                                                        const std::string& uri) const {
  const auto found = servers_watched_.find(server);
  if (found == servers_watched_.end()) return std::nullopt;
  const auto& watched = found->second.watched;
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

std::vector<std::string> Subscriptions::uris_at(const std::string& server) const {
  std::vector<std::string> uris;
  if (const auto found = servers_watched_.find(server); found != servers_watched_.end()) {
    for (const auto& [uri, watched] : found->second.watched) uris.push_back(uri);
  }
  return uris;
}

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
