// SPDX-License-Identifier: Apache-2.0

// BuildPlace: the program to analyse and build, and the place and way its tools run. Borrows all.
#pragma once

#include "project/folders.h"
#include "sandbox/sandbox.h"
#include "toolchain/build_tools.h"
#include "toolchain/child/stage.h"
#include "toolchain/prepare.h"
#include "toolchain/snapshot.h"

namespace mcpac::toolchain {

struct BuildPlace {
  const Snapshot& snapshot;
  const Prepared& prepared;
  const project::Folders& folders;
  sandbox::Warden& warden;
  sandbox::Tier lowest_tier;
  StopSignal stop;
  [[nodiscard]] BuildTools tools() const { return {folders, prepared, lowest_tier}; }
};

}  // namespace mcpac::toolchain
