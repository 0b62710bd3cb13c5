// Inclusion of places: files and destinations that one side admits and the other does not.
#pragma once

#include <vector>

#include "policy/inclusion.h"
#include "policy/rules/compiled.h"

namespace mcpac::policy {

// Each as a call of mcpac.files {"path", "mode"} or mcpac.network {"host", "port"}, with which the
// wider side was asked. Undecided where no single place of the wider side covers one of the
// narrower, and yet the example is admitted: several may cover it together.
[[nodiscard]] std::vector<Inclusion> places_beyond(const std::vector<CompiledLayer>& wider,
                                                   const std::vector<CompiledLayer>& narrower);

}  // namespace mcpac::policy
