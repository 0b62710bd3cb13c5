// SPDX-License-Identifier: Apache-2.0

#include "gateway/tracing/trace_context.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace mcpac::gateway::tracing {
namespace {

constexpr const char* kTraceparent = "traceparent";
// "00-" 32 digits "-" 16 digits "-" 2 digits.
constexpr std::size_t kLength = 55;
constexpr std::size_t kTraceDigits = 32;
constexpr std::size_t kSpanDigits = 16;
constexpr unsigned kSampledBit = 1;

bool is_hex(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_id(std::string_view text) {
  return is_hex(text) && text.find_first_not_of('0') != std::string_view::npos;
}

unsigned digit(char c) {
  return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
}

template <std::size_t kDigits>
std::string random_id() {
  std::array<std::uint8_t, kDigits / 2> bytes;
  std::string text;
  do {
    randombytes_buf(bytes.data(), bytes.size());
    text.clear();
    for (const std::uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  } while (!is_id(text));
  return text;
}

}  // namespace

std::optional<TraceContext> parse_traceparent(std::string_view text) {
  if (text.size() < kLength) return std::nullopt;
  const std::string_view version = text.substr(0, 2);
  const std::string_view trace = text.substr(3, kTraceDigits);
  const std::string_view span = text.substr(36, kSpanDigits);
  const std::string_view flags = text.substr(53, 2);
  if (text[2] != '-' || text[35] != '-' || text[52] != '-') return std::nullopt;
  if (!is_hex(version) || version == "ff" || !is_id(trace) || !is_id(span) || !is_hex(flags))
    return std::nullopt;
  const bool has_more = text.size() > kLength;
  if (has_more && (version == "00" || text[kLength] != '-')) return std::nullopt;
  return TraceContext{std::string(trace), std::string(span), (digit(flags[1]) & kSampledBit) != 0};
}

std::string to_traceparent(const TraceContext& context) {
  return fmt::format("00-{}-{}-{}", context.trace_id, context.span_id,
                     context.is_sampled ? "01" : "00");
}

std::optional<TraceContext> context_in(const Json& params) {
  const Json* meta = find_member(params, "_meta");
  return meta == nullptr ? std::nullopt : context_of(*meta);
}

Json to_meta(const TraceContext& context) {
  return {{kTraceparent, to_traceparent(context)}};
}

std::optional<TraceContext> context_of(const Json& meta) {
  const Json* said = find_member(meta, kTraceparent);
  if (said == nullptr || !said->is_string()) return std::nullopt;
  return parse_traceparent(said->get_ref<const std::string&>());
}

std::string new_trace_id() {
  return random_id<kTraceDigits>();
}

std::string new_span_id() {
  return random_id<kSpanDigits>();
}

}  // namespace mcpac::gateway::tracing
