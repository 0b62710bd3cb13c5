// SPDX-License-Identifier: Apache-2.0

// prepare_runtime(): files that every program on a machine needs, made before the first one.
//
// The same that prepare() makes first where no program was built yet; a later build of a program
// need not wait for this.
#pragma once

#include <functional>

#include "core/error.h"
#include "project/folders.h"
#include "sandbox/sandbox.h"
#include "toolchain/child/stage.h"

namespace mcpac::toolchain {

// With a warden of its own. `on_build` is called before it takes long.
[[nodiscard]] Result<void> prepare_runtime(const project::Folders& folders,
                                           sandbox::Tier lowest_tier, StopSignal stop,
                                           const std::function<void(const char*)>& on_build);
// Whether there is nothing left to make.
[[nodiscard]] bool is_runtime_prepared(const project::Folders& folders);

}  // namespace mcpac::toolchain
