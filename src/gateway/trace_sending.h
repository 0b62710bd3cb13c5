// TraceSending: a gateway's tracing, from the calls to the collector.
//
// Calls of servers pass through it and have spans; spans go to the collector that the user named.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/clock.h"
#include "gateway/tracing/exporter.h"
#include "gateway/tracing/settings.h"
#include "gateway/tracing/traced_upstream.h"
#include "gateway/tracing/tracer.h"
#include "servers/host.h"

namespace mcpac::gateway {

class TraceSending {
 public:
  struct Setup {
    servers::Host* host = nullptr;    // borrowed
    const Clock* clock = nullptr;     // borrowed
    gate::Upstream* inner = nullptr;  // borrowed
    std::function<std::string(const std::string& server)> transport;
    std::function<void(const std::string&)> warning;  // bounded by its provider
  };
  [[nodiscard]] static Result<std::unique_ptr<TraceSending>> begin(
      const tracing::Settings& settings, const Setup& setup);
  TraceSending(const TraceSending&) = delete;
  TraceSending& operator=(const TraceSending&) = delete;

  [[nodiscard]] gate::Upstream& upstream() { return upstream_; }
  [[nodiscard]] const std::shared_ptr<tracing::Tracer>& tracer() const { return tracer_; }
  // On the loop.
  [[nodiscard]] const tracing::ExportFigures& figures() const { return exporter_->figures(); }
  // Not from the loop: sends the spans that there are, or drops them after five seconds.
  void end();
  // On the loop. What is left is dropped.
  void close() { exporter_->close(); }

 private:
  TraceSending(const Setup& setup, std::shared_ptr<tracing::Exporter> exporter,
               std::shared_ptr<tracing::Tracer> tracer)
      : host_(*setup.host),
        exporter_(std::move(exporter)),
        tracer_(std::move(tracer)),
        upstream_(*setup.inner, tracer_, setup.transport) {}

  servers::Host& host_;
  std::shared_ptr<tracing::Exporter> exporter_;  // on the loop
  std::shared_ptr<tracing::Tracer> tracer_;
  tracing::TracedUpstream upstream_;
};

}  // namespace mcpac::gateway
