// SPDX-License-Identifier: Apache-2.0

// Exporter: the queue of spans before a collector, and its sender.
//
// Spans go in batches, when there are 512 or the first has waited for a second; one batch at a
// time. What a collector puts off is sent again, after growing pauses or the one that it names.
// No call waits for any of it: a queue that is full drops what comes, and what is dropped is
// counted, and said once until spans are taken again. On the loop.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "core/backoff.h"
#include "core/error.h"
#include "gateway/tracing/settings.h"
#include "gateway/tracing/span.h"
#include "mcp/http_connection.h"

namespace mcpac::gateway::tracing {

// Collector: one place that takes spans over OTLP/HTTP (the specification of
// opentelemetry-proto, "OTLP/HTTP"), a request at a time.
//
// Connections, TLS and its verification are those of the client side (mcp/http_connection.h). No
// redirect is followed; a request and its answer have ten seconds together. On the loop.

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

struct ExportLimits {
  // Of the OpenTelemetry SDK's batch processor; a span is about 1 KB.
  std::size_t max_queued = 2048;
  std::size_t batch = 512;
  std::chrono::milliseconds delay{1'000};
  int attempts = 5;  // at one batch
  std::chrono::milliseconds first_pause{1'000};
  std::chrono::milliseconds longest_pause{30'000};  // also of those that a collector names
};

struct ExportFigures {
  std::uint64_t sent = 0;
  std::uint64_t dropped = 0;
};

class Exporter : public std::enable_shared_from_this<Exporter> {
 public:
  struct Setup {
    boost::asio::any_io_executor executor;
    std::unique_ptr<Collector> collector;
    std::string service_name;
    std::function<void(const std::string&)> warning;  // bounded by its provider
    ExportLimits limits{};
  };
  [[nodiscard]] static std::shared_ptr<Exporter> start(Setup setup);
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;

  void add(const Span& span);
  // No more come: what there is is sent now, each batch once.
  void finish();
  [[nodiscard]] bool is_done() const { return done_; }
  // What is left is dropped. Idempotent.
  void close();
  [[nodiscard]] const ExportFigures& figures() const { return figures_; }

 private:
  explicit Exporter(Setup setup);
  boost::asio::awaitable<void> run();
  boost::asio::awaitable<void> send(std::vector<std::string> batch);
  enum class Waiting : std::uint8_t { kNot, kForSpans, kForMore, kForCollector };
  boost::asio::awaitable<void> wait(Waiting what, std::chrono::milliseconds at_most);
  [[nodiscard]] std::vector<std::string> take_batch();
  [[nodiscard]] std::chrono::milliseconds pause_before(ExponentialBackoff& backoff,
                                                       const Delivery& last) const;
  void drop(std::size_t spans, const std::string& why);

  Setup setup_;
  boost::asio::steady_timer wake_;
  std::deque<std::string> queue_;  // as they are sent
  ExportFigures figures_;
  Waiting waiting_ = Waiting::kNot;
  bool has_told_ = false;  // that spans are dropped
  bool finishing_ = false;
  bool closed_ = false;
  bool done_ = false;
};

}  // namespace mcpac::gateway::tracing
