// SPDX-License-Identifier: Apache-2.0

#include "gateway/own_servers.h"

#include <fmt/format.h>

#include <optional>

#include <boost/asio/post.hpp>

#include "gate/servers.h"
#include "servers/confine/confine_servers.h"

namespace mcpac::gateway {

// Starts a process with the first call that needs it, where it does not run.
class OwnServers::Before final : public gate::ForwardingUpstream {
 public:
  Before(gate::Upstream& inner, OwnServers& own, std::string client)
      : ForwardingUpstream(inner), own_(own), client_(std::move(client)) {}

  CallToken forward(const Permission& permission, Json arguments,
                    std::shared_ptr<gate::Caller> caller,
                    std::function<void(Result<Json>)> done) override {
    if (own_.is_own(permission.server())) {
      // Without a caller it would reach no process: none has the server's own name.
      if (auto started = own_.start(client_, permission.server()); !started) {
        started.error().sent = Sent::kNo;
        boost::asio::post(own_.setup_.executor,
                          [error = std::move(started.error()), done = std::move(done)]() mutable {
                            done(std::unexpected(std::move(error)));
                          });
        return kRefused | ++refused_;
      }
    }
    return ForwardingUpstream::forward(permission, std::move(arguments), std::move(caller),
                                       std::move(done));
  }
  void cancel(CallToken token) override {
    if ((token & kRefused) == 0) ForwardingUpstream::cancel(token);
  }
  [[nodiscard]] bool was_sent(CallToken token) const override {
    return (token & kRefused) == 0 && ForwardingUpstream::was_sent(token);
  }
  [[nodiscard]] std::optional<gate::CallError> refusal_of(CallToken token) const override {
    return (token & kRefused) == 0 ? ForwardingUpstream::refusal_of(token) : std::nullopt;
  }
  [[nodiscard]] bool quarantines(const Permission& permission) const override {
    return own_.is_own(permission.server())
               ? own_.setup_.upstreams->quarantines_for(client_, permission)
               : ForwardingUpstream::quarantines(permission);
  }

 private:
  static constexpr CallToken kRefused = CallToken{1} << 63U;  // none of the inner ones is so large
  OwnServers& own_;
  std::string client_;
  CallToken refused_ = 0;
};

OwnServers::OwnServers(Setup setup) : setup_(std::move(setup)) {
  for (const auto& server : setup_.config->servers) {
    if (server.sandbox && server.sandbox->share == mcp::Share::kClient)
      servers_.insert(server.name);
  }
}

OwnServers::~OwnServers() {
  for (auto& [name, client] : clients_) {
    if (client.rules) client.rules->find_by(nullptr);
  }
}

OwnServers::Client& OwnServers::client_of(const std::string& client) {
  const auto [at, is_new] = clients_.try_emplace(client);
  if (is_new) at->second.number = clients_.size();
  return at->second;
}

std::string OwnServers::process_of(const std::string& client, const std::string& server) {
  return is_own(server) ? fmt::format("{}#{}", server, client_of(client).number) : server;
}

std::size_t OwnServers::count() const {
  std::size_t all = 0;
  for (const auto& [name, client] : clients_) all += client.running.size();
  return all;
}

Result<void> OwnServers::start(const std::string& client, const std::string& server) {
  Client& one = client_of(client);
  if (one.running.contains(server)) return {};
  if (count() >= kMost) {
    return fail(ErrorId::kServerStart,
                fmt::format("no process of {} can be started for this client: {} processes that "
                            "serve one client each run already",
                            server, kMost),
                {.why = R"("share": "client" in the "sandbox" of its entry gives each client one)",
                 .fix = "try again when other clients have ended their sessions, or run another "
                        R"(mcpac serve; without "share" all clients have one process together)"});
  }
  if (!one.rules) {
    one.rules = std::make_shared<servers::ConfinedRules>();
    one.rules->find_by([this, client] { return setup_.places(client); });
  }
  one.running.insert(server);
  const std::string process = process_of(client, server);
  setup_.upstreams->start_own(
      {process, client, servers::with_rules(*setup_.config->find(server), one.rules)});
  setup_.started(client, process);
  return {};
}

void OwnServers::let_go(const std::string& client, Session session) {
  if (servers_.empty()) return;
  const auto found = clients_.find(client);
  if (found == clients_.end()) return;
  if (session == Session::kRequest) found->second.last_request = setup_.clock->steady_now();
  // After the caller has ended it.
  boost::asio::post(setup_.executor, [this, alive = std::weak_ptr(alive_), client] {
    if (!alive.expired()) end_if_left(client, client_of(client));
  });
}

void OwnServers::end_if_left(const std::string& name, Client& client) {
  if (client.running.empty() || setup_.is_in_use(name)) return;
  const auto last = client.last_request;
  if (last != decltype(last){} && setup_.clock->steady_now() - last < kLinger) return;
  for (const std::string& server : std::exchange(client.running, {})) {
    setup_.upstreams->rest(process_of(name, server));
    client.rules->forget_start(server);
  }
}

void OwnServers::sweep() {
  for (auto& [name, client] : clients_) end_if_left(name, client);
}

void OwnServers::give_more_places(const std::string& client) {
  const auto found = clients_.find(client);
  if (found == clients_.end() || found->second.running.empty()) return;
  const auto places = setup_.places(client);
  for (const std::string& server : found->second.running) {
    const auto last = found->second.rules->last_start(server);
    const auto wanted = places.find(server);
    if (last && wanted != places.end() && servers::gives_more(wanted->second, last->places))
      setup_.upstreams->start_anew(process_of(client, server));
  }
}

gate::Upstream& OwnServers::before(gate::Upstream& inner, const std::string& client) {
  Client& one = client_of(client);
  if (!one.before) one.before = std::make_unique<Before>(inner, *this, client);
  return *one.before;
}

}  // namespace mcpac::gateway
