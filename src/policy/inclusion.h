// SPDX-License-Identifier: Apache-2.0

// Inclusion: is every call that one authority admits admitted by another (ADR 0012)?
//
// A yes means: for every tool of the lock and every call that its schema admits, read by its text
// (as if no link lay below the bases of path tests, no folder held what a rule has a wildcard for,
// all paths named folders or all of them none, no string were too long for its expressions
// (match_text.cpp), and servers took texts for what they are behind a blank, in quotes or as JSON
// and in no other way: string_classes.h) and with no limit used up, the wider authority answers at
// least as generously, and no limit of its rules is lower, over all tools that share it. A no comes
// with a call that both real decisions have been asked about. Neither is said where it is not
// certain: then the question is undecided, and the caller must take that for a no. At call time
// every layer decides anyway, so a wrong answer here can mislead but never widen authority.
#pragma once

#include <cstddef>
#include <string>
#include <variant>

#include "core/json.h"
#include "core/permission.h"
#include "policy/effect.h"

namespace mcpac::policy {

struct InclusionBudget {
  // For one tool, some 20 ns each; where one runs out, less is left to the tools behind it.
  std::size_t steps = 20'000'000;
};

struct Included {};

// A call that the narrower authority answers more generously than the wider one; or, where `limit`
// says so, answers the same but more often or for longer.
struct Excess {
  Permission permission;
  Json arguments;  // as sent: defaults filled in
  Effect narrower = Effect::kAllow;
  Effect wider = Effect::kDeny;
  std::string limit;  // "5 calls, instead of 3 calls"
  // Only where a path in it is that of a folder that exists, which its text does not say.
  bool if_folders = false;
};

struct Undecided {
  Permission permission;
  std::string why;
};

using Inclusion = std::variant<Included, Excess, Undecided>;

}  // namespace mcpac::policy
