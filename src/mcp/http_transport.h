// SPDX-License-Identifier: Apache-2.0

// HttpTransport: Streamable HTTP. Every message is a POST; its answer is JSON or a stream of
// events.
//
// Requests run side by side, each on a connection of its own, as many as http_turns.h lets go at a
// time; idle connections are kept for four seconds. Redirects are not followed: they would carry
// configured headers to a host that was not configured. A stream that breaks before its answer is
// resumed with Last-Event-ID when the server numbers its events; a POST is never sent twice.
// Everything that comes in is bounded.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "mcp/answers_under_way.h"
#include "mcp/http_connection.h"
#include "mcp/http_headers.h"
#include "mcp/http_readings.h"
#include "mcp/http_turns.h"
#include "mcp/oauth/authorizer.h"
#include "mcp/read_throttle.h"
#include "mcp/secrets.h"
#include "mcp/sse_parser.h"
#include "mcp/transport.h"

namespace mcpac::mcp {

class HttpTransport final : public Transport, public std::enable_shared_from_this<HttpTransport> {
 public:
  // Expands URL and headers. `authorizer` may be null: then 401 is an answer like any other.
  // `room`: of all servers of this loop.
  [[nodiscard]] static Result<std::shared_ptr<HttpTransport>> make(
      boost::asio::any_io_executor executor, const ServerConfig& config, SecretValues& secrets,
      std::shared_ptr<oauth::Authorizer> authorizer, std::shared_ptr<ConnectionRoom> room);
  ~HttpTransport() override;

  void start(TransportEvents events) override;
  void send(Outgoing message) override;
  bool abandon(std::int64_t request_id) override;
  void set_protocol(Era era, const std::string& version) override;
  void listen() override;
  boost::asio::awaitable<void> until_listening(std::chrono::milliseconds at_most) override;
  boost::asio::awaitable<void> close() override;
  void kill() override;

 private:
  using Connection = std::shared_ptr<HttpConnection>;
  class Lease;
  struct Idle {
    Connection connection;
    std::chrono::steady_clock::time_point since;
  };
  // How a stream of events ended, and what is needed to go on where it broke off.
  struct StreamEnd {
    std::string last_event{};
    std::chrono::milliseconds retry{1'000};
    std::optional<Error> error{};
    bool is_none = false;  // the server has no such stream, and will not have one
    bool stood = false;    // there was one, however short
  };

  HttpTransport(boost::asio::any_io_executor executor, std::string server, HttpState state,
                std::chrono::milliseconds grace, std::shared_ptr<boost::asio::ssl::context> tls,
                std::shared_ptr<oauth::Authorizer> authorizer,
                std::shared_ptr<ConnectionRoom> room);

  // http_transport.cpp, http_answer.cpp: sending
  // Now, or when it has its turn.
  void send_in_turn(Outgoing message);
  void spawn_post(Outgoing message);
  void end_turn(const HttpTurns::Client& client);
  // Those whose turn has come go.
  void go_on();
  boost::asio::awaitable<void> post(Outgoing message);
  // How one exchange went: answered, or with a token that the server does not accept.
  struct Delivered {
    Result<void> outcome{};
    std::optional<HttpHead> challenge{};
    std::string used{};     // the token that it came with
    bool is_moved = false;  // to another path of the same origin, which `state_` has now
  };
  boost::asio::awaitable<Delivered> deliver(Outgoing& message, Lease& lease);
  boost::asio::awaitable<Result<void>> deliver_authorized(Outgoing& message);
  // Whether a redirect of the first request leads to another path of the same origin; then it is
  // taken (RFC 9110, 15.4.8 and 15.4.9: the method and the body stay).
  bool follows(const HttpHead& head);
  // Adds the token that there is; the same is answered.
  std::string authorize(HttpRequest& request) const;
  boost::asio::awaitable<void> delete_session();
  void keep_idle(Connection connection);
  void watch_idle();
  [[nodiscard]] bool is_live(const Outgoing& message) const;
  void release_held();
  void give_up(Error error);
  // http_answer.cpp: receiving
  boost::asio::awaitable<Result<void>> take_answer(const Outgoing& message, HttpHead head,
                                                   Connection connection);
  boost::asio::awaitable<Result<void>> take_refusal(const Outgoing& message, HttpHead head,
                                                    Connection connection);
  // Until more of it may be read, or its connection is closed.
  boost::asio::awaitable<void> until_room(const HttpReadings::Reading& reading,
                                          Connection connection);
  boost::asio::awaitable<Result<std::string>> read_all(Connection connection, std::size_t limit);
  // `reading` goes on to hold it, until who asked has taken it.
  boost::asio::awaitable<Result<std::string>> read_all(Connection connection, std::size_t limit,
                                                       HttpReadings::Reading& reading);
  boost::asio::awaitable<StreamEnd> read_events(Connection connection, std::string last_event,
                                                std::optional<std::int64_t> id);
  boost::asio::awaitable<Result<void>> resume(std::int64_t id, StreamEnd end);
  boost::asio::awaitable<Result<StreamEnd>> get_events(std::string last_event,
                                                       std::optional<std::int64_t> id);
  boost::asio::awaitable<void> listen_loop();
  void stream_settled();
  void hear_again(bool is_resumed);
  boost::asio::awaitable<void> pause(std::chrono::milliseconds time);
  void receive(std::string_view text, std::optional<std::int64_t> carrier);
  // ... once the server's last long message is some time ago.
  boost::asio::awaitable<void> receive_in_pace(std::string_view text,
                                               std::optional<std::int64_t> carrier);
  [[nodiscard]] bool is_waiting(std::optional<std::int64_t> id) const;
  // Whether the server refuses whatever comes with our session. False where it does not say so.
  boost::asio::awaitable<bool> is_session_gone();
  // `id`: of the request that was refused for that; `status`: what it was answered with.
  void lose_session(std::optional<std::int64_t> id, unsigned status);
  [[nodiscard]] std::unexpected<Error> failure(ErrorId id, std::string what, std::string why = "",
                                               std::string fix = "") const;
  [[nodiscard]] Error refusal(const HttpHead& head, std::string_view body) const;

  boost::asio::any_io_executor executor_;
  std::string server_;
  HttpState state_;
  std::chrono::milliseconds grace_;
  std::shared_ptr<boost::asio::ssl::context> tls_;
  std::shared_ptr<oauth::Authorizer> authorizer_;
  std::shared_ptr<const TransportEvents> events_;
  std::shared_ptr<ConnectionRoom> room_;
  HttpTurns turns_;
  bool waits_for_room_ = false;
  std::vector<Idle> idle_;  // the last used is the last, and taken first
  boost::asio::steady_timer idle_watch_;
  bool is_watching_idle_ = false;
  std::set<Connection> active_;
  ReadThrottle pace_;
  HttpReadings readings_;
  std::set<std::int64_t> live_;                 // requests that have a waiter
  std::map<std::int64_t, Connection> carrier_;  // ... and the connection that carries each
  std::set<boost::asio::steady_timer*> timers_;
  bool is_stream_settled_ = false;  // of listen(): it was answered, whatever with
  // When the session was last told to compare what it may not have heard of.
  std::chrono::steady_clock::time_point hears_again_{};
  boost::asio::steady_timer* stream_wait_ = nullptr;
  AnswersUnderWay answers_;
  std::deque<Outgoing> held_;
  bool holding_ = false;  // notifications/initialized is on its way; nothing may overtake it
  bool is_lost_ = false;  // the session, at the server
  int may_move_ = 3;      // redirects that may be followed yet; none once a request was answered
  bool closed_ = false;
};

// One connection for one exchange: from the idle ones, or new and still to be opened. At its end it
// goes back to the idle ones when it can be used again.
class HttpTransport::Lease {
 public:
  Lease(HttpTransport& transport, std::optional<std::int64_t> id);
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease();
  [[nodiscard]] const Connection& connection() const { return connection_; }
  [[nodiscard]] bool is_new() const { return is_new_; }

 private:
  HttpTransport& transport_;
  std::optional<std::int64_t> id_;
  Connection connection_;
  bool is_new_ = false;
};

}  // namespace mcpac::mcp
