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
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "core/backoff.h"
#include "gateway/tracing/collector.h"
#include "gateway/tracing/span.h"

namespace mcpac::gateway::tracing {

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
