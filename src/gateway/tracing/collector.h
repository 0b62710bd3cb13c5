// Collector: one place that takes spans over OTLP/HTTP (the specification of
// opentelemetry-proto, "OTLP/HTTP"), a request at a time.
//
// Connections, TLS and its verification are those of the client side (mcp/http_connection.h). No
// redirect is followed; a request and its answer have ten seconds together. On the loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ssl/context.hpp>

#include "core/error.h"
#include "gateway/tracing/settings.h"
#include "mcp/http_connection.h"

namespace mcpac::gateway::tracing {

// What became of one request.
struct Delivery {
  enum class Outcome : std::uint8_t {
    kTaken,
    kLater,  // 429, 502, 503, 504, or no answer: the same may be sent again
    kRefused
  };
  Delivery() {}  // NOLINT(modernize-use-equals-default): no aggregate (http/head.h)
  Outcome outcome = Outcome::kRefused;
  std::uint64_t rejected = 0;  // of what was taken
  std::optional<std::chrono::seconds> retry_after{};
  std::string why{};  // for the user; of the collector's words, printable ones
};

class Collector {
 public:
  // An error: TLS cannot be prepared.
  [[nodiscard]] static Result<std::unique_ptr<Collector>> make(
      boost::asio::any_io_executor executor, Settings settings,
      std::chrono::milliseconds time_limit = std::chrono::seconds(10));

  // One at a time. This object stays until it has come back.
  [[nodiscard]] boost::asio::awaitable<Delivery> deliver(std::string body);
  // What is on its way ends soon, as kLater.
  void close();
  // For people: "http://127.0.0.1:4318".
  [[nodiscard]] std::string place() const;

 private:
  Collector(boost::asio::any_io_executor executor, Settings settings,
            std::shared_ptr<boost::asio::ssl::context> tls, std::chrono::milliseconds time_limit);
  [[nodiscard]] mcp::HttpRequest make_request(std::string body) const;
  enum class Link : std::uint8_t { kNew, kOpen };
  [[nodiscard]] boost::asio::awaitable<Result<Delivery>> exchange(mcp::HttpConnection& connection,
                                                                  Link link,
                                                                  std::string body) const;

  boost::asio::any_io_executor executor_;
  Settings settings_;
  std::shared_ptr<boost::asio::ssl::context> tls_;
  std::chrono::milliseconds time_limit_;
  std::shared_ptr<mcp::HttpConnection> connection_;  // the last one; null before
  bool closed_ = false;
};

}  // namespace mcpac::gateway::tracing
