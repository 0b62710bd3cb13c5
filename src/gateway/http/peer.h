// SPDX-License-Identifier: Apache-2.0

// Peer: one TCP connection to the door, one request after another.
//
// A request that is refused before its body was read ends the connection: what follows on it cannot
// be trusted to be a request. Each step has its time; a client that sends or reads too slowly is
// cut off.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/string_body.hpp>

#include "gateway/http/door.h"
#include "gateway/http/http_session.h"
#include "gateway/http/wire.h"
#include "ipc/coarse_timer.h"
#include "ipc/http_pieces.h"
#include "ipc/json_rpc.h"

namespace mcpac::gateway::http {

class Peer : public std::enable_shared_from_this<Peer> {
 public:
  // `turn` counts connections.
  Peer(std::shared_ptr<HttpDoor> door, boost::asio::ip::tcp::socket socket, std::uint64_t turn);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  void start();
  // Subscriptions of the request in work end with their answer.
  void finish();
  void close();
  [[nodiscard]] bool has_shown_token() const { return has_shown_token_; }
  [[nodiscard]] bool is_idle() const { return idle_; }
  [[nodiscard]] bool is_closed() const { return gone_; }
  // Of the guest whose token was shown last; null before.
  [[nodiscard]] const ClientShare* share() const { return share_.get(); }
  [[nodiscard]] std::uint64_t turn() const { return turn_; }

 private:
  using Parser = ipc::UnfoldedRequestParser<boost::beast::http::string_body>;
  template <class T = void>
  using Task = boost::asio::awaitable<T>;

  // Form of a stream: whether a lone answer may be plain JSON, and whether events have ids.
  struct Telling {
    Telling() {}  // NOLINT(modernize-use-equals-default): no aggregate (head.h)
    std::uint64_t from = 0;
    bool as_json = false;
    bool only_json = false;  // no stream is begun: what comes before the answer is not told
    bool with_ids = false;
    bool stateless = false;
    std::string session_id{};           // told with the answer to initialize
    std::chrono::milliseconds grace{};  // for an answer that is waited for when the token ends
  };

  Task<> serve();
  Task<> leave();
  // False: the connection ends here.
  Task<bool> serve_one();
  // Public answers, with or without a token: whether mcpac serves, and documents.
  [[nodiscard]] bool is_for_all(const Head& head) const;
  Task<> answer_all(const Head& head);
  // Reads and understands one piece more of it.
  Task<boost::system::error_code> read_piece(Parser& parser);
  Task<bool> read_head(Parser& parser);
  Task<bool> read_body(Parser& parser, BodyRoom& room);
  // Nothing: none came free in time, and the client was told so.
  Task<std::optional<BodyRoom>> find_body_room(std::size_t bytes);
  // False: this guest has too many connections.
  [[nodiscard]] bool belong_to(const AdmittedClient& guest);
  Task<bool> route(const AdmittedClient& guest, const Head& head, std::string body);
  Task<bool> post(const AdmittedClient& guest, const Head& head, std::string body);
  // The message of a body; a long one is read beside the loop, when its guest's turn comes.
  // Nothing: the connection is gone.
  Task<std::optional<BodyReader::Decoded>> decode(std::string body);
  // Until this guest's next long body may be worked on.
  Task<> rest();
  // To the session, on the account of the guest.
  void hand_in(HttpSession& conversation, ipc::Message message);
  Task<bool> post_stateless(const AdmittedClient& guest, const Head& head, ipc::Message message);
  Task<bool> post_initialize(const AdmittedClient& guest, Telling telling, ipc::Message message);
  Task<bool> post_in_session(HttpSession& conversation, Telling telling, ipc::Message message);
  Task<bool> get(const AdmittedClient& guest, const Head& head);
  Task<bool> remove(const AdmittedClient& guest, const Head& head);

  // By what the client accepts.
  [[nodiscard]] static Telling telling_of(const Head& head);
  // True: all of it was taken by the client.
  Task<bool> tell(std::shared_ptr<EventStream> stream, Telling telling);
  Task<bool> begin_events(const Telling& telling);
  Task<bool> send_event(const EventStream& stream, std::uint64_t place, const Telling& telling);
  Task<bool> send_chunk(std::string text);
  Task<bool> end_events();

  Task<bool> answer_json(unsigned status, std::string_view body, std::string_view session_id = "");
  Task<bool> answer_empty(unsigned status);
  Task<bool> refuse(Refusal refusal, std::int64_t code = ipc::kInvalidRequest,
                    const std::optional<ipc::Id>& id = std::nullopt);
  // The same, and the connection ends.
  Task<bool> turn_away(Refusal refusal);
  // The beginning of an answer: its status, and what all of them say. Lines of further headers
  // follow, and an empty one.
  [[nodiscard]] std::string answer_head(unsigned status) const;
  // `head` without its end. `body` is there until it is written.
  Task<bool> write(unsigned status, std::string head, std::string_view body);
  // One behind the other, which are there until it is done; or the client reads too slowly.
  Task<bool> send(std::string_view first, std::string_view second = {});
  void count(unsigned status);
  // The token of the request in work is worth nothing any more. Looked at anew when it is time.
  [[nodiscard]] bool is_over(std::chrono::milliseconds grace);
  // Hears of it when the client goes while its request is in work.
  void watch();

  std::shared_ptr<HttpDoor> door_;
  std::shared_ptr<ClientShare> share_;
  std::string guest_;  // whose share that is
  Wire stream_;
  boost::beast::flat_buffer buffer_;
  ipc::AsyncEvent wake_;
  std::shared_ptr<HttpSession> current_;                   // of a stateless request in work
  std::string challenge_;                                  // of the refusal that is being said
  std::function<bool(std::chrono::milliseconds)> stands_;  // of the request in work; may be null
  std::chrono::steady_clock::time_point look_at_;          // when that is asked next
  bool keep_alive_ = true;
  bool has_chunks_ = true;  // not of HTTP/1.0, where the end of the connection is that of a stream
  bool has_shown_token_ = false;
  bool idle_ = true;
  bool watching_ = false;
  bool unread_ = false;  // the client sent something while its request is in work
  bool gone_ = false;
  std::uint64_t turn_;
};

}  // namespace mcpac::gateway::http
