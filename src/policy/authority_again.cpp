// Decisions that were made before, made again: what they were charged and what limits had left
// then.
#include <algorithm>
#include <iterator>
#include <utility>

#include "policy/authority_state.h"
#include "policy/decide/find_evidence.h"

namespace mcpac::policy {

bool Authority::weighs_arguments(const Permission& permission) const {
  return policy::weighs_arguments(impl_->layers, permission);
}

std::vector<MeterReading> Authority::meter_readings(const Permission& permission) const {
  return policy::meter_readings(impl_->layers, permission, impl_->now());
}

std::uint64_t Authority::charge_again(const Evidence& then) {
  std::vector<Verdict> verdicts;
  for (std::size_t i = 0; i < then.layers.size() && i < impl_->layers.size(); ++i) {
    Verdict verdict;
    const std::size_t rules = impl_->layers[i].rules.size();
    std::ranges::copy_if(then.layers[i].charged, std::back_inserter(verdict.metered),
                         [rules](std::size_t rule) { return rule < rules; });
    verdict.unmetered = then.layers[i].unmetered;
    verdicts.push_back(std::move(verdict));
  }
  Decision decision;
  impl_->reserve(verdicts, impl_->now(), {.bytes_out = then.bytes_out, .cost = then.cost},
                 decision);
  return decision.reservation;
}

Decision Authority::decide_as_of(const std::vector<MeterReading>& then,
                                 const Permission& permission, const Json& arguments,
                                 Evidence& evidence) {
  const Times times = impl_->now();
  std::vector<std::pair<Usage*, Usage>> kept;
  for (const auto& reading : then) {
    if (reading.layer >= impl_->layers.size() ||
        reading.rule >= impl_->layers[reading.layer].rules.size())
      continue;
    Usage& used = impl_->layers[reading.layer].rules[reading.rule].used;
    kept.emplace_back(&used, used);
    used = usage_of(reading, times);
  }
  Decision decision = decide(permission, arguments, {}, evidence);
  if (decision.reservation != 0) give_back(std::exchange(decision.reservation, 0));
  for (auto& [used, before] : kept) *used = std::move(before);
  return decision;
}

}  // namespace mcpac::policy
