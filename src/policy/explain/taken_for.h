// SPDX-License-Identifier: Apache-2.0

// Taken for: the place that a denied relative path was taken for.
//
// It names folders of the user's machine, so it is told to that user alone, and never to a program
// or a client.
#pragma once

#include <string>

#include "core/permission.h"
#include "policy/explanation.h"

namespace mcpac::policy {

// "it is /w/a.txt, counted from the current folder, as filesystem has no --root"; empty where the
// decision is about something else. Of a link also where it leads now: for the files that mcpac can
// see, which are looked at.
[[nodiscard]] std::string taken_for(const Permission& permission, const Explanation& explanation);

// "destination", "paths[*]": the argument that taken_for() speaks of, as the rule names it; empty
// where no test of one argument decided.
[[nodiscard]] std::string tested_argument(const Explanation& explanation);

}  // namespace mcpac::policy
