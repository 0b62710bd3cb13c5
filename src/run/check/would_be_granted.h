// SPDX-License-Identifier: Apache-2.0

// WouldBeGranted: the checks before a run, for commands without a run: `permissions analyze` and
// `validate`.
#pragma once

#include "analyzer/report.h"
#include "core/error.h"
#include "project/folders.h"
#include "project/project.h"
#include "run/check/listener.h"
#include "run/check/strictness.h"

namespace mcpac::run {

// Says of every use in `report` what the grants will make of it. Asks no approver.
// An error of the rules comes back at once; in `refusal` stands what would keep `execute` from
// running the program: kPermissionMissing, kUseDenied, kToolWithheld.
struct GrantAnswer {
  std::optional<Error> refusal;
};
[[nodiscard]] Result<GrantAnswer> would_be_granted(const project::Project& project,
                                                   const codegen::Lock& lock,
                                                   const Listener& listener,
                                                   analyzer::Report& report,
                                                   policy::LayerText granted, DeniedUses denied,
                                                   const project::Folders& folders);

// The same where no grants were given: of the uses that the program's own declaration denies, as it
// would with any grants. What it admits is left to them.
[[nodiscard]] Result<GrantAnswer> would_be_declared(const project::Project& project,
                                                    const codegen::Lock& lock,
                                                    analyzer::Report& report, DeniedUses denied);

}  // namespace mcpac::run
