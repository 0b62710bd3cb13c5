// SPDX-License-Identifier: Apache-2.0

#include "gateway/figures.h"

#include <fmt/format.h>

namespace mcpac::gateway {
namespace {

void head(std::string& out, std::string_view name, std::string_view type, std::string_view help) {
  out += fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
}

void one(std::string& out, std::string_view name, std::string_view type, std::string_view help,
         std::uint64_t value) {
  head(out, name, type, help);
  out += fmt::format("{} {}\n", name, value);
}

void durations(std::string& out, const Durations& of) {
  constexpr std::string_view kName = "mcpac_upstream_call_duration_seconds";
  head(out, kName, "histogram", "How long servers worked on calls.");
  for (std::size_t i = 0; i < Durations::kBounds.size(); ++i)
    out += fmt::format("{}_bucket{{le=\"{}\"}} {}\n", kName, Durations::kBounds[i], of.within()[i]);
  out += fmt::format("{0}_bucket{{le=\"+Inf\"}} {1}\n{0}_sum {2}\n{0}_count {1}\n", kName,
                     of.count(), of.seconds());
}

}  // namespace

std::string to_prometheus(const Figures& figures) {
  std::string out;
  head(out, "mcpac_build_info", "gauge", "The version that runs.");
  out += "mcpac_build_info{version=\"" MCPAC_VERSION "\"} 1\n";
  one(out, "mcpac_clients", "gauge", "Clients that were let in and whose run goes on.",
      figures.clients);
  one(out, "mcpac_calls_in_flight", "gauge", "Calls that have no answer yet.",
      figures.calls_in_flight);
  head(out, "mcpac_decisions_total", "counter", "Calls that the gate decided.");
  out += fmt::format("mcpac_decisions_total{{decision=\"allowed\"}} {}\n", figures.allowed);
  out += fmt::format("mcpac_decisions_total{{decision=\"denied\"}} {}\n", figures.denied);
  head(out, "mcpac_upstream_calls_total", "counter", "Calls that servers were asked to make.");
  out += fmt::format("mcpac_upstream_calls_total{{outcome=\"answered\"}} {}\n",
                     figures.upstream.answered);
  out +=
      fmt::format("mcpac_upstream_calls_total{{outcome=\"failed\"}} {}\n", figures.upstream.failed);
  durations(out, figures.upstream.durations);
  one(out, "mcpac_server_restarts_total", "counter",
      "Servers that had ended and were started again.", figures.server_restarts);
  one(out, "mcpac_http_connections", "gauge", "Connections that are open.", figures.connections);
  one(out, "mcpac_http_sessions", "gauge", "Sessions of the initialize era.", figures.sessions);
  head(out, "mcpac_http_answers_total", "counter", "Answers by the first digit of their status.");
  for (std::size_t digit = 1; digit < figures.answers.size(); ++digit)
    out += fmt::format("mcpac_http_answers_total{{status=\"{}xx\"}} {}\n", digit,
                       figures.answers[digit]);
  one(out, "mcpac_spans_sent_total", "counter", "Spans that the collector took (--otlp).",
      figures.spans.sent);
  one(out, "mcpac_spans_dropped_total", "counter", "Spans that nobody took.",
      figures.spans.dropped);
  return out;
}

}  // namespace mcpac::gateway
