// SPDX-License-Identifier: Apache-2.0

// Saved report of `--json`: the JSON form with the host's additions.
#pragma once

#include "analyzer/report.h"

namespace mcpac::analyzer {

// As report_from_json, but verdicts of uses may stand in it, which are left out (they belong to the
// grants of that time), and it may be that of a binary.
[[nodiscard]] Result<Report> saved_report_from_json(Json json);

}  // namespace mcpac::analyzer
