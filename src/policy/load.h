// SPDX-License-Identifier: Apache-2.0

// Load: the texts of one layer to compiled rules; all of them or none.
#pragma once

#include "policy/layers.h"
#include "policy/rules/compiled.h"

namespace mcpac::policy {

Result<CompiledLayer> load_layer(const LayerText& text, const Environment& environment);

}  // namespace mcpac::policy
