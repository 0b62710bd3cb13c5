// SPDX-License-Identifier: Apache-2.0

// Capabilities and ids: the program has no power over the machine and cannot get any by exec.
#pragma once

#include "sandbox/plan.h"

namespace mcpac::sandbox {

// In the child: no_new_privs, empty bounding set, own ids (kOwnId), no capabilities. 0 or errno.
[[nodiscard]] int drop_privileges(const Plan& plan);

// In the child, for a moment: files are made as `user`, with the powers of root. 0 or errno.
[[nodiscard]] int make_files_as(uid_t user);
[[nodiscard]] int make_files_as_before();

}  // namespace mcpac::sandbox
