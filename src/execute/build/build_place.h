// BuildPlace: the program to analyse and build, and the place and way its tools run. Borrows all.
#pragma once

#include "execute/build/build_tools.h"
#include "execute/build/prepare.h"
#include "execute/build/snapshot.h"
#include "execute/child/stage.h"
#include "execute/project/folders.h"
#include "sandbox/sandbox.h"

namespace mcpac::execute {

struct BuildPlace {
  const Snapshot& snapshot;
  const Prepared& prepared;
  const Folders& folders;
  sandbox::Warden& warden;
  sandbox::Tier lowest_tier;
  StopSignal stop;
  [[nodiscard]] BuildTools tools() const { return {folders, prepared, lowest_tier}; }
};

}  // namespace mcpac::execute
