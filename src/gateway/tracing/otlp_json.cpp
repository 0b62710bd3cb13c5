// SPDX-License-Identifier: Apache-2.0

#include "gateway/tracing/otlp_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <utility>

#include "core/json.h"

namespace mcpac::gateway::tracing {
namespace {

// Span.flags: bits 0 to 7 are those of the trace, and these say where the parent is.
constexpr unsigned kSampledFlag = 0x001;
constexpr unsigned kKnowsRemote = 0x100;
constexpr unsigned kIsRemote = 0x200;
constexpr int kStatusError = 2;

Json key_value(std::string_view key, Json value) {
  return {{"key", key}, {"value", std::move(value)}};
}

Json to_json(const Attribute& attribute) {
  struct Value {
    Json operator()(const std::string& text) const { return {{"stringValue", text}}; }
    Json operator()(std::int64_t number) const { return {{"intValue", std::to_string(number)}}; }
    Json operator()(bool flag) const { return {{"boolValue", flag}}; }
  };
  return key_value(attribute.key, std::visit(Value(), attribute.value));
}

unsigned flags_of(const Span& span) {
  return (span.context.is_sampled ? kSampledFlag : 0) | kKnowsRemote |
         (span.has_remote_parent ? kIsRemote : 0);
}

std::string nanoseconds(std::chrono::nanoseconds since_epoch) {
  return std::to_string(since_epoch.count());
}

}  // namespace

std::string to_otlp(const Span& span) {
  const std::chrono::nanoseconds begun = span.begun.time_since_epoch();
  Json json{{"traceId", span.context.trace_id},
            {"spanId", span.context.span_id},
            {"flags", flags_of(span)},
            {"name", span.name},
            {"kind", static_cast<int>(span.kind)},
            {"startTimeUnixNano", nanoseconds(begun)},
            {"endTimeUnixNano", nanoseconds(begun + span.took)}};
  if (!span.parent.empty()) json["parentSpanId"] = span.parent;
  Json& attributes = json["attributes"] = Json::array();
  for (const Attribute& attribute : span.attributes) attributes.push_back(to_json(attribute));
  // No message: that would be untrusted text.
  if (span.has_failed) json["status"] = {{"code", kStatusError}};
  return to_text(json);
}

std::string to_otlp_request(const std::string& service_name,
                            const std::vector<std::string>& spans) {
  const Json resource{
      {"attributes",
       Json::array({key_value("service.name", {{"stringValue", service_name}}),
                    key_value("service.version", {{"stringValue", MCPAC_VERSION}})})}};
  const Json scope{{"name", "mcpac"}, {"version", MCPAC_VERSION}};
  return fmt::format(
      R"({{"resourceSpans":[{{"resource":{},"scopeSpans":[{{"scope":{},"spans":[{}]}}]}}]}})",
      to_text(resource), to_text(scope), fmt::join(spans, ","));
}

OtlpResponse read_otlp_response(std::string_view body) {
  const auto json = parse_json(body);
  const Json* partial = json ? find_member(*json, "partialSuccess") : nullptr;
  if (partial == nullptr) return {};
  OtlpResponse response{.message = string_member(*partial, "errorMessage")};
  const Json* rejected = find_member(*partial, "rejectedSpans");
  if (rejected == nullptr) return response;
  if (rejected->is_number_unsigned()) response.rejected = rejected->get<std::uint64_t>();
  if (rejected->is_string()) {
    const auto& text = rejected->get_ref<const std::string&>();
    std::from_chars(text.data(), text.data() + text.size(), response.rejected);
  }
  return response;
}

}  // namespace mcpac::gateway::tracing
