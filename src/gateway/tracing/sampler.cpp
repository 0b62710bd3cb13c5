// SPDX-License-Identifier: Apache-2.0

#include "gateway/tracing/sampler.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "core/printable.h"

namespace mcpac::gateway::tracing {
namespace {

constexpr std::string_view kParentBased = "parentbased_";
// The half of the id that is random in every version (W3C Trace Context, section 3.2.2.3), but for
// one bit: what is left is exact in a signed number, as others compute it.
constexpr std::size_t kRandomDigits = 16;
constexpr int kRandomBits = 63;

std::optional<double> ratio_in(std::string_view text) {
  if (text.empty()) return 1.0;
  double ratio = 0;
  const auto* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, ratio);
  const bool is_ratio = error == std::errc() && stopped == end && ratio >= 0 && ratio <= 1;
  return is_ratio ? std::optional(ratio) : std::nullopt;
}

}  // namespace

Result<Sampler> Sampler::parse(std::string_view name, std::string_view argument) {
  Sampler sampler;
  std::string_view root = name;
  if (root.starts_with(kParentBased)) {
    sampler.asks_parent_ = true;
    root.remove_prefix(kParentBased.size());
  }
  if (root == "always_on") return sampler;
  if (root == "always_off") {
    sampler.share_ = 0;
    return sampler;
  }
  if (root != "traceidratio")
    return fail(ErrorId::kUsage, fmt::format("OTEL_TRACES_SAMPLER={} is unknown", printable(name)),
                {.fix = "always_on, always_off, traceidratio, or one of them after parentbased_"});
  const auto ratio = ratio_in(argument);
  if (!ratio)
    return fail(ErrorId::kUsage,
                fmt::format("OTEL_TRACES_SAMPLER_ARG={} is no ratio", printable(argument)),
                {.fix = "a number from 0 to 1"});
  sampler.share_ = *ratio;
  return sampler;
}

bool Sampler::keeps(std::string_view trace_id, const TraceContext* parent) const {
  if (asks_parent_ && parent != nullptr) return parent->is_sampled;
  if (share_ >= 1) return true;
  std::uint64_t random = 0;
  const auto digits = trace_id.substr(trace_id.size() - kRandomDigits);
  std::from_chars(digits.data(), digits.data() + digits.size(), random, 16);
  return static_cast<double>(random >> 1U) < std::ldexp(share_, kRandomBits);
}

}  // namespace mcpac::gateway::tracing
