// The --grant text that would admit one call and as little else as can be said in short: a list, or
// a long text, may be any; the bare name is left where not even that can be said.
#pragma once

#include <string>

#include "policy/compare/possible.h"
#include "policy/rules/evaluate.h"

namespace mcpac::policy {

[[nodiscard]] std::string grant_for(const CallUnderTest& call);
// The same for a call of which only a part is known: the rest may be anything.
[[nodiscard]] std::string grant_for(const PossibleCall& call);

}  // namespace mcpac::policy
