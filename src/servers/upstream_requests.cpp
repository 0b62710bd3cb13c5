// SPDX-License-Identifier: Apache-2.0

// Requests to servers besides calls: the Servers half of Upstreams.
#include <chrono>
#include <memory>
#include <utility>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>

#include "servers/ask_caller.h"
#include "servers/server_of_run.h"

namespace mcpac::servers {

namespace asio = boost::asio;

namespace {

// A subscription stands as long as it has a subscriber; a request must have some time.
constexpr auto kStanding = std::chrono::hours(24);

}  // namespace

bool Upstreams::is_settled(const std::string& server) const {
  const auto found = servers_.find(server);
  return found != servers_.end() && found->second->running;
}

const Upstreams::Server* Upstreams::find_any(const std::string& server) const {
  const auto found = servers_.find(server);
  if (found != servers_.end()) return found->second.get();
  const auto own = own_.lower_bound({server, ""});
  return own == own_.end() || own->first.first != server ? nullptr : servers_.at(own->second).get();
}

const Json* Upstreams::capabilities(const std::string& server) const {
  const Server* known = find_any(server);
  if (known == nullptr || !known->running) return nullptr;
  if (known->failure) return nullptr;
  if (known->client) return &known->client->capabilities();
  return known->past ? &known->past->capabilities : nullptr;
}

bool Upstreams::is_stateless(const std::string& server) const {
  const Server* known = find_any(server);
  if (known == nullptr) return false;
  return known->client ? known->client->protocol_version() == mcp::kStatelessVersion
                       : known->past && known->past->is_stateless;
}

bool Upstreams::was_reached(const std::string& server) const {
  const auto is_it = [](const Server& one) { return one.client || one.past; };
  const auto found = servers_.find(server);
  if (found != servers_.end()) return is_it(*found->second);
  for (auto own = own_.lower_bound({server, ""}); own != own_.end() && own->first.first == server;
       ++own) {
    if (is_it(*servers_.at(own->second))) return true;
  }
  return false;
}

std::uint64_t Upstreams::starts(const std::string& server) const {
  const auto found = servers_.find(server);
  return found == servers_.end() ? 0 : found->second->starts;
}

std::chrono::milliseconds Upstreams::timeout(const std::string& server) const {
  const auto found = servers_.find(server);
  return found == servers_.end() ? gate::Servers::timeout(server) : found->second->config.timeout;
}

asio::awaitable<Result<gate::Servers::Outcome>> Upstreams::ask(
    std::string name, std::string method, Json params, std::shared_ptr<gate::Caller> caller) {
  const auto is_unmade = std::make_shared<bool>(false);
  while (true) {
    auto server = co_await usable(name);
    if (!server) co_return pass_on(server);
    mcp::CallEvents events = events_for(executor_, caller, (*server)->config.name);
    const bool is_second = std::exchange(*is_unmade, false);
    events.unmade = [is_unmade] { *is_unmade = true; };
    const auto client = (*server)->client;  // it may be replaced meanwhile
    auto outcome =
        co_await client->request(method, params, (*server)->config.timeout, std::move(events));
    if (outcome || !*is_unmade || is_second) co_return outcome;
  }
}

asio::awaitable<void> Upstreams::hear(std::string name, Json params) {
  auto server = co_await usable(name);
  if (!server) co_return;
  mcp::CallEvents events;
  const auto client = (*server)->client;
  std::ignore = co_await client->request("subscriptions/listen", std::move(params), kStanding,
                                         std::move(events));
}

gate::Servers::RequestToken Upstreams::request(const std::string& server, std::string method,
                                               Json params, std::shared_ptr<gate::Caller> caller,
                                               std::function<void(Result<Outcome>)> done) {
  const RequestToken token = next_token_++;
  // Kept by its request until that has ended, also when it is forgotten.
  const auto signal = std::make_shared<asio::cancellation_signal>();
  requests_.emplace(token, signal);
  asio::co_spawn(executor_, ask(server, std::move(method), std::move(params), std::move(caller)),
                 asio::bind_cancellation_slot(
                     signal->slot(), [this, token, signal, done = std::move(done)](
                                         const std::exception_ptr& bug, Result<Outcome> outcome) {
                       if (requests_.erase(token) == 0) return;  // forgotten
                       if (bug) outcome = fail(ErrorId::kServerError, "the request was cancelled");
                       done(std::move(outcome));
                     }));
  return token;
}

gate::Servers::RequestToken Upstreams::listen(const std::string& server, Json params,
                                              std::function<void()> ended) {
  const RequestToken token = next_token_++;
  // Kept by its request until that has ended, also when it is forgotten.
  const auto signal = std::make_shared<asio::cancellation_signal>();
  requests_.emplace(token, signal);
  asio::co_spawn(executor_, hear(server, std::move(params)),
                 asio::bind_cancellation_slot(
                     signal->slot(),
                     [this, token, signal, ended = std::move(ended)](const std::exception_ptr&) {
                       if (requests_.erase(token) > 0) ended();
                     }));
  return token;
}

void Upstreams::forget(RequestToken token) {
  const auto node = requests_.extract(token);
  if (!node.empty()) node.mapped()->emit(asio::cancellation_type::terminal);
}

}  // namespace mcpac::servers
