// SPDX-License-Identifier: Apache-2.0

// Figures: metrics of a gateway, and their text for Prometheus (exposition format 0.0.4).
//
// Counters only grow as long as the gateway stands. No label names a client, a
// server or a tool.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "gateway/timed_upstream.h"
#include "gateway/tracing/exporter.h"

namespace mcpac::gateway {

struct Figures {
  std::size_t clients = 0;  // runs that have not ended
  std::size_t calls_in_flight = 0;
  std::uint64_t allowed = 0;
  std::uint64_t denied = 0;
  UpstreamFigures upstream;
  std::uint64_t server_restarts = 0;
  // Of all doors over HTTP.
  std::size_t connections = 0;
  std::size_t sessions = 0;
  std::array<std::uint64_t, 6> answers{};  // by the first digit of the status
  tracing::ExportFigures spans;
};

[[nodiscard]] std::string to_prometheus(const Figures& figures);

}  // namespace mcpac::gateway
