// SPDX-License-Identifier: Apache-2.0

// ChangesDiff: one change as text for people: which lines, or that it is no text.
#pragma once

#include <string>

#include "core/error.h"
#include "history/changes/changeset.h"

namespace mcpac::history {

// In the unified format, fit for a terminal: what a program wrote into a file cannot move the
// cursor. Larger files than 1 MiB and binary ones are named, not shown. `place` is the index of the
// place that the change belongs to.
[[nodiscard]] std::string diff_of(const Changeset& changes, std::size_t place,
                                  const Change& change);

}  // namespace mcpac::history
