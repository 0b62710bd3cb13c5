// SPDX-License-Identifier: Apache-2.0

// Confine: the order in which the layers are laid, in the child, one system call after another.
#pragma once

#include "sandbox/plan.h"

namespace mcpac::sandbox {

struct Confinement {
  Plan* plan;
  int report;         // write end; a Failure goes here
  int report_reader;  // the warden's end, inherited by copy: closed first
  uid_t outer_user;
  gid_t outer_group;
  bool joins_group = false;  // it did not begin in the group of the plan
};

// The entry of the child. Does not return: it becomes the program, or reports and exits.
int confine(void* confinement);

}  // namespace mcpac::sandbox
