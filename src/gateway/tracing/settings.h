// SPDX-License-Identifier: Apache-2.0

// Settings of tracing: the collector of spans, from --otlp and the environment.
//
// Nothing is exported unless --otlp stands on the command line: neither a project's files nor a
// variable that was set for other programs turn it on. Variables are those of the OpenTelemetry
// specification (SDK environment variables, OTLP exporter), and these alone are read:
// OTEL_SDK_DISABLED, OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER(_ARG),
// OTEL_EXPORTER_OTLP_(TRACES_)HEADERS, and with `--otlp env` OTEL_EXPORTER_OTLP_(TRACES_)ENDPOINT
// and OTEL_EXPORTER_OTLP_(TRACES_)PROTOCOL.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "gateway/tracing/sampler.h"
#include "mcp/url.h"

namespace mcpac::gateway::tracing {

struct Settings {
  mcp::Url url;  // of the request itself: with /v1/traces
  std::vector<std::pair<std::string, std::string>> headers{};  // may be secrets; never logged
  std::string service_name = "mcpac";
  Sampler sampler{};
};

// The value of a variable; empty where it is not set, which means the same there.
using Variables = std::function<std::string(const char* name)>;
[[nodiscard]] std::string variable_of_process(const char* name);

// `option` is that of --otlp: a URL, or "env". Nothing: OTEL_SDK_DISABLED is true. kUsage for what
// cannot be used, and for headers that would go to another machine without TLS.
[[nodiscard]] Result<std::optional<Settings>> read_settings(const std::string& option,
                                                            const Variables& variables);

}  // namespace mcpac::gateway::tracing
