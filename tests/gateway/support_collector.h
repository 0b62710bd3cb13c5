// A collector of spans in this process, as OTLP/HTTP has it, that answers what a test tells it to.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "core/json.h"
#include "gateway/tracing/span.h"

namespace mcpac::gateway::testing {

// Fails the test where this is no ExportTraceServiceRequest: by the names and kinds of members in
// trace.proto, common.proto and resource.proto, and the rules of the JSON encoding. Gives its
// spans.
[[nodiscard]] std::vector<Json> checked_spans(const Json& request);
// The value of an attribute of a span as JSON; null: it has none.
[[nodiscard]] Json attribute_of(const Json& span, std::string_view key);
[[nodiscard]] Json attribute_of(const tracing::Span& span, std::string_view key);

class FakeCollector {
 public:
  struct Request {
    std::string target;
    std::string content_type;
    std::string authorization;
    std::string body;
  };
  struct Answer {
    unsigned status = 200;
    std::string body = "{}";
    std::string retry_after{};
    std::chrono::milliseconds after{0};
  };
  // Takes everything.
  FakeCollector();
  // `answer` gets the number of the request, from 0, on a thread of the collector.
  explicit FakeCollector(std::function<Answer(std::size_t)> answer);
  ~FakeCollector();
  FakeCollector(const FakeCollector&) = delete;
  FakeCollector& operator=(const FakeCollector&) = delete;

  [[nodiscard]] std::string url() const;
  [[nodiscard]] std::vector<Request> requests() const;
  // Of all requests that were answered with 200, once there are so many; waits ten seconds.
  [[nodiscard]] std::vector<Json> wait_for_spans(std::size_t at_least) const;

 private:
  boost::asio::awaitable<void> listen();
  boost::asio::awaitable<void> serve(boost::asio::ip::tcp::socket socket);

  std::function<Answer(std::size_t)> answer_;
  boost::asio::io_context loop_;
  boost::asio::ip::tcp::acceptor acceptor_;
  mutable std::mutex mutex_;
  std::vector<Request> requests_;
  std::vector<std::string> taken_;
  std::thread thread_;
};

}  // namespace mcpac::gateway::testing
