// SPDX-License-Identifier: Apache-2.0

#include "servers/upstreams.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "codegen/lock_entry.h"
#include "core/offer.h"
#include "core/printable.h"
#include "core/quantity.h"
#include "mcp/connection_room.h"
#include "mcp/secrets.h"
#include "servers/approved_entry.h"
#include "servers/ask_caller.h"
#include "servers/confine/learn.h"
#include "servers/server_of_run.h"

namespace mcpac::servers {

namespace asio = boost::asio;

Upstreams::Upstreams(asio::any_io_executor executor, const codegen::Lock& lock)
    : executor_(std::move(executor)), lock_(lock) {}
Upstreams::~Upstreams() = default;

std::shared_future<Result<Drifted>> Upstreams::start(const mcp::ServerConfig& config) {
  auto server = std::make_unique<Server>(config.name, config, executor_);
  auto future = server->future;
  // On the loop at once: a call that follows may overtake what is posted.
  asio::dispatch(executor_, [this, owned = std::move(server)]() mutable {
    auto [place, is_new] = servers_.try_emplace(owned->config.name, std::move(owned));
    if (!is_new) {
      owned->promise.set_value(Drifted{});
      return;
    }
    begin(*place->second);
  });
  return future;
}

void Upstreams::begin(Server& started) {
  asio::co_spawn(
      executor_,
      [this, &started]() -> asio::awaitable<void> {
        settle(started, co_await connect(started));
        started.promise.set_value(
            started.failure ? Result<Drifted>(std::unexpected(*started.failure)) : started.drifted);
      },
      [this, &started](std::exception_ptr bug) {
        if (!bug) return;
        // Out of descriptors or memory while starting: an answer all the same, or the run would
        // wait.
        settle(started,
               fail(ErrorId::kServerStart,
                    fmt::format("the server {} could not be started", started.config.name)));
        started.promise.set_value(std::unexpected(*started.failure));
      });
}

std::string Upstreams::process_of(const Permission& permission, const std::string& client) const {
  if (own_.empty()) return permission.server();
  const auto found = own_.find({permission.server(), client});
  return found == own_.end() ? permission.server() : found->second;
}

std::string Upstreams::process_of(const Permission& permission, const gate::Caller* caller) const {
  return caller == nullptr || own_.empty() ? permission.server()
                                           : process_of(permission, caller->client());
}

// From here on calls to the server are decided; those that came earlier go on. Only grows: a server
// that shows another tool for a moment has shown that it is not the one that was approved.
void Upstreams::settle(Server& server, Result<Drifted> outcome) {
  Drifted news;
  const auto tell = [&](std::string_view what, const std::string& name) {
    if (server.running && heard_) heard_(what, name);
  };
  if (outcome) {
    for (const auto& [tool, how] : *outcome) {
      if (!server.drifted.emplace(tool, how).second) continue;
      news.emplace(tool, how);
      tell(how == Drift::kGone ? "a server took a tool away during the run: quarantined"
                               : "a server changed a tool during the run: quarantined",
           fmt::format("{}.{}", server.name, tool));
    }
    const auto gained = std::exchange(server.gained, {});
    server.told_gained.insert(gained.begin(), gained.end());
    if (tools_ && (!news.empty() || !gained.empty())) tools_(server.name, news, gained);
  } else {
    server.failure = std::move(outcome.error());
    if (failed_) failed_(server.name, *server.failure);
    tell("a server says that its tools changed, and cannot be asked: all quarantined", server.name);
  }
  server.is_asked_on = false;
  const bool is_first = !std::exchange(server.running, true);
  server.ready = true;
  server.settled.expires_at(asio::steady_timer::time_point::min());
  if (is_first && settled_) settled_();
}

// One that ends while it starts or is compared is told of as what that came to.
void Upstreams::heard_end(const Server& server, const Error& error) {
  if (!server.ready || server.failure) return;
  if (failed_) failed_(server.name, error);
  if (ended_) ended_(server.name);
}

asio::awaitable<Result<Drifted>> Upstreams::connect(Server& server) {
  mcp::Events events;
  events.capabilities = capabilities_;
  if (!connections_) connections_ = std::make_shared<mcp::ConnectionRoom>();
  events.connections = connections_;
  events.tools_changed = [this, &server] {
    ++server.changes;
    // A comparison is under way or will be, and sees this.
    if (!server.ready || server.is_asked_on) return;
    // Until the new list is compared, nothing of this server is trusted: calls wait.
    server.ready = false;
    server.settled.expires_at(asio::steady_timer::time_point::max());
    asio::co_spawn(executor_, compare_again(server), [this, &server](std::exception_ptr bug) {
      if (!bug) return;
      // Out of descriptors or memory: the waiting calls get an answer all the same.
      settle(server, fail(ErrorId::kServerStart,
                          fmt::format("the tools of the server {} could not be compared",
                                      server.config.name)));
    });
  };
  events.ended = [this, &server](const Error& error) { heard_end(server, error); };
  events.starts_slowly = [this, &server](std::string_view text) {
    if (slow_) slow_(server.name, text);
  };
  if (notified_) {
    events.notified = [this, name = server.name](const std::string& method, const Json& params) {
      if (notified_) notified_(name, method, params);
    };
  }
  if (server.client)
    events.earlier = std::make_shared<const mcp::SecretValues>(server.client->secrets());
  else if (server.past)
    events.earlier = std::shared_ptr<const mcp::SecretValues>(server.past, &server.past->secrets);
  if (auto other = not_as_approved(lock_, server.config, entry_for_lock(server.config)))
    co_return std::unexpected(std::move(*other));
  auto client = co_await mcp::Client::connect(executor_, server.config, std::move(events));
  if (!client) co_return pass_on(client);
  server.client = std::move(*client);
  server.past.reset();
  with_client_.insert_or_assign(server.name, &server);
  co_return co_await compare_until_quiet(server);
}

namespace {

class Waits {
 public:
  explicit Waits(std::shared_ptr<std::size_t> count) : count_(std::move(count)) { ++*count_; }
  ~Waits() { --*count_; }
  Waits(const Waits&) = delete;
  Waits& operator=(const Waits&) = delete;

 private:
  std::shared_ptr<std::size_t> count_;
};

}  // namespace

asio::awaitable<Result<Upstreams::Server*>> Upstreams::usable(std::string name) {
  const auto found = servers_.find(name);
  if (found == servers_.end()) {
    co_return fail(ErrorId::kUnknownServer,
                   fmt::format("the server {} was not started for this run", name));
  }
  Server& server = *found->second;
  revive(server);
  if (!server.ready || *server.waiting > 0) {
    const Waits here(server.waiting);
    do {
      boost::system::error_code ignored;
      co_await server.settled.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    } while (!server.ready);
  }
  if (server.is_resting) {
    co_return fail(ErrorId::kServerDied,
                   fmt::format("the server {} was ended with the last session of its client",
                               server.config.name));
  }
  if (auto gone = why_gone(server)) co_return std::unexpected(std::move(*gone));
  if (server.failure) co_return std::unexpected(why_failed(server));
  co_return &server;
}

asio::awaitable<Result<Json>> Upstreams::call_once(CallToken token, const Permission& permission,
                                                   Json arguments,
                                                   std::shared_ptr<gate::Caller> caller,
                                                   std::shared_ptr<bool> is_unmade) {
  auto found = co_await usable(process_of(permission, caller.get()));
  // Whatever became of the server: it was not asked for this.
  if (!found) found.error().sent = Sent::kNo;
  if (!found) co_return pass_on(found);
  Server& server = **found;
  if (const auto drifted = server.drifted.find(permission.tool()); drifted != server.drifted.end())
    co_return std::unexpected(drift_error(permission, drifted->second));
  mcp::CallEvents events = events_for(executor_, std::move(caller), permission.server());
  events.unmade = [is_unmade] { *is_unmade = true; };
  const auto client = server.client;  // it may be replaced meanwhile
  if (const auto call = calls_.find(token); call != calls_.end()) call->second.was_sent = true;
  if (offer_named(permission.tool())) {
    auto outcome = co_await client->request(permission.tool(), std::move(arguments),
                                            server.config.timeout, std::move(events));
    if (!outcome) co_return pass_on(outcome);
    server.has_answered = server.has_answered || server.client == client;
    if (*outcome) co_return std::move(**outcome);
    co_return fail(ErrorId::kServerError,
                   fmt::format("server {} answered {} with error {}", permission.server(),
                               permission.tool(), outcome->error().code));
  }
  auto answer = co_await client->call_tool(permission.tool(), std::move(arguments),
                                           server.config.timeout, std::move(events));
  note_answer(server, client.get(), answer);
  tell_of_failure(server, answer);
  co_return answer;
}

namespace {

// Of what a server says of a failure.
constexpr std::size_t kMostSaidOfFailedCall = std::size_t{16} << 10U;

// The text of a call that failed, up to `most` bytes; empty: it did not fail, or not in the server.
std::string text_of_failure(const Result<Json>& answer, std::size_t most) {
  std::string said;
  const auto add = [&](std::string_view text) {
    said += text.substr(0, most - said.size());
    if (said.size() < most) said += '\n';
  };
  if (!answer) {
    if (answer.error().id != ErrorId::kServerError) return said;
    add(answer.error().what);
    add(answer.error().why);
    return said;
  }
  const Json* failed = find_member(*answer, "isError");
  if (failed == nullptr || !failed->is_boolean() || !failed->get<bool>()) return said;
  const Json* content = find_member(*answer, "content");
  if (content == nullptr || !content->is_array()) return said;
  for (const Json& part : *content) {
    const Json* text = find_member(part, "text");
    if (text != nullptr && text->is_string()) add(text->get_ref<const std::string&>());
    if (said.size() >= most) break;
  }
  return said;
}

// Without secrets, also where the end of one is cut off.
std::string redacted_beginning(const mcp::SecretValues& secrets, const std::string& text,
                               bool is_cut) {
  std::string shown = secrets.redact(text);
  if (is_cut) shown.resize(shown.size() - std::min(shown.size(), secrets.bytes()));
  return shown.substr(0, kMostSaidOfFailedCall);
}

}  // namespace

void Upstreams::tell_of_failure(const Server& server, const Result<Json>& answer) noexcept {
  try {
    if (!server.config.sandbox || !server.config.confiner) return;
    static const mcp::SecretValues kNone;
    const auto client = server.client;  // which has the secrets
    const mcp::SecretValues& secrets = client ? client->secrets() : kNone;
    // Room for what is cut off again.
    const std::size_t most = kMostSaidOfFailedCall + secrets.bytes();
    const std::string said = text_of_failure(answer, most);
    if (said.empty()) return;
    server.config.confiner->call_failed(server.config.name,
                                        redacted_beginning(secrets, said, said.size() >= most));
  } catch (...) {  // advice, no answer
  }
}

// The second attempt finds the server in a new session, and its tools compared in that.
asio::awaitable<Result<Json>> Upstreams::call(CallToken token, Permission permission,
                                              Json arguments,
                                              std::shared_ptr<gate::Caller> caller) {
  const auto is_unmade = std::make_shared<bool>(false);
  auto first = co_await call_once(token, permission, arguments, caller, is_unmade);
  if (first || !*is_unmade) co_return first;
  if (const auto waiting = calls_.find(token); waiting != calls_.end())
    waiting->second.was_sent = false;
  co_return co_await call_once(token, permission, std::move(arguments), std::move(caller),
                               is_unmade);
}

namespace {

// An exception is a cancelled wait, or our bug; neither may pass for an answer.
std::unexpected<Error> no_answer() {
  return fail(ErrorId::kServerError, "the call was cancelled", {.sent = Sent::kMaybeDone});
}

}  // namespace

Upstreams::Server* Upstreams::at_hand(const Permission& permission,
                                      const gate::Caller* caller) const {
  const auto found = servers_.find(process_of(permission, caller));
  if (found == servers_.end() || offer_named(permission.tool())) return nullptr;
  Server& server = *found->second;
  const bool is_usable = server.ready && !server.is_resting && *server.waiting == 0 &&
                         !server.failure && server.client && server.client->is_alive();
  return is_usable && !server.drifted.contains(permission.tool()) ? &server : nullptr;
}

gate::Upstream::CallToken Upstreams::forward(const Permission& permission, Json arguments,
                                             std::shared_ptr<gate::Caller> caller,
                                             std::function<void(Result<Json>)> done) {
  const CallToken token = next_token_++;
  Call& begun = calls_[token];
  begun.signal = std::make_unique<asio::cancellation_signal>();
  const auto& signal = begun.signal;
  // Told once, also where what could not be begun was answered all the same; shared, since a copy
  // of `done` is one of all that it holds.
  auto ended = [this, token,
                done = std::make_shared<std::function<void(Result<Json>)>>(std::move(done))](
                   Result<Json> result) {
    if (calls_.erase(token) != 0) (*done)(std::move(result));
  };
  if (Server* server = at_hand(permission, caller.get())) {
    begun.was_sent = true;
    // What is needed to make it once more, in a session that the server knows.
    struct Again {
      Server& server;
      const mcp::Client* client;  // compared, not used
      Permission permission;
      Json arguments;
      std::shared_ptr<gate::Caller> caller;
      bool is_unmade = false;
    };
    try {
      const auto again = server->config.is_http()
                             ? std::make_shared<Again>(Again{*server, server->client.get(),
                                                             permission, arguments, caller})
                             : nullptr;
      auto events = events_for(executor_, std::move(caller), permission.server());
      if (again) events.unmade = [again] { again->is_unmade = true; };
      server->client->start_call(
          {.tool = permission.tool(),
           .arguments = std::move(arguments),
           .timeout = server->config.timeout,
           .events = std::move(events)},
          [this, token, again, ended, server](Result<Json> result) {
            const auto call = calls_.find(token);
            tell_of_failure(*server, result);
            if (again) note_answer(again->server, again->client, result);
            if (!again || !again->is_unmade || call == calls_.end() || call->second.is_cancelled)
              return ended(std::move(result));
            call->second.was_sent = false;
            begin_waiting(token, again->permission, std::move(again->arguments),
                          std::move(again->caller), ended);
          },
          signal->slot());
    } catch (const std::exception&) {
      asio::post(executor_, [ended = std::move(ended)] { ended(no_answer()); });
    }
    return token;
  }
  begin_waiting(token, permission, std::move(arguments), std::move(caller), std::move(ended));
  return token;
}

void Upstreams::begin_waiting(CallToken token, Permission permission, Json arguments,
                              std::shared_ptr<gate::Caller> caller, Ended ended) {
  asio::co_spawn(executor_,
                 call(token, std::move(permission), std::move(arguments), std::move(caller)),
                 asio::bind_cancellation_slot(
                     calls_.at(token).signal->slot(),
                     [ended = std::move(ended)](std::exception_ptr bug, Result<Json> result) {
                       if (bug) result = no_answer();
                       ended(std::move(result));
                     }));
}

// A server that is being compared is not known to have drifted; its calls wait in call().
bool Upstreams::quarantines(const Permission& permission) const {
  const auto found = servers_.find(permission.server());
  return found != servers_.end() && found->second->drifted.contains(permission.tool());
}

void Upstreams::cancel(CallToken token) {
  const auto found = calls_.find(token);
  if (found == calls_.end()) return;
  found->second.is_cancelled = true;
  found->second.signal->emit(asio::cancellation_type::terminal);
}

bool Upstreams::was_sent(CallToken token) const {
  const auto found = calls_.find(token);
  return found == calls_.end() || found->second.was_sent;
}

bool Upstreams::quarantines_for(const std::string& client, const Permission& permission) const {
  const auto found = servers_.find(process_of(permission, client));
  return found != servers_.end() && found->second->drifted.contains(permission.tool());
}

gate::Upstream::Secrecy Upstreams::redact(const Permission& permission, const Json& arguments,
                                          Json& redacted) const {
  if (!was_reached(permission.server())) return Secrecy::kUnknown;
  // Processes that are one client's mostly have the same ones.
  std::vector<const mcp::SecretValues*> sets;
  const auto add = [&](const mcp::SecretValues& one) {
    const auto is_same = [&](const mcp::SecretValues* other) { return *other == one; };
    if (!one.empty() && std::ranges::none_of(sets, is_same)) sets.push_back(&one);
  };
  for (const auto& [name, server] : with_client_) add(server->client->secrets());
  for (const auto& past : pasts_) add(past->secrets);
  Secrecy secrecy = Secrecy::kNone;
  for (const mcp::SecretValues* secrets : sets) {
    if (!secrets->occurs_within(arguments)) continue;
    if (secrecy == Secrecy::kNone) redacted = arguments;
    secrets->redact(redacted);
    secrecy = Secrecy::kRedacted;
  }
  return secrecy;
}

std::string Upstreams::amiss(const std::set<std::string>& servers) const {
  std::string text;
  for (const auto& [name, owned] : servers_) {
    const Server& server = *owned;
    if (!servers.contains(name) || server.is_resting) continue;
    std::string state;
    if (!server.running || (!server.ready && !server.client))
      state = "is still starting: calls to it wait";
    else if (server.failure && server.failure->id == ErrorId::kLockDrift)
      state = "is another one than was approved: it is not called";
    else if (server.failure)
      state = "could not be started or reached";
    else if (!server.drifted.empty())
      state = fmt::format("has {} that changed since {} approved: not offered",
                          counted(server.drifted.size(), "tool"),
                          server.drifted.size() == 1 ? "it was" : "they were");
    if (!state.empty())
      text += fmt::format("{}{} {}", text.empty() ? "" : "; ", server.config.name, state);
  }
  return text;
}

bool Upstreams::all_well() const {
  return std::ranges::all_of(servers_, [](const auto& entry) {
    const Server& server = *entry.second;
    const bool is_down = server.failure || (server.client && !server.client->is_alive());
    return server.drifted.empty() && (server.is_resting || !is_down);
  });
}

asio::awaitable<void> Upstreams::close() {
  // One coroutine a server, so that a slow one does not make the others wait. A server that is
  // still connecting is not waited for: its client dies with the event loop, and kills what it
  // started.
  std::size_t open = 0;
  asio::steady_timer done(executor_, asio::steady_timer::time_point::max());
  for (auto& [name, server] : servers_) {
    server->next_try.cancel();
    if (!server->client) continue;
    ++open;
    asio::co_spawn(executor_, server->client->close(), [&open, &done](const std::exception_ptr&) {
      if (--open == 0) done.expires_at(asio::steady_timer::time_point::min());
    });
  }
  if (open > 0) {
    boost::system::error_code ignored;
    co_await done.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

}  // namespace mcpac::servers
