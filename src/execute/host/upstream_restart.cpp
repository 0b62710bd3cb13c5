// Servers that ended are started again, where that was asked for: with the next call, not before,
// and not more often than the back-off allows. What is started again is held against the lock like
// the first time; a tool that had drifted stays refused, and a server that is another one by now is
// not used.
#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>

#include "execute/host/server_of_run.h"

namespace mcpac::execute {
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

void Upstreams::revive(Server& server) {
  const auto now = std::chrono::steady_clock::now();
  if (!revives_ || !is_gone(server) || !server.back_off.may_start(now)) return;
  server.back_off.started(now);
  server.ready = false;
  server.settled.expires_at(boost::asio::steady_timer::time_point::max());
  boost::asio::co_spawn(executor_, start_again(server), [this, &server](std::exception_ptr bug) {
    if (!bug) return;
    // Out of descriptors or memory: those who wait get an answer all the same.
    come_back(server, fail(ErrorId::kServerStart,
                           fmt::format("the server {} could not be started", server.config.name)));
  });
}

boost::asio::awaitable<void> Upstreams::start_again(Server& server) {
  server.failure.reset();
  const auto former = server.client;
  if (former) co_await former->close();  // what is left of it
  auto outcome = co_await connect(server);
  come_back(server, std::move(outcome));
}

void Upstreams::come_back(Server& server, Result<Drifted> outcome) {
  if (heard_) {
    heard_(outcome ? "a server that had ended was started again"
                   : "a server that had ended could not be started again",
           server.config.name);
  }
  if (outcome) ++restarts_;
  if (outcome) {
    ++server.starts;
    settle(server, std::move(outcome));
    if (settled_) settled_();
    return;
  }
  server.failure = std::move(outcome.error());
  if (failed_) failed_(server.config.name, *server.failure);
  server.ready = true;
  server.settled.expires_at(boost::asio::steady_timer::time_point::min());
}

std::optional<Error> Upstreams::why_gone(const Server& server) const {
  if (!revives_ || !is_gone(server)) return std::nullopt;
  const auto wait = server.back_off.wait(std::chrono::steady_clock::now());
  const bool never_came = server.failure && server.failure->id == ErrorId::kServerStart;
  return fail(ErrorId::kServerDied,
              fmt::format("the server {} {}, and is not started again before {} ms are over",
                          server.config.name, never_came ? "could not be started" : "has ended",
                          wait.count()),
              {.why = server.failure ? server.failure->what : ""})
      .error();
}

}  // namespace mcpac::execute
