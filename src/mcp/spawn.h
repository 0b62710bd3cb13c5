// SPDX-License-Identifier: Apache-2.0

// Spawn: a program as a child that dies with us, however we end.
//
// posix_spawn() cannot ask for the parent-death signal, so a server that ignores the end of its
// input would outlive a host that was killed. The signal follows the thread that spawns: it must
// live as long as the child should. What the child starts itself gets no signal; it sees its pipes
// end. With a keeper between the two all of it dies, when our end of the keeper's control closes.
#pragma once

#include <sys/types.h>

#include "mcp/child_process.h"

namespace mcpac::mcp {

// The child leads a process group, has the three descriptors and no other, default signals, and
// the environment of the options. The descriptors are above 2 and stay the caller's. An error is
// the errno of the step that failed, the exec included. `control`: set where the options
// name a keeper, who is the child then.
[[nodiscard]] std::expected<pid_t, int> spawn_child(const SpawnOptions& options, int in, int out,
                                                    int err, UniqueFd* control = nullptr);

}  // namespace mcpac::mcp
