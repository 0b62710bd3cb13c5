// SPDX-License-Identifier: Apache-2.0

// Evidence: inputs of one decision, from which it can be made again (docs/audit.md).
//
// An Explanation is told to people; evidence is recorded with every call, so it is small: rules
// are named by their place in Authority::layers(). Together with the policy (policy_record.h), the
// lock and the call it determines the decision: the clocks, how much of each limit was used, and
// what the file system answered are in here.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policy/effect.h"

namespace mcpac::policy {

// How much of a call the audit log keeps, from the least to the most: nothing of its arguments, a
// keyed digest of them, or the arguments themselves. Rules wish for one (`audit meta`); of several
// wishes the least holds, and without any it is kHash.
enum class AuditLevel : std::uint8_t { kMeta, kHash, kArgs };
[[nodiscard]] std::string to_string(AuditLevel level);

// How much of the limits of one rule was used, before the call.
struct MeterReading {
  std::size_t layer = 0;
  std::size_t rule = 0;
  std::uint64_t calls = 0;
  std::uint64_t in_window = 0;  // of `rate`
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t cost = 0;  // millionths
  friend bool operator==(const MeterReading&, const MeterReading&) = default;
};

// What one layer answered.
struct LayerEvidence {
  Effect effect = Effect::kDeny;
  std::optional<std::size_t> rule;   // that decided; nothing: none matched
  std::vector<std::size_t> charged;  // rules with limits that an allowed call uses
  bool unmetered = false;            // with those: a rule without limits lets it through as well
  friend bool operator==(const LayerEvidence&, const LayerEvidence&) = default;
};

// A rule that speaks of the tool and did not hold for the call.
struct MissedRule {
  std::size_t layer = 0;
  std::size_t rule = 0;
  std::string why;    // may quote a value of the call
  std::string plain;  // the same without values
};

// What the file system answered. `base` is empty where a path was resolved by itself.
struct PathFact {
  std::string base;
  std::string path;
  std::optional<std::string> real;  // nothing: refused
  // Where it was asked what stands there (PathResolver::look), all of that but the path:
  // "folder 803:2 803:12 35:7", the device and inode of each step in hexadecimal; empty: refused.
  // Where own names were asked for, "own " stands before it. "holds ./**/.env": whether the folder
  // holds such an entry, and `real` is "yes" or "no".
  std::optional<std::string> seen = {};
  friend bool operator==(const PathFact&, const PathFact&) = default;
};

// What the file system answered of one call has room in a record, beside arguments: what needs more
// is too large to be decided (Decision::too_large).
inline constexpr std::size_t kMaxPathFactBytes = std::size_t{448} << 10U;

struct Evidence {
  std::chrono::nanoseconds run_time{0};  // since the authority was loaded
  std::chrono::microseconds wall{0};     // since 1970
  std::vector<LayerEvidence> layers;     // none where the call never came to a rule
  std::vector<MeterReading> meters;      // of the rules with limits that speak of the tool
  std::vector<MissedRule> missed;        // of a denial where nothing matched: the nearest first
  std::size_t missed_further = 0;        // as many more
  std::vector<PathFact> paths;
  // What the call is going to use of `bytes out` and `cost`.
  std::uint64_t bytes_out = 0;
  std::uint64_t cost = 0;
};

}  // namespace mcpac::policy
