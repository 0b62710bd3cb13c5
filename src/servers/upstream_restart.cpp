// SPDX-License-Identifier: Apache-2.0

// Servers that ended are started again, where that was asked for: with the next call, not before,
// and not more often than the back-off allows. What is started again is held against the lock like
// the first time; a tool that had drifted stays refused, and a server that is another one by now is
// not used.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "servers/server_of_run.h"

namespace mcpac::servers {
bool is_passing(const Error& error) {
  switch (error.id) {
    case ErrorId::kServerStart:
    case ErrorId::kServerDied:
    case ErrorId::kServerTimeout:
    case ErrorId::kServerBusy:
    case ErrorId::kServerHttp:
    case ErrorId::kServerTls: return true;
    default: return false;
  }
}

// True: it has ended, or could not be started, and may come back.
bool Upstreams::is_gone(const Server& server) {
  if (!server.ready) return false;  // it is being started or compared
  if (server.failure) return is_passing(*server.failure);
  return server.client && !server.client->is_alive();
}

bool Upstreams::comes_back(const Server& server) const {
  return (revives_ || server.is_renewing) && !server.is_resting && is_gone(server);
}

void Upstreams::revive(Server& server) {
  const auto now = std::chrono::steady_clock::now();
  const bool has_forgotten =
      server.ready && !server.failure && server.client && server.client->has_lost_session();
  if (has_forgotten) server.is_renewing = true;
  if (!comes_back(server)) return;
  // One that forgets is there, and has nothing to recover from: the call that met it goes on. One
  // that answered no call since its last session is asked for a new one at each call otherwise.
  if (has_forgotten && std::exchange(server.has_answered, false))
    server.renewals = RestartBackoff();
  RestartBackoff& back_off = has_forgotten ? server.renewals : server.back_off;
  if (!back_off.may_start(now)) return;
  back_off.started(now);
  begin_start_again(server, Returned::kRevived);
}

void Upstreams::begin_start_again(Server& server, Returned how) {
  server.ready = false;
  server.settled.expires_at(boost::asio::steady_timer::time_point::max());
  boost::asio::co_spawn(
      executor_, start_again(server, how), [this, &server, how](std::exception_ptr bug) {
        if (!bug) return;
        // Out of descriptors or memory: the waiting calls get an answer all the same.
        come_back(server,
                  fail(ErrorId::kServerStart,
                       fmt::format("the server {} could not be started", server.config.name)),
                  how);
      });
}

void Upstreams::start_own(OwnProcess process) {
  const auto [place, is_new] = servers_.try_emplace(process.name, nullptr);
  if (is_new) {
    own_.emplace(std::pair(process.config.name, process.client), process.name);
    place->second = std::make_unique<Server>(process.name, std::move(process.config), executor_);
    return begin(*place->second);
  }
  Server& server = *place->second;
  if (!std::exchange(server.is_resting, false)) return;
  // One that is starting, or on its way out, goes on when that is done.
  const bool is_there =
      !server.ready || (!server.failure && server.client && server.client->is_alive());
  if (!is_there) begin_start_again(server, Returned::kWoken);
}

void Upstreams::rest(const std::string& name) {
  const auto found = servers_.find(name);
  if (found == servers_.end() || std::exchange(found->second->is_resting, true)) return;
  Server& server = *found->second;
  if (server.is_closing) return;  // it was woken meanwhile, and sees to it itself
  boost::asio::co_spawn(executor_, begin_rest(server), [this, &server](std::exception_ptr bug) {
    if (!bug || !std::exchange(server.is_closing, false)) return;
    // Out of descriptors or memory: the waiting calls get an answer all the same, and the next
    // start ends what is left of it.
    come_back(server,
              fail(ErrorId::kServerStart,
                   fmt::format("the server {} could not be ended", server.config.name)),
              Returned::kWoken);
  });
}

boost::asio::awaitable<void> Upstreams::begin_rest(Server& server) {
  while (!server.ready) {
    boost::system::error_code ignored;
    co_await server.settled.async_wait(
        boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
  }
  if (!server.is_resting || !server.client) co_return;
  // Not ready: neither a call nor a comparison takes it for ended by itself, and starts it.
  server.is_closing = true;
  server.ready = false;
  server.settled.expires_at(boost::asio::steady_timer::time_point::max());
  server.next_try.cancel();
  const auto client = server.client;
  co_await client->close();
  server.is_closing = false;
  keep_past(server);
  if (!server.is_resting) {
    begin_start_again(server, Returned::kWoken);
    co_return;
  }
  server.ready = true;
  server.settled.expires_at(boost::asio::steady_timer::time_point::min());
}

void Upstreams::keep_past(Server& server) {
  Past past{server.client->secrets(), server.client->capabilities(),
            server.client->protocol_version() == mcp::kStatelessVersion};
  std::erase_if(pasts_, [](const auto& known) { return known.use_count() == 1; });
  const auto same = std::ranges::find_if(pasts_, [&](const auto& known) { return *known == past; });
  server.past = same == pasts_.end() ? std::make_shared<const Past>(std::move(past)) : *same;
  if (same == pasts_.end()) pasts_.push_back(server.past);
  with_client_.erase(server.name);
  server.client.reset();
}

boost::asio::awaitable<void> Upstreams::wait_until_idle(std::shared_ptr<mcp::Client> client,
                                                        std::chrono::milliseconds at_most) {
  constexpr std::chrono::milliseconds kLook{50};
  boost::asio::steady_timer pause(executor_);
  for (auto waited = kLook; !client->is_idle() && waited < at_most; waited += kLook) {
    pause.expires_after(kLook);
    co_await pause.async_wait(boost::asio::use_awaitable);
  }
}

boost::asio::awaitable<void> Upstreams::close_later(std::shared_ptr<mcp::Client> client,
                                                    std::chrono::milliseconds at_most) {
  co_await wait_until_idle(client, at_most);
  co_await client->close();
}

void Upstreams::start_anew(const std::string& name) {
  const auto found = servers_.find(name);
  if (found == servers_.end() || found->second->is_resting ||
      std::exchange(found->second->is_anew, true))
    return;
  Server& server = *found->second;
  boost::asio::co_spawn(executor_, begin_anew(server), [this, &server](std::exception_ptr bug) {
    if (!bug) return;
    server.is_anew = false;
    come_back(server,
              fail(ErrorId::kServerStart,
                   fmt::format("the server {} could not be started", server.config.name)),
              Returned::kAnew);
  });
}

boost::asio::awaitable<void> Upstreams::begin_anew(Server& server) {
  while (!server.ready) {
    boost::system::error_code ignored;
    co_await server.settled.async_wait(
        boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
  }
  if (server.is_resting || server.failure || !server.client || !server.client->is_alive()) {
    server.is_anew = false;
    co_return;
  }
  server.ready = false;
  server.settled.expires_at(boost::asio::steady_timer::time_point::max());
  const auto former = server.client;
  co_await wait_until_idle(former, server.config.timeout);
  co_await former->close();
  // The places are read at its start: rules that give more from here on ask for another one.
  server.is_anew = false;
  auto outcome = co_await connect(server);
  come_back(server, std::move(outcome), Returned::kAnew);
}

boost::asio::awaitable<void> Upstreams::start_again(Server& server, Returned how) {
  server.failure.reset();
  const auto former = server.client;
  if (former && former->has_lost_session()) {
    // Calls of others may still be answered.
    boost::asio::co_spawn(executor_, close_later(former, 10 * server.config.timeout),
                          boost::asio::detached);
  } else if (former) {
    co_await former->close();  // what is left of it
  }
  auto outcome = co_await connect(server);
  come_back(server, std::move(outcome), how);
}

void Upstreams::come_back(Server& server, Result<Drifted> outcome, Returned how) {
  if (heard_ && how != Returned::kWoken) {
    if (how == Returned::kAnew)
      heard_(outcome ? "a server was started again, as rules give it other places"
                     : "a server could not be started again, as rules give it other places",
             server.name);
    else if (server.is_renewing)
      heard_(outcome ? "a server that had forgotten its session was initialized again"
                     : "a server that had forgotten its session could not be initialized again",
             server.name);
    else
      heard_(outcome ? "a server that had ended was started again"
                     : "a server that had ended could not be started again",
             server.name);
  }
  if (outcome && how != Returned::kWoken) ++restarts_;
  if (outcome) {
    server.is_renewing = false;
    ++server.starts;
    settle(server, std::move(outcome));
    if (settled_) settled_();
    return;
  }
  server.failure = std::move(outcome.error());
  if (failed_) failed_(server.name, *server.failure);
  server.ready = true;
  server.settled.expires_at(boost::asio::steady_timer::time_point::min());
}

void Upstreams::note_answer(Server& server, const mcp::Client* client, const Result<Json>& answer) {
  const bool is_answer = answer || answer.error().id == ErrorId::kServerError;
  if (is_answer && server.client.get() == client) server.has_answered = true;
}

std::optional<Error> Upstreams::why_gone(const Server& server) const {
  if (!comes_back(server)) return std::nullopt;
  const bool has_failed = server.failure.has_value();
  const bool has_forgotten = !has_failed && server.client && server.client->has_lost_session();
  const auto wait =
      (has_forgotten ? server.renewals : server.back_off).wait(std::chrono::steady_clock::now());
  const std::string next =
      wait.count() > 0 ? fmt::format("it is not {} again before {} ms are over",
                                     server.config.is_http() ? "called" : "started", wait.count())
                       : std::string("the next call tries it again");
  if (has_forgotten)
    return fail(
               ErrorId::kServerHttp,
               fmt::format("the server {} forgets each session before it answers a call in it; the "
                           "call was not sent, and {}",
                           server.config.name, next),
               {.why = "it refuses every call with HTTP status 404, 400 or 401, as a server does "
                       "that does not know the session",
                .fix = "check its url; behind a load balancer the calls of one session must reach "
                       "one process"})
        .error();
  return fail(ErrorId::kServerDied,
              fmt::format("the server {} {}; the call was not sent, and {}", server.config.name,
                          has_failed ? "could not be started" : "has ended", next),
              {.why = has_failed ? server.failure->what : ""})
      .error();
}

}  // namespace mcpac::servers
