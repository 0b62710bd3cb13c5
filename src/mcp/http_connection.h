// SPDX-License-Identifier: Apache-2.0

// HttpConnection: one TCP or TLS connection that carries one HTTP/1.1 exchange after another,
// through a proxy where the environment names one (mcp/proxy.h): a tunnel to a host of https, whole
// URLs to one of http.
//
// Certificates are always verified against the system's roots (or those of SSL_CERT_FILE and
// SSL_CERT_DIR) and the host's name; there is no switch to leave that out. close() may be called at
// any time from the event loop: whatever is waited for ends with an error.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include "core/error.h"
#include "mcp/address.h"
#include "mcp/url.h"

namespace mcpac::mcp {

using HttpRequest = boost::beast::http::request<boost::beast::http::string_body>;

// What the head of a response tells, as far as MCP needs it.
struct HttpHead {
  unsigned status = 0;
  std::string content_type;  // lower case, without parameters
  std::string content_encoding;
  std::string session_id;
  std::string location;
  std::string www_authenticate;  // several are joined by commas
  std::string retry_after;
  // What the sender may name for us to call: by the address from which it answered.
  Reach reach = Reach::kPublic;
};

class HttpConnection {
 public:
  // `tls` may be null for http.
  [[nodiscard]] static std::shared_ptr<HttpConnection> make(
      boost::asio::any_io_executor executor, Url url,
      std::shared_ptr<boost::asio::ssl::context> tls, Reach reach = Reach::kAnywhere);
  virtual ~HttpConnection() = default;

  virtual boost::asio::awaitable<Result<void>> open() = 0;
  // Sends the request and reads the head of its response.
  virtual boost::asio::awaitable<Result<HttpHead>> exchange(HttpRequest request) = 0;
  // The next piece of the body, of at most so many bytes; empty at its end. The view lives until
  // the next call.
  static constexpr std::size_t kPiece = std::size_t{64} << 10U;
  virtual boost::asio::awaitable<Result<std::string_view>> read_body(
      std::size_t at_most = kPiece) = 0;
  // How much of the body is still to come, as the head says; 0 where it does not.
  [[nodiscard]] virtual std::uint64_t body_left() const = 0;
  // The exchange is complete, the server keeps the connection and sent nothing since.
  [[nodiscard]] virtual bool is_reusable() = 0;
  virtual void close() = 0;
  [[nodiscard]] virtual bool is_closed() const = 0;
};

// TLS 1.2 or newer, system roots, verification on.
[[nodiscard]] Result<std::shared_ptr<boost::asio::ssl::context>> make_tls_context();

}  // namespace mcpac::mcp
