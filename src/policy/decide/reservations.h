// Reservations: charges of allowed calls, as long as they are in flight.
//
// A call is charged when it is decided. It ends by give_back(), as if it had not been decided, or
// by settle(), with its result; the second time each does nothing. Most calls meet no meter at all
// and hold no reservation. Not thread-safe, like the authority that owns them.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "policy/decide/decide.h"
#include "policy/rules/compiled.h"
#include "policy/rules/meter.h"

namespace mcpac::policy {

class Reservations {
 public:
  struct Held {
    std::uint64_t id = 0;        // 0: no rule with a meter was needed
    bool counts_result = false;  // some rule limits `bytes in`
  };
  // Charges the metered rules of the verdicts, one of each of `layers`, in their order.
  Held charge(std::vector<CompiledLayer>& layers, const std::vector<Verdict>& verdicts,
              const Times& times, const Demand& demand);
  // Nothing was sent. `layers` are those of charge().
  void give_back(std::vector<CompiledLayer>& layers, std::uint64_t id);
  // False: the result does not fit into `bytes in` any more, and must not be delivered.
  [[nodiscard]] bool settle(std::vector<CompiledLayer>& layers, std::uint64_t id,
                            std::uint64_t result_bytes);

 private:
  struct ChargedLayer {
    std::vector<std::size_t> rules;
    bool unmetered = false;  // whether the call would have passed without them
  };
  struct Reservation {
    std::vector<ChargedLayer> layers;
    Times times;
    Demand demand;
  };
  std::map<std::uint64_t, Reservation> in_flight_;
  std::uint64_t last_ = 0;
};

}  // namespace mcpac::policy
