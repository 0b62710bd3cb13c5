// SPDX-License-Identifier: Apache-2.0

// Suggest policy: the least rules that admit what a program's source shows, or what a run did.
#pragma once

#include <string>
#include <vector>

#include "analyzer/report.h"
#include "audit/log.h"
#include "core/error.h"
#include "run/check/authorities.h"

namespace mcpac::run {

// One rule to write into a policy, or, without one, only something to say.
struct SuggestedRule {
  std::string rule;  // a statement of a policy, "allow …" or "ask …"; empty: none
  std::string why;   // what it is for, in one line
};

// Of every call in the source one rule, as the refusal of a run without grants says it (check.h):
// constants become tests, what only the run knows is `any`; where a Narrow says more than the
// calls, its condition. What is declared and never used is told, and not granted.
[[nodiscard]] Result<std::vector<SuggestedRule>> suggest_for(const analyzer::Report& report,
                                                             const PolicyWorld& world);

// Of every allowed call of a recorded run what its own rules grant of it (Authority::granted_of):
// exactly the call, where its arguments were recorded. Where they were not, the run's own rule cut
// to the places that the record shows, or to the folder that many lie in; never more than it was
// granted, and nothing for what --no-permission-check let through. Denies and asks of the run's own
// rules that concern a proposed tool are part of the proposal, which the run's rules must include
// (Authority::beyond). What is left out is named: tools that are gone or whose rules cannot be
// compared, servers without a call, servers whose folders are others now. An error where the
// record does not say what was granted, where those rules do not load any more, and where all paths
// mean other places now.
[[nodiscard]] Result<std::vector<SuggestedRule>> suggest_for(
    const std::vector<audit::Event>& events, const PolicyWorld& world);

}  // namespace mcpac::run
