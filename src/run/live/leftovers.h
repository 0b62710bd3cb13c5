// SPDX-License-Identifier: Apache-2.0

// Leftovers: files and folders of killed runs, removed by the next one.
#pragma once

#include "project/folders.h"

namespace mcpac::run {

// Temporary folders, half-written files and sockets of processes of this user that are dead
// (core/abandoned.h). Never fails: what cannot be removed stays for another time.
void sweep_leftovers(const project::Folders& folders);

}  // namespace mcpac::run
