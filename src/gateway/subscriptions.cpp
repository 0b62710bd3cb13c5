#include "gateway/subscriptions.h"

#include <algorithm>
#include <utility>

namespace mcpac::gateway {

bool is_part_of(std::string_view uri, std::string_view whole) {
  return uri == whole ||
         (uri.starts_with(whole) &&
          (whole.ends_with('/') || uri[whole.size()] == '/' || uri[whole.size()] == '#'));
}

void Subscriptions::add(Subscriber who, const std::string& server, const std::string& uri) {
  watched_[server][uri].subscribers.insert(who);
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

// Who waits is told whatever becomes of the subscription meanwhile.
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

bool Subscriptions::remove(Subscriber who, const std::string& server, const std::string& uri) {
  Watched* watched = find(server, uri);
  if (watched == nullptr || watched->subscribers.erase(who) == 0) return false;
  if (!watched->subscribers.empty()) return false;
  const bool may_be_told = watched->told != Told::kNo && !servers_.is_stateless(server);
  auto& at_server = watched_.at(server);
  at_server.erase(uri);
  if (at_server.empty()) watched_.erase(server);
  if (may_be_told)
    servers_.request(server, "resources/unsubscribe", {{"uri", uri}}, nullptr, [](const auto&) {});
  return true;
}

void Subscriptions::ask_again(const std::string& server) {
  const auto found = watched_.find(server);
  if (found == watched_.end()) return;
  for (auto& [uri, watched] : found->second) {
    if (watched.told == Told::kAsked && std::exchange(watched.waits_for_server, false)) continue;
    watched.waiting = std::make_shared<std::vector<Done>>();
    request(server, uri, watched, nullptr);
  }
}

Subscriptions::Watched* Subscriptions::find(const std::string& server, const std::string& uri) {
  const auto at_server = watched_.find(server);
  if (at_server == watched_.end()) return nullptr;
  const auto found = at_server->second.find(uri);
  return found == at_server->second.end() ? nullptr : &found->second;
}

bool Subscriptions::is_told(const std::string& server, const std::string& uri) const {
  const auto at_server = watched_.find(server);
  if (at_server == watched_.end()) return false;
  const auto found = at_server->second.find(uri);
  return found != at_server->second.end() && found->second.told == Told::kYes;
}

// Looked for from the longest on: what is sorted before `rest` and is no whole of it shows how much
// of it a shorter one can have at most.
std::optional<std::string> Subscriptions::watched_whole(const std::string& server,
                                                        const std::string& uri) const {
  const auto found = watched_.find(server);
  if (found == watched_.end()) return std::nullopt;
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

std::vector<std::string> Subscriptions::uris_at(const std::string& server) const {
  std::vector<std::string> uris;
  if (const auto found = watched_.find(server); found != watched_.end()) {
    for (const auto& [uri, watched] : found->second) uris.push_back(uri);
  }
  return uris;
}

}  // namespace mcpac::gateway
