// SPDX-License-Identifier: Apache-2.0

#include "policy/rules/meter.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/rfc3339.h"
#include "policy/rules/compiled.h"
#include "policy/text/printer.h"

namespace mcpac::policy {

bool has_ended(const CompiledRule& rule, const Times& times) {
  const auto& until = rule.clauses.until;
  return until && times.wall && *times.wall >= until->value;
}

std::uint64_t calls_in_window(const CompiledRule& rule, const Times& times) {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      rule.used.recent, [&](auto at) { return *times.steady - at < rule.clauses.rate->unit; }));
}

namespace {

std::optional<std::string> over_count(const CompiledRule& rule, const Times& times) {
  const auto& c = rule.clauses;
  if (c.calls && rule.used.calls >= *c.calls) {
    return *c.calls == 1 ? std::string("its one call per run is used up")
                         : fmt::format("its {} calls per run are used up", *c.calls);
  }
  if (!c.rate || !times.steady) return std::nullopt;
  if (calls_in_window(rule, times) < c.rate->calls) return std::nullopt;
  return fmt::format("its rate {} is used up", print(*c.rate));
}

std::optional<std::string> over_amount(const CompiledRule& rule, const Demand& demand) {
  const auto& c = rule.clauses;
  const auto& used = rule.used;
  if (c.bytes_out && demand.bytes_out > c.bytes_out->bytes - used.bytes_out) {
    return fmt::format(
        "the call sends {} bytes, and of its bytes out <= {} per run there are {} left",
        demand.bytes_out, c.bytes_out->spelling, c.bytes_out->bytes - used.bytes_out);
  }
  if (c.bytes_in && used.bytes_in >= c.bytes_in->bytes)
    return fmt::format("its bytes in <= {} per run are used up", c.bytes_in->spelling);
  if (c.cost && demand.cost > c.cost->value.millionths - used.cost) {
    return fmt::format(
        "the call costs {}, and of its cost <= {} per run there is {} left",
        to_text(Money{demand.cost, c.cost->value.currency}), c.cost->spelling,
        to_text(Money{c.cost->value.millionths - used.cost, c.cost->value.currency}));
  }
  return std::nullopt;
}

std::optional<std::string> over_time(const CompiledRule& rule, const Times& times) {
  const auto& c = rule.clauses;
  if (c.duration && times.steady && times.start &&
      *times.steady - *times.start >= c.duration->value) {
    return fmt::format("its time of {} is over", c.duration->spelling);
  }
  if (has_ended(rule, times)) return fmt::format("it ended at {}", c.until->spelling);
  return std::nullopt;
}

}  // namespace

bool is_over(const CompiledRule& rule, const Times& times) {
  return over_time(rule, times).has_value();
}

std::optional<std::string> used_up(const CompiledRule& rule, const Times& times,
                                   const Demand& demand) {
  if (auto over = over_count(rule, times)) return over;
  if (auto over = over_amount(rule, demand)) return over;
  return over_time(rule, times);
}

std::vector<MeterState> meters_of(const CompiledRule& rule, const Times& times) {
  const auto& c = rule.clauses;
  const auto& used = rule.used;
  std::vector<MeterState> meters;
  if (c.calls) meters.push_back({"calls", std::to_string(used.calls), std::to_string(*c.calls)});
  if (c.rate && times.steady) {
    meters.push_back({"rate", std::to_string(calls_in_window(rule, times)), print(*c.rate)});
  }
  if (c.bytes_in)
    meters.push_back({"bytes in", std::to_string(used.bytes_in), c.bytes_in->spelling});
  if (c.bytes_out)
    meters.push_back({"bytes out", std::to_string(used.bytes_out), c.bytes_out->spelling});
  if (c.cost) {
    meters.push_back({"cost", to_text(Money{used.cost, c.cost->value.currency}), c.cost->spelling});
  }
  if (c.duration && times.steady && times.start) {
    const auto passed =
        std::chrono::duration_cast<std::chrono::milliseconds>(*times.steady - *times.start);
    meters.push_back({"for", fmt::format("{} ms", passed.count()), c.duration->spelling});
  }
  if (c.until && times.wall)
    meters.push_back({"until", rfc3339_utc(*times.wall), c.until->spelling});
  return meters;
}

void charge(CompiledRule& rule, const Times& times, const Demand& demand) {
  auto& used = rule.used;
  ++used.calls;
  if (rule.clauses.bytes_out) used.bytes_out += demand.bytes_out;
  if (rule.clauses.cost) used.cost += demand.cost;
  if (!rule.clauses.rate || !times.steady) return;
  while (!used.recent.empty() && *times.steady - used.recent.front() >= rule.clauses.rate->unit)
    used.recent.pop_front();
  used.recent.push_back(*times.steady);
}

void give_back(CompiledRule& rule, const Times& times, const Demand& demand) {
  auto& used = rule.used;
  --used.calls;
  if (rule.clauses.bytes_out) used.bytes_out -= demand.bytes_out;
  if (rule.clauses.cost) used.cost -= demand.cost;
  const auto entry =
      times.steady ? std::ranges::find(used.recent, *times.steady) : used.recent.end();
  if (entry != used.recent.end()) used.recent.erase(entry);
}

bool charge_result(CompiledRule& rule, std::uint64_t bytes) {
  const auto& limit = rule.clauses.bytes_in;
  if (!limit) return true;
  const bool fits = bytes <= limit->bytes - rule.used.bytes_in;
  rule.used.bytes_in = fits ? rule.used.bytes_in + bytes : limit->bytes;
  return fits;
}

}  // namespace mcpac::policy
