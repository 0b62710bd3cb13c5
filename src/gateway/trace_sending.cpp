#include "gateway/trace_sending.h"

#include <chrono>
#include <thread>
#include <utility>

namespace mcpac::gateway {
namespace {

// The end of the gateway waits no longer for a collector.
constexpr auto kLastSpans = std::chrono::seconds(5);
constexpr auto kLook = std::chrono::milliseconds(20);

}  // namespace

Result<std::unique_ptr<TraceSending>> TraceSending::begin(const tracing::Settings& settings,
                                                          const Setup& setup) {
  auto collector = tracing::Collector::make(setup.host->executor(), settings);
  if (!collector) return pass_on(collector);
  auto exporter = tracing::Exporter::start({.executor = setup.host->executor(),
                                            .collector = std::move(*collector),
                                            .service_name = settings.service_name,
                                            .warning = setup.warning});
  auto tracer = std::make_shared<tracing::Tracer>(
      *setup.clock, settings.sampler,
      [exporter](const tracing::Span& span) { exporter->add(span); });
  return std::unique_ptr<TraceSending>(
      new TraceSending(setup, std::move(exporter), std::move(tracer)));
}

void TraceSending::end() {
  host_.on_loop([this] { exporter_->finish(); });
  const auto until = std::chrono::steady_clock::now() + kLastSpans;
  while (std::chrono::steady_clock::now() < until) {
    if (host_.on_loop([this] { return exporter_->is_done(); })) break;
    std::this_thread::sleep_for(kLook);
  }
  host_.on_loop([this] { close(); });
}

}  // namespace mcpac::gateway
