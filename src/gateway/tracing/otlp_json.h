// SPDX-License-Identifier: Apache-2.0

// Spans as the JSON of OTLP/HTTP (the specification of opentelemetry-proto, "JSON
// Protobuf Encoding"): members in lowerCamelCase, ids as hexadecimal text, 64-bit numbers as
// decimal text, enumerators as numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/tracing/span.h"

namespace mcpac::gateway::tracing {

// One element of "spans".
[[nodiscard]] std::string to_otlp(const Span& span);
// The body of an ExportTraceServiceRequest with these elements.
[[nodiscard]] std::string to_otlp_request(const std::string& service_name,
                                          const std::vector<std::string>& spans);

// What a collector says to it.
struct OtlpResponse {
  std::uint64_t rejected = 0;  // spans
  std::string message{};       // the collector's words
};
// Of an ExportTraceServiceResponse; what is none rejects nothing: the status decides.
[[nodiscard]] OtlpResponse read_otlp_response(std::string_view body);

}  // namespace mcpac::gateway::tracing
