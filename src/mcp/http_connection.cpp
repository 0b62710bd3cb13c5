#include "mcp/http_connection.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>

#include "core/ascii.h"
#include "ipc/dead_peer.h"
#include "ipc/http_pieces.h"
#include "mcp/url_addresses.h"

namespace mcpac::mcp {
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace {

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr std::uint32_t kMaxHead = std::uint32_t{64} << 10U;
// What the parser has room for: as much as is buffered of a body.
constexpr std::size_t kChunk = HttpConnection::kPiece;
// With the beginning of a body, mostly the whole: a head alone is shorter.
constexpr std::size_t kFirstPiece = std::size_t{4} << 10U;
// What is read and not yet understood. The limit of the head holds for the head alone: the line
// that begins a chunk and the trailer after the last one would else grow as long as the server
// likes.
constexpr std::size_t kMaxUnread = kMaxHead + kChunk;
// Informational responses (1xx) before the final one: RFC 9110, section 15.2, has a client skip
// them.
constexpr int kMostInterim = 16;
// A request without an answer of its own has no other clock.
constexpr std::chrono::seconds kConnectTimeout{30};

using PlainStream = beast::tcp_stream;
using TlsStream = beast::ssl_stream<beast::tcp_stream>;

std::string media_type(std::string_view header) {
  header = header.substr(0, header.find(';'));
  while (header.ends_with(' ') || header.ends_with('\t')) header.remove_suffix(1);
  return lowered(header);
}

// As it is sent: the library's serializer writes each field by itself.
std::string head_of(const HttpRequest& request) {
  std::string head;
  const auto text_of = [](auto text) { return std::string_view(text.data(), text.size()); };
  head.append(text_of(request.method_string())).append(" ");
  head.append(text_of(request.target())).append(" HTTP/1.1\r\n");
  for (const auto& field : request) {
    head.append(text_of(field.name_string())).append(": ");
    head.append(text_of(field.value())).append("\r\n");
  }
  return head.append("\r\n");
}

template <class Stream>
class Connection final : public HttpConnection {
 public:
  Connection(asio::any_io_executor executor, Url url, std::shared_ptr<asio::ssl::context> tls,
             Reach reach)
      : url_(std::move(url)),
        tls_(std::move(tls)),
        reach_(reach),
        looking_up_(executor),
        stream_(make_stream(executor, tls_)) {}

  asio::awaitable<Result<void>> open() override {
    auto addresses = co_await addresses_of(url_, looking_up_);
    boost::system::error_code error;
    if (closed_) error = asio::error::operation_aborted;
    if (error) co_return failure(ErrorId::kServerHttp, "cannot find the host", error);
    if (!addresses) co_return pass_on(addresses);
    const bool beyond = std::ranges::any_of(
        *addresses, [this](const auto& address) { return reach_at(address) > reach_; });
    if (beyond) {
      co_return fail(ErrorId::kServerHttp,
                     "the host has an address of this machine, or of a private network, to which "
                     "its server may not lead",
                     {.where = url_.authority()});
    }
    std::vector<asio::ip::tcp::endpoint> endpoints;
    for (const auto& address : *addresses) endpoints.emplace_back(address, url_.port);
    lowest().expires_after(kConnectTimeout);
    auto [refused, peer] = co_await lowest().async_connect(endpoints, kAwait);
    if (refused) co_return failure(ErrorId::kServerHttp, "cannot connect", refused);
    lowest().socket().set_option(asio::ip::tcp::no_delay(true), error);
    ipc::notice_dead_peer(lowest().socket());
    lowest().socket().non_blocking(true, error);
    reach_of_peer_ = reach_at(peer.address());
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      if (auto named = name_host(); !named) co_return pass_on(named);
      auto [untrusted] = co_await stream_.async_handshake(asio::ssl::stream_base::client, kAwait);
      if (untrusted) co_return failure(ErrorId::kServerTls, "no trusted connection", untrusted);
    }
    lowest().expires_never();
    co_return Result<void>();
  }

  asio::awaitable<Result<HttpHead>> exchange(HttpRequest request) override {
    request_ = std::move(request);
    parser_.reset();
    const std::string head = head_of(request_);
    if (const auto error = co_await send({asio::buffer(head), asio::buffer(request_.body())}))
      co_return failure(ErrorId::kServerHttp, "cannot send", error);
    request_ = {};  // its server may work on it for long, and the connection be kept after that
    for (int interim = 0; interim <= kMostInterim; ++interim) {
      if (const auto error = co_await receive_head())
        co_return failure(id_of(error), "no response", error);
      const unsigned status = parser_->get().result_int();
      if (status >= 200) co_return read_head();
      if (status == 101) break;  // another protocol from here on, without a request
    }
    close();  // what comes next would be taken for the answer to another request
    co_return fail(
        ErrorId::kServerProtocol, "informational responses instead of an answer",
        {.where = url_.authority(),
         .why = fmt::format("status 101, or more than {} of 1xx before it", kMostInterim),
         .fix = "look at the server, and at any proxy before it"});
  }

  asio::awaitable<Result<std::string_view>> read_body(std::size_t at_most) override {
    at_most = std::min(at_most, kChunk);
    while (!parser_->is_done()) {
      auto& body = parser_->get().body();
      body.data = chunk_.get();
      body.size = kChunk;
      const auto error = co_await ipc::read_piece(stream_, buffer_, *parser_, at_most);
      if (error && error != http::error::need_buffer) {
        co_return failure(id_of(error), "the response broke off", error);
      }
      const std::size_t filled = kChunk - body.size;
      if (filled > 0) co_return std::string_view(chunk_.get(), filled);
    }
    co_return std::string_view();
  }

  [[nodiscard]] std::uint64_t body_left() const override {
    return parser_ ? parser_->content_length_remaining().value_or(0) : 0;
  }

  bool is_reusable() override {
    if (closed_ || !parser_ || !parser_->is_done() || !parser_->keep_alive()) return false;
    if (buffer_.size() > 0) return false;  // an answer that nobody asked for
    // Readable while idle means closed, or worse: in either case not to be used again. For TLS this
    // also meets late session tickets; then a new connection is made, which is only slower.
    char byte = 0;
    const auto got = ::recv(lowest().socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }

  void close() override {
    closed_ = true;
    looking_up_.cancel();
    boost::system::error_code ignored;
    lowest().socket().shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
    lowest().close();
  }

  [[nodiscard]] bool is_closed() const override { return closed_; }

 private:
  static Stream make_stream(const asio::any_io_executor& executor,
                            const std::shared_ptr<asio::ssl::context>& tls) {
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      return Stream(PlainStream(executor), *tls);
    } else {
      return Stream(executor);
    }
  }

  static ErrorId id_of(const boost::system::error_code& error) {
    const bool too_long =
        error == http::error::header_limit || error == http::error::buffer_overflow;
    return too_long ? ErrorId::kServerLimit : ErrorId::kServerHttp;
  }

  PlainStream& lowest() { return beast::get_lowest_layer(stream_); }

  Result<void> name_host() {
    boost::system::error_code error;
    stream_.set_verify_callback(asio::ssl::host_name_verification(url_.host), error);
    const bool named = url_.is_address() ||
                       SSL_set_tlsext_host_name(stream_.native_handle(), url_.host.c_str()) == 1;
    if (error || !named) return failure(ErrorId::kServerTls, "cannot name the host", error);
    return {};
  }

  asio::awaitable<boost::system::error_code> send(ipc::TwoBuffers parts) {
    boost::system::error_code error;
    std::size_t written = 0;
    if constexpr (std::is_same_v<Stream, PlainStream>)
      written = ipc::write_now(lowest().socket(), parts, error);
    if (error || written == asio::buffer_size(parts)) co_return error;
    co_return co_await ipc::write_rest(stream_, parts, written);
  }

  asio::awaitable<boost::system::error_code> receive_head() {
    parser_.emplace();
    parser_->header_limit(kMaxHead);
    parser_->body_limit(boost::none);  // the reader of the body counts
    while (!parser_->is_header_done()) {
      if (const auto error = co_await ipc::read_piece(stream_, buffer_, *parser_, kFirstPiece))
        co_return error;
    }
    co_return boost::system::error_code();
  }

  HttpHead read_head() {
    const auto& message = parser_->get();
    const auto field = [&message](std::string_view name) {
      const auto found = message.find(name);
      return found == message.end() ? std::string() : std::string(found->value());
    };
    HttpHead head;
    head.reach = reach_of_peer_;
    head.status = message.result_int();
    head.content_type = media_type(field("Content-Type"));
    head.content_encoding = field("Content-Encoding");
    head.session_id = field("Mcp-Session-Id");
    head.location = field("Location");
    head.retry_after = field("Retry-After");
    for (auto [at, end] = message.equal_range("WWW-Authenticate"); at != end; ++at) {
      if (!head.www_authenticate.empty()) head.www_authenticate += ", ";
      head.www_authenticate += at->value();
    }
    return head;
  }

  [[nodiscard]] std::unexpected<Error> failure(ErrorId id, std::string_view what,
                                               const boost::system::error_code& error) const {
    std::string reason = error.message();
    if (error.category() == asio::error::get_ssl_category() && id == ErrorId::kServerTls) {
      reason = fmt::format("{} (the certificate must be valid for the host)", reason);
    }
    return fail(id, fmt::format("{}: {}", what, reason), {.where = url_.authority()});
  }

  Url url_;
  std::shared_ptr<asio::ssl::context> tls_;
  Reach reach_;
  Reach reach_of_peer_ = Reach::kPublic;  // once it is open
  asio::steady_timer looking_up_;
  Stream stream_;
  HttpRequest request_;
  beast::flat_buffer buffer_{kMaxUnread};
  std::optional<http::response_parser<http::buffer_body>> parser_;
  // Not cleared: most answers need a page of it.
  std::unique_ptr<char[]> chunk_ = std::make_unique_for_overwrite<char[]>(kChunk);
  bool closed_ = false;
};

}  // namespace

std::shared_ptr<HttpConnection> HttpConnection::make(asio::any_io_executor executor, Url url,
                                                     std::shared_ptr<asio::ssl::context> tls,
                                                     Reach reach) {
  if (url.tls) {
    return std::make_shared<Connection<TlsStream>>(std::move(executor), std::move(url),
                                                   std::move(tls), reach);
  }
  return std::make_shared<Connection<PlainStream>>(std::move(executor), std::move(url), nullptr,
                                                   reach);
}

Result<std::shared_ptr<asio::ssl::context>> make_tls_context() {
  std::shared_ptr<asio::ssl::context> context;
  boost::system::error_code error;
  try {
    context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_client);
  } catch (const boost::system::system_error& failed) {
    error = failed.code();
  }
  if (error) return fail(ErrorId::kServerTls, "cannot prepare TLS: " + error.message());
  context->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_sslv3 |
                           asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1,
                       error);
  // A server would have us do handshakes without an end, none of whose bytes anybody counts.
  SSL_CTX_set_options(context->native_handle(), SSL_OP_NO_RENEGOTIATION);
  if (!error) context->set_default_verify_paths(error);
  if (!error) context->set_verify_mode(asio::ssl::verify_peer, error);
  if (error) return fail(ErrorId::kServerTls, "cannot prepare TLS: " + error.message());
  return context;
}

}  // namespace mcpac::mcp
