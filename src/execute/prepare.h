// Prepared: the verified headers and their precompiled form, ready for any number of programs.
//
// Preparing happens once per lock (a fraction of a second) and once per toolchain (seconds); later
// runs verify and reuse. What is
// used is never servers/ itself: its bytes are read once, held against the digests in the lock, and
// copied into the private cache, so nobody can change a header between the check and the
// compilation.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "codegen/lock.h"
#include "core/error.h"
#include "execute/project.h"
#include "execute/stage.h"
#include "execute/toolchain.h"
#include "sandbox/sandbox.h"

namespace mcpac::execute {

struct Prepared {
  std::filesystem::path folder;  // include/, agent.pch, runtime.pch, runtime.o
  Toolchain toolchain;
};

// kHeaderDrift when a file of servers/ is not the one the lock names. `on_build` is called before
// each slow part, so that a terminal can say why it takes seconds.
[[nodiscard]] Result<Prepared> prepare(const Project& project, const codegen::Lock& lock,
                                       const Folders& folders, sandbox::Warden& warden,
                                       sandbox::Tier lowest_tier,
                                       const std::function<void(const char*)>& on_build,
                                       StopSignal stop);

// The sandbox of a compiler or analyzer process: toolchain, prepared headers, source; nothing else.
[[nodiscard]] sandbox::Spec tool_spec(const Folders& folders, const std::filesystem::path& prepared,
                                      sandbox::Tier lowest_tier);

}  // namespace mcpac::execute
