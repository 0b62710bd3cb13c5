// SPDX-License-Identifier: Apache-2.0

// RulesAbout: the rules of an authority about one tool, as shown to its callers.
//
// A rule that names several tools is printed with the targets that mean this one alone: what else
// its user allowed or denied is not for clients that were not granted it.
#pragma once

#include <string>
#include <vector>

#include "core/permission.h"
#include "policy/layers.h"

namespace mcpac::policy {

// "the command line: allow fs.read(path within ./data)", layer by layer, without the layer of a
// program's declaration.
[[nodiscard]] std::vector<std::string> rules_about(const std::vector<LayerRules>& layers,
                                                   const Permission& tool);

}  // namespace mcpac::policy
