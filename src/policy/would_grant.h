// The --grant text that would admit exactly one call: narrow where the call is small, else the bare
// name.
#pragma once

#include <string>

#include "policy/evaluate.h"
#include "policy/possible.h"

namespace mcpac::policy {

[[nodiscard]] std::string grant_for(const CallUnderTest& call);
// The same for a call of which only a part is known: the rest may be anything.
[[nodiscard]] std::string grant_for(const PossibleCall& call);

}  // namespace mcpac::policy
