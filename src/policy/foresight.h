// SPDX-License-Identifier: Apache-2.0

// Foresight: predicted answer of an authority to a call in a source.
//
// It promises what decide() keeps: covered where every call that the source can make is allowed,
// denied where none can be, conditional wherever that is not certain. It reserves nothing, and says
// nothing of the tool's schema: arguments that do not fit it are refused before any rule.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/json.h"
#include "policy/decision.h"

namespace mcpac::policy {

// The arguments of a call as far as its source tells them. What is in neither set is absent.
struct CallInSource {
  Json known = Json::object();    // as they are passed, before defaults are filled in
  std::set<std::string> unknown;  // absent, or passed with any value
  bool open = false;              // any others may be passed as well
};

// A rule for one call of a source, and what of the call it leaves open.
struct LeastRule {
  std::string rule;       // empty: there is none, and `escaped` says why
  bool is_exact = true;   // it admits this call and no other
  bool is_known = true;   // the source tells all of the call
  std::string escaped{};  // a value got past a rule's test, which is no reason to grant it
};

enum class Outlook : std::uint8_t { kCovered, kConditional, kDenied };
[[nodiscard]] std::string to_string(Outlook outlook);

struct Foresight {
  Outlook outlook = Outlook::kDenied;
  std::string reason;           // why it is not covered
  std::string rule;             // that decides, or came nearest; may be empty
  std::string layer;            // whose rule that is
  std::string place;            // where it stands: "mcpac.policy:12", "--grant"
  std::size_t other_rules = 0;  // denied: of that layer, that missed as well
  // Denied: the least that would admit it (policy/explain/would_grant.h), or why there is none.
  std::string would_grant;
  std::string no_grant;
  // Denied by nothing but that the run's own layer admits no such call, and no rule forbids it.
  bool only_ungranted = false;
  std::vector<std::string> depends_on;  // conditional: arguments that only the run knows
  bool asks = false;                    // conditional: some rule may want an answer first
};

}  // namespace mcpac::policy
