// HttpDoor: clients over Streamable HTTP, on this machine alone.
//
// Every request is looked at in this order: its head (head.h), who sends it (a bearer token, in a
// header and nowhere else), its body. Sessions of the `initialize` era belong to the guest that
// began them; requests of 2026-07-28 stand alone. All of it is bounded: connections, sizes, times,
// sessions, and what is kept for a client that comes back. On the executor it is given, one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "core/error.h"
#include "gateway/http/conversation.h"
#include "gateway/http/head.h"

namespace mcpac::gateway::http {

// Who sent a request, and what it may do.
struct Guest {
  std::string name;
  std::shared_ptr<ClientRun> run;
};

struct HttpLimits {
  std::size_t max_connections = 1024;
  std::size_t max_head = std::size_t{16} << 10U;
  std::size_t max_body = std::size_t{16} << 20U;  // one message, as on every door
  std::size_t max_sessions = 256;                 // of one guest
  std::chrono::milliseconds head_time{10'000};    // from its first byte, or the connection's begin
  std::chrono::milliseconds body_time{30'000};
  std::chrono::milliseconds write_time{30'000};       // of one piece; who reads slower is cut off
  std::chrono::milliseconds idle_time{120'000};       // between requests
  std::chrono::milliseconds session_time{3'600'000};  // of silence
  // An answer that comes sooner comes as JSON; for a later one a stream is begun.
  std::chrono::milliseconds json_within{1'000};
  std::chrono::milliseconds keep_alive{15'000};  // of a stream on which nothing is said
};

struct HttpDoorSetup {
  std::string address = "127.0.0.1";  // a loopback address
  std::uint16_t port = 0;             // 0: any that is free
  // Nothing: nobody has this token.
  std::function<std::expected<Guest, Refusal>(std::string_view token)> admit;
  HttpLimits limits{};
};

class HttpDoor : public std::enable_shared_from_this<HttpDoor> {
 public:
  [[nodiscard]] static Result<std::shared_ptr<HttpDoor>> open(
      const boost::asio::any_io_executor& executor, HttpDoorSetup setup);
  ~HttpDoor();
  HttpDoor(const HttpDoor&) = delete;
  HttpDoor& operator=(const HttpDoor&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  // Nobody new is let in, no further request is taken; what is in work goes on.
  void finish();
  void close();
  [[nodiscard]] std::size_t connections() const { return peers_.size(); }
  [[nodiscard]] std::size_t sessions() const { return sessions_.size(); }

 private:
  friend class Peer;
  struct Session {
    std::string guest;
    std::shared_ptr<Conversation> conversation;
    std::chrono::steady_clock::time_point last_used;
  };

  HttpDoor(const boost::asio::any_io_executor& executor, HttpDoorSetup setup);
  [[nodiscard]] Result<void> listen();
  void accept();
  void accept_later();
  void welcome(boost::asio::ip::tcp::socket socket);
  // The longest silent connection that has not shown a token makes room.
  [[nodiscard]] bool make_room();
  void sweep();

  // The id of a new session; nothing: the guest has too many.
  [[nodiscard]] std::string add_session(const Guest& guest,
                                        const std::shared_ptr<Conversation>& conversation);
  // Null: there is none, or it is somebody else's.
  [[nodiscard]] std::shared_ptr<Conversation> find_session(const Guest& guest, std::string_view id);
  void end_session(std::string_view id);

  boost::asio::any_io_executor executor_;
  HttpDoorSetup setup_;
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer pause_;  // after a connection that could not be taken
  boost::asio::steady_timer sweep_;
  std::uint16_t port_ = 0;
  std::uint64_t peers_so_far_ = 0;
  std::set<std::shared_ptr<class Peer>> peers_;
  std::map<std::string, Session, std::less<>> sessions_;
  bool finishing_ = false;
  bool closed_ = false;
};

}  // namespace mcpac::gateway::http
