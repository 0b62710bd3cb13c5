#include "policy/decide/reservations.h"

#include <algorithm>
#include <utility>

namespace mcpac::policy {

Reservations::Held Reservations::charge(std::vector<CompiledLayer>& layers,
                                        const std::vector<Verdict>& verdicts, const Times& times,
                                        const Demand& demand) {
  if (std::ranges::all_of(verdicts, [](const Verdict& v) { return v.metered.empty(); })) return {};
  Held held{.id = ++last_, .counts_result = false};
  Reservation reservation{.layers = {}, .times = times, .demand = demand};
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    for (const std::size_t index : verdicts[i].metered) {
      auto& rule = layers[i].rules[index];
      policy::charge(rule, times, demand);
      held.counts_result = held.counts_result || rule.clauses.bytes_in.has_value();
    }
    reservation.layers.push_back({verdicts[i].metered, verdicts[i].unmetered});
  }
  in_flight_.emplace(held.id, std::move(reservation));
  return held;
}

void Reservations::give_back(std::vector<CompiledLayer>& layers, std::uint64_t id) {
  const auto held = in_flight_.extract(id);
  if (held.empty()) return;
  const auto& reservation = held.mapped();
  for (std::size_t i = 0; i < reservation.layers.size(); ++i) {
    for (const std::size_t index : reservation.layers[i].rules)
      policy::give_back(layers[i].rules[index], reservation.times, reservation.demand);
  }
}

bool Reservations::settle(std::vector<CompiledLayer>& layers, std::uint64_t id,
                          std::uint64_t result_bytes) {
  const auto held = in_flight_.extract(id);
  if (held.empty()) return true;
  bool delivered = true;
  const auto& charged = held.mapped().layers;
  for (std::size_t i = 0; i < charged.size(); ++i) {
    // One rule that lets the call through is enough, as when it was decided.
    bool passes = charged[i].rules.empty() || charged[i].unmetered;
    for (const std::size_t index : charged[i].rules) {
      const bool fits = charge_result(layers[i].rules[index], result_bytes);
      passes = passes || fits;
    }
    delivered = delivered && passes;
  }
  return delivered;
}

}  // namespace mcpac::policy
