// SPDX-License-Identifier: Apache-2.0

// The state of an authority, for the files of its functions (authority*.cpp).
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "policy/authority.h"
#include "policy/decide/decide.h"
#include "policy/match/path_facts.h"
#include "policy/rules/compiled.h"
#include "policy/rules/meter.h"
#include "policy/sets/known_strings.h"

namespace mcpac::policy {

// Reservations: charges of allowed calls, as long as they are in flight.
//
// A call is charged when it is decided. It ends by give_back(), as if it had not been decided, or
// by settle(), with its result; the second time each does nothing. Most calls meet no meter at all
// and hold no reservation. Not thread-safe, like the authority that owns them.
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

struct Authority::Impl {
  Environment environment;
  std::unique_ptr<PathWitness> witness;  // wraps the resolver that was given
  std::vector<PathFact> loaded_paths;
  std::vector<CompiledLayer> layers;
  std::optional<std::chrono::steady_clock::time_point> start;
  Reservations reservations;
  bool weighs_arguments = false;  // some rule limits `bytes out`

  [[nodiscard]] Times now() const;
  // In between, what a decision asks of the file system is bounded, and answered alike in all of
  // it.
  void begin_paths() const {
    if (witness) witness->begin(environment.is_replay ? PathBounds{} : kPathsOfOneCall);
  }
  [[nodiscard]] std::vector<PathFact> end_paths() const {
    return witness ? witness->take() : std::vector<PathFact>();
  }
  // Of the last decision.
  [[nodiscard]] bool asked_too_much() const { return witness && witness->is_beyond_bounds(); }
  [[nodiscard]] const Json* schema_of(const Permission& permission) const;
  [[nodiscard]] bool knows(const Permission& permission) const {
    return schema_of(permission) != nullptr || is_control(permission);
  }
  // Once a call: what is found of its values is found for all that is asked about it.
  [[nodiscard]] CallUnderTest under_test(const Permission& permission,
                                         const Json& arguments) const {
    const Json* schema = schema_of(permission);
    const SchemaDefaults* standards = schema == nullptr ? nullptr : defaults_of(*schema);
    return {.permission = permission,
            .arguments = arguments,
            .schema = schema,
            .demand = demand_of(permission, arguments),
            .defaults = standards == nullptr ? nullptr : standards->root(),
            .unfilled = standards == nullptr ? nullptr : &standards->unfilled()};
  }
  // What a server may put where calls of this tool leave something out; null where its schema has
  // no default. Found when a tool is first asked about, and kept.
  [[nodiscard]] const SchemaDefaults* defaults_of(const Json& schema) const;
  mutable std::unordered_map<const Json*, std::unique_ptr<const SchemaDefaults>> defaults;
  [[nodiscard]] DeclaredStanding declared(const Permission& permission, std::string_view where,
                                          const InclusionBudget& budget) const;
  mutable std::unique_ptr<KnownStrings> strings;  // of whole tools that are declared
  [[nodiscard]] Demand demand_of(const Permission& permission, const Json& arguments) const;
  void reserve(const std::vector<Verdict>& verdicts, const Times& times, const Demand& demand,
               Decision& decision);
  [[nodiscard]] Decision refusal(std::size_t layer, const Verdict& verdict,
                                 const CallUnderTest& call, const Times& times) const;
  // The rules that want an answer first, of the layers from `first` on.
  [[nodiscard]] std::vector<AskRule> asking_from(std::size_t first, const CallUnderTest& call,
                                                 const Times& times,
                                                 const std::vector<Verdict>& verdicts) const;
  // Where the run's own layer only does not admit the call: how the first layer above it that
  // refuses it does so.
  [[nodiscard]] std::optional<Decision> refusal_above(const CallUnderTest& call, const Times& times,
                                                      const std::vector<Verdict>& verdicts) const;
  // Lifted::kUngranted, of a decision that judge() made.
  void lift(const CallUnderTest& call, const Times& times, const std::vector<Verdict>& verdicts,
            Decision& decision) const;
  // The answer of all layers, with nothing charged; `verdicts` stays empty where no rule was asked.
  // begin_paths() comes before, and the caller looks at asked_too_much() afterwards.
  [[nodiscard]] Decision judge(const CallUnderTest& call, const Times& times,
                               std::span<const AskRule> approved,
                               std::vector<Verdict>& verdicts) const;
  // What a denial is told to do. After end_paths(): it looks at files by itself.
  void add_fix(const CallUnderTest& call, const Times& times, Decision& decision) const;
  void explain(const CallUnderTest& call, const Times& times, const std::vector<Verdict>& verdicts,
               Explanation& found) const;
  // The folder that, declared as the server's root, lets the rule that the denial names admit the
  // call: found by deciding so. After end_paths(). Where there is one the fix is to declare it, and
  // no grant.
  void settle_root(const Permission& permission, const Json& arguments, Explanation& found) const;
};

}  // namespace mcpac::policy
