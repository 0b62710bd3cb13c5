#include "gateway/subscriptions.h"

#include <algorithm>
#include <utility>

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

}  // namespace mcpac::gateway
