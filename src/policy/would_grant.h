// The --grant text that would admit exactly one call: narrow where the call is small, else the bare
// name.
#pragma once

#include <string>

#include "policy/evaluate.h"

namespace mcpac::policy {

[[nodiscard]] std::string grant_for(const CallUnderTest& call);

}  // namespace mcpac::policy
