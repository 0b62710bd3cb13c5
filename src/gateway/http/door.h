// SPDX-License-Identifier: Apache-2.0

// HttpDoor: clients over Streamable HTTP; without TLS, on this machine alone.
//
// Every request is looked at in this order: its head (head.h), who sends it (a bearer token, in a
// header and nowhere else), its body. Sessions of the `initialize` era belong to the guest that
// began them; requests of 2026-07-28 stand alone. All of it is bounded: connections, sizes, times,
// sessions, and what is kept for a client that comes back. On the executor it is given, one thread.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "core/error.h"
#include "gateway/http/body_reader.h"
#include "gateway/http/client_share.h"
#include "gateway/http/head.h"
#include "gateway/http/http_session.h"
#include "mcp/read_throttle.h"

namespace mcpac::gateway::http {

// Who sent a request, and what it may do.
struct AdmittedClient {
  std::string name;
  std::shared_ptr<ClientGrant> run;
  // Whether the token that was shown would still be admitted, or would have been so long ago and
  // was not taken back; asked now and then while an answer is told. Null: its authenticator ends
  // the run when it would not.
  std::function<bool(std::chrono::milliseconds grace)> stands = nullptr;
};

struct HttpLimits {
  std::size_t max_connections = 2048;
  std::size_t max_client_connections = 1536;  // of one guest: the others have room, too
  std::size_t max_head = std::size_t{16} << 10U;
  std::size_t max_body = std::size_t{16} << 20U;  // one message, as on every door
  std::size_t max_sessions = 256;                 // of one guest
  ShareLimits share{};                            // of one guest
  std::chrono::milliseconds head_time{10'000};    // from its first byte, or the connection's begin
  std::chrono::milliseconds body_time{30'000};
  std::chrono::milliseconds write_time{30'000};       // of one piece; who reads slower is cut off
  std::chrono::milliseconds idle_time{120'000};       // between requests
  std::chrono::milliseconds session_time{3'600'000};  // of silence
  // An answer that comes sooner comes as JSON; for a later one a stream is begun.
  std::chrono::milliseconds json_within{1'000};
  std::chrono::milliseconds keep_alive{15'000};  // of a stream on which nothing is said
  // How long a stream may outlive the token that it was begun with: until that is noticed; and how
  // much longer where it only waits for the answer to a call, and the token's time ran out.
  std::chrono::milliseconds look_again{5'000};
  std::chrono::milliseconds grace{300'000};
};

// A public document at a path, made when it is asked for.
struct Document {
  std::string type = "application/json";
  std::function<std::string()> make;
};

struct HttpDoorSetup {
  std::string address = "127.0.0.1";  // without TLS, a loopback address
  std::uint16_t port = 0;             // 0: any that is free
  std::vector<std::string> hosts{};   // names by which clients call us, beside the address
  std::vector<PublicUrl> urls{};      // and by which they come through a proxy
  std::shared_ptr<boost::asio::ssl::context> tls = nullptr;
  // An error: the token is unknown.
  using Admission = std::expected<AdmittedClient, Refusal>;
  std::function<boost::asio::awaitable<Admission>(std::string token)> admit;
  // Said with 401 and 403: where tokens are to be had.
  std::string challenge{};
  std::map<std::string, Document, std::less<>> documents{};  // by their paths
  HttpLimits limits{};
};

class HttpDoor : public std::enable_shared_from_this<HttpDoor> {
 public:
  [[nodiscard]] static Result<std::shared_ptr<HttpDoor>> open(
      const boost::asio::any_io_executor& executor, HttpDoorSetup setup);
  ~HttpDoor();
  HttpDoor(const HttpDoor&) = delete;
  HttpDoor& operator=(const HttpDoor&) = delete;

  [[nodiscard]] std::uint16_t port() const { return names_.port; }
  // No new client is admitted, no further request is taken; what is in work goes on.
  void finish();
  void close();
  // Another certificate, for connections from now on. Of a door that has TLS.
  void renew_tls(std::shared_ptr<boost::asio::ssl::context> tls) { setup_.tls = std::move(tls); }
  [[nodiscard]] std::size_t connections() const { return peers_.size(); }
  [[nodiscard]] std::size_t sessions() const { return sessions_.size(); }
  // Answers so far, by the first digit of their status.
  [[nodiscard]] const std::array<std::uint64_t, 6>& answers() const { return answers_; }
  // Bytes that are held for this guest.
  [[nodiscard]] std::size_t held_for(const std::string& guest) const;

 private:
  friend class Peer;
  struct Session {
    std::string guest;
    std::shared_ptr<HttpSession> conversation;
    std::chrono::steady_clock::time_point last_used;
  };

  HttpDoor(const boost::asio::any_io_executor& executor, HttpDoorSetup setup);
  [[nodiscard]] Result<void> listen();
  void accept();
  void accept_later();
  void welcome(boost::asio::ip::tcp::socket socket);
  // The longest silent connection makes room, those first that have not shown a token; of `guest`
  // alone, where there is one. False: all of them are at work.
  [[nodiscard]] bool make_room(const ClientShare* guest = nullptr);
  [[nodiscard]] std::shared_ptr<ClientShare> share_of(const AdmittedClient& guest);
  void sweep();

  // The id of a new session; nothing: the guest has too many.
  [[nodiscard]] std::string add_session(const AdmittedClient& guest,
                                        const std::shared_ptr<HttpSession>& conversation);
  // Null: there is none, or it is another client's.
  [[nodiscard]] std::shared_ptr<HttpSession> find_session(const AdmittedClient& guest,
                                                          std::string_view id);
  void end_session(std::string_view id);

  // How long this guest's next long body waits: what came of those before took more than its share
  // of the loop. Kept while it counts, also where the guest comes by another connection.
  [[nodiscard]] std::chrono::steady_clock::duration rest_of(const std::string& guest) const;
  void took(const std::string& guest, std::chrono::steady_clock::time_point begun);

  boost::asio::any_io_executor executor_;
  HttpDoorSetup setup_;
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer pause_;  // after a connection that could not be taken
  boost::asio::steady_timer sweep_;
  OurNames names_;
  std::uint64_t peers_so_far_ = 0;
  std::set<std::shared_ptr<class Peer>> peers_;
  std::map<std::string, Session, std::less<>> sessions_;
  std::map<std::string, std::weak_ptr<ClientShare>, std::less<>> shares_;
  std::map<std::string, mcp::ReadThrottle, std::less<>> paces_;  // of guests that must rest
  BodyReader long_bodies_;
  std::array<std::uint64_t, 6> answers_{};
  bool finishing_ = false;
  bool closed_ = false;
};

}  // namespace mcpac::gateway::http
