// SPDX-License-Identifier: Apache-2.0

#include "mcp/http_connection.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>
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
#include "mcp/proxy.h"
#include "mcp/url_addresses.h"

namespace mcpac::mcp {
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace {

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr std::uint32_t kMaxHead = std::uint32_t{64} << 10U;
// Room of the parser: as much as is buffered of a body.
constexpr std::size_t kChunk = HttpConnection::kPiece;
// With the beginning of a body, mostly the whole: a head alone is shorter.
constexpr std::size_t kFirstPiece = std::size_t{4} << 10U;
// Bytes read and not yet parsed. The limit of the head holds for the head alone: the line that
// begins a chunk and the trailer after the last one would else grow as long as the server likes.
constexpr std::size_t kMaxUnread = kMaxHead + kChunk;
// Informational responses (1xx) before the final one: RFC 9110, section 15.2, has a client skip
// them.
constexpr int kMostInterim = 16;
// A request without an answer of its own has no other clock.
constexpr std::chrono::seconds kConnectTimeout{30};
constexpr unsigned kProxyLogin = 407;
constexpr std::string_view kCannotConnect = "cannot connect";

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
    auto proxy = proxy_for(url_);
    if (!proxy) co_return pass_on(proxy);
    proxy_ = std::move(*proxy);
    auto addresses = co_await addresses_to_connect();
    boost::system::error_code error;
    if (closed_) error = asio::error::operation_aborted;
    if (error) co_return failure(ErrorId::kServerHttp, "cannot find the host", error);
    if (!addresses) co_return pass_on(addresses);
    std::vector<asio::ip::tcp::endpoint> endpoints;
    for (const auto& address : *addresses)
      endpoints.emplace_back(address, proxy_ ? proxy_->url.port : url_.port);
    lowest().expires_after(kConnectTimeout);
    auto [refused, peer] = co_await lowest().async_connect(endpoints, kAwait);
    if (refused) co_return failure(ErrorId::kServerHttp, kCannotConnect, refused);
    lowest().socket().set_option(asio::ip::tcp::no_delay(true), error);
    ipc::notice_dead_peer(lowest().socket());
    lowest().socket().non_blocking(true, error);
    // Behind a proxy, which mostly has a private address, the server may name public ones alone.
    reach_of_peer_ = proxy_ ? Reach::kPublic : reach_at(peer.address());
    if (proxy_ && url_.tls) {
      if (auto tunnel = co_await open_tunnel(); !tunnel) co_return pass_on(tunnel);
    }
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
    if (proxy_ && !url_.tls) {
      // RFC 9112, section 3.2.2: to a proxy the whole URL is named.
      request_.target(fmt::format("http://{}{}", url_.authority(), url_.target));
      if (!proxy_->authorization.empty())
        request_.set(http::field::proxy_authorization, proxy_->authorization);
    }
    const std::string head = head_of(request_);
    if (const auto error = co_await send({asio::buffer(head), asio::buffer(request_.body())}))
      co_return failure(ErrorId::kServerHttp, "cannot send", error);
    request_ = {};  // its server may work on it for long, and the connection be kept after that
    for (int interim = 0; interim <= kMostInterim; ++interim) {
      if (const auto error = co_await receive_head())
        co_return failure(id_of(error), "no response", error);
      const unsigned status = parser_->get().result_int();
      if (proxy_ && !url_.tls && status == kProxyLogin) co_return refused_by_proxy(status);
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
    if (buffer_.size() > 0) return false;  // an unrequested answer
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

  // As far as its name tells.
  [[nodiscard]] Reach reach_at_host() const {
    boost::system::error_code is_name;
    const auto address = asio::ip::make_address(url_.host, is_name);
    if (!is_name) return reach_at(address);
    return url_.host == "localhost" || url_.host.ends_with(".localhost") ? Reach::kAnywhere
                                                                         : Reach::kPublic;
  }

  PlainStream& lowest() { return beast::get_lowest_layer(stream_); }

  // Of the host, or of its proxy. What a server named may not lead past what it reaches itself:
  // where the name can be found here, all its addresses are looked at, with and without a proxy.
  asio::awaitable<Result<ipc::Addresses>> addresses_to_connect() {
    const bool is_guarded = reach_ != Reach::kAnywhere;
    Result<ipc::Addresses> addresses = ipc::Addresses();
    if (!proxy_ || is_guarded || url_.is_address())
      addresses = co_await addresses_of(url_, looking_up_);
    if (addresses && std::ranges::any_of(*addresses, [this](const auto& address) {
          return reach_at(address) > reach_;
        })) {
      co_return fail(ErrorId::kServerHttp,
                     "the host has an address of this machine, or of a private network, to which "
                     "its server may not lead",
                     {.where = url_.authority()});
    }
    if (proxy_ && is_guarded && !addresses && !url_.host.contains('.')) {
      co_return fail(ErrorId::kServerHttp,
                     "the host has a name of one network alone, to which its server may not lead",
                     {.where = url_.authority()});
    }
    if (proxy_) co_return co_await addresses_of(proxy_->url, looking_up_);
    if (!addresses && addresses.error().fix.empty())
      addresses.error().fix = R"(behind a proxy: HTTPS_PROXY=http://HOST:PORT)";
    co_return addresses;
  }

  // CONNECT (RFC 9110, section 9.3.6). The proxy sees the host's name and port, and nothing of
  // what goes through the tunnel.
  asio::awaitable<Result<void>> open_tunnel() {
    const std::string name = url_.host.contains(':') ? "[" + url_.host + "]" : url_.host;
    const std::string host = fmt::format("{}:{}", name, url_.port);
    HttpRequest request(http::verb::connect, host, 11);
    request.set(http::field::host, host);
    request.set(http::field::user_agent, "mcpac/" MCPAC_VERSION);
    if (!proxy_->authorization.empty())
      request.set(http::field::proxy_authorization, proxy_->authorization);
    const std::string head = head_of(request);
    boost::system::error_code error;
    const ipc::TwoBuffers parts{asio::buffer(head), asio::const_buffer()};
    const auto written = ipc::write_now(lowest().socket(), parts, error);
    if (!error && written < head.size()) error = co_await ipc::write_rest(lowest(), parts, written);
    if (error) co_return failure(ErrorId::kServerHttp, "cannot ask for a tunnel", error);
    beast::flat_buffer buffer(kMaxHead);
    for (int interim = 0; interim <= kMostInterim; ++interim) {
      http::response_parser<http::buffer_body> parser;
      parser.header_limit(kMaxHead);
      parser.skip(true);
      while (!parser.is_header_done()) {
        if (const auto broken = co_await ipc::read_piece(lowest(), buffer, parser, kFirstPiece))
          co_return failure(id_of(broken), "no tunnel", broken);
      }
      const unsigned status = parser.get().result_int();
      if (status < 200 && status != 101) continue;
      if (status < 200 || status > 299) co_return refused_by_proxy(status);
      // TLS begins with the client: what came already is not the server's.
      if (buffer.size() == 0) co_return Result<void>();
      co_return fail(ErrorId::kServerProtocol, "the proxy sent more than its answer",
                     {.where = proxy_->place()});
    }
    co_return fail(ErrorId::kServerProtocol, "the proxy answers with 1xx alone",
                   {.where = proxy_->place()});
  }

  [[nodiscard]] std::unexpected<Error> refused_by_proxy(unsigned status) const {
    const bool has_login = !proxy_->authorization.empty();
    std::string fix = fmt::format(
        "look at what the proxy admits, or NO_PROXY={} where the host is "
        "reached without it",
        url_.host);
    if (status == kProxyLogin)
      fix = fmt::format("{}=http://USER:PASSWORD@{} with {} that the proxy knows", proxy_->variable,
                        proxy_->place(), has_login ? "a login" : "the login");
    return fail(ErrorId::kServerHttp,
                status == kProxyLogin && has_login
                    ? "the proxy does not accept the login that it was given"
                : status == kProxyLogin
                    ? "the proxy wants a login"
                    : fmt::format("the proxy refused the connection: HTTP status {}", status),
                {.where = url_.authority(),
                 .why = fmt::format("{} names the proxy {}", proxy_->variable, proxy_->place()),
                 .fix = std::move(fix)});
  }

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
    std::string why;
    if (proxy_)
      why = fmt::format("through the proxy {}, which {} names", proxy_->place(), proxy_->variable);
    std::string fix;
    if (id == ErrorId::kServerTls)
      fix = "a certificate authority of your own: SSL_CERT_FILE=FILE or SSL_CERT_DIR=FOLDER";
    else if (!proxy_ && what == kCannotConnect && reach_at_host() == Reach::kPublic)
      fix = "behind a proxy: HTTPS_PROXY=http://HOST:PORT";
    return fail(id, fmt::format("{}: {}", what, reason),
                {.where = url_.authority(), .why = std::move(why), .fix = std::move(fix)});
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
  std::optional<Proxy> proxy_;  // once it is being opened
  bool closed_ = false;
};

// A file or folder of authorities that cannot be read would be skipped, and every certificate be
// unknown.
Result<void> check_authorities(const char* variable) {
  const auto value = process_variable(variable);
  // Of several folders ("a:b") some may be there.
  if (!value || value->empty() || value->contains(':') || ::access(value->c_str(), R_OK) == 0)
    return {};
  return fail(ErrorId::kServerTls, fmt::format("what {} names cannot be read", variable),
              {.where = *value,
               .why = std::system_category().message(errno),
               .fix = fmt::format("name another one, or unset {}", variable)});
}

// As OpenSSL's own, but that a variable which is empty is not set.
void use_authorities(asio::ssl::context& context, boost::system::error_code& error) {
  const auto file = process_variable("SSL_CERT_FILE");
  const auto folder = process_variable("SSL_CERT_DIR");
  const bool is_empty = (file && file->empty()) || (folder && folder->empty());
  if (!is_empty) {
    context.set_default_verify_paths(error);
    return;
  }
  SSL_CTX_load_verify_file(context.native_handle(),
                           file && !file->empty() ? file->c_str() : X509_get_default_cert_file());
  SSL_CTX_load_verify_dir(context.native_handle(), folder && !folder->empty()
                                                       ? folder->c_str()
                                                       : X509_get_default_cert_dir());
  ERR_clear_error();
}

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
  for (const char* variable : {"SSL_CERT_FILE", "SSL_CERT_DIR"}) {
    if (auto readable = check_authorities(variable); !readable) return pass_on(readable);
  }
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
  // A server would have us do handshakes without an end, whose bytes are not counted.
  SSL_CTX_set_options(context->native_handle(), SSL_OP_NO_RENEGOTIATION);
  if (!error) use_authorities(*context, error);
  if (!error) context->set_verify_mode(asio::ssl::verify_peer, error);
  if (error) return fail(ErrorId::kServerTls, "cannot prepare TLS: " + error.message());
  return context;
}

}  // namespace mcpac::mcp
