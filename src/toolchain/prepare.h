// SPDX-License-Identifier: Apache-2.0

// Preparing: the verified headers and their precompiled form, ready for any number of programs.
//
// It happens once per lock (a fraction of a second) and once per toolchain (seconds); later runs
// verify and reuse. What is used is never servers/ itself: its bytes are read once, held against
// the digests in the lock, and copied into the private cache, so no process can change a header
// between the check and the compilation.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "codegen/lock.h"
#include "core/error.h"
#include "project/project.h"
#include "sandbox/sandbox.h"
#include "toolchain/child/stage.h"
#include "toolchain/precompile.h"
#include "toolchain/toolchain.h"

namespace mcpac::toolchain {

// The prepared files and their inputs: the same inputs give the same files.
struct KnownPrepared {
  Prepared prepared;
  const codegen::Lock* lock;  // this very object, which is not changed and lives longer
  std::set<std::string> servers;
  std::string stamps;  // of the headers and of the toolchain; empty: they may change unseen
};

// `servers` are the headers that the program is given, as mcpac.lock names them (named_servers.h);
// <mcpac.hpp> includes just these. kHeaderDrift when one of them, or of the runtime, is not the
// file that the lock names. `on_build` is called before each slow part, so that a terminal can say
// why it takes seconds. `known`: what was found before, perhaps for something else.
[[nodiscard]] Result<Prepared> prepare(const project::Project& project, const codegen::Lock& lock,
                                       const std::set<std::string>& servers,
                                       const CompilerPlace& place,
                                       const std::function<void(const char*)>& on_build,
                                       const KnownPrepared* known = nullptr);

// The result of prepare(), where it has nothing to make; nothing otherwise.
[[nodiscard]] std::optional<KnownPrepared> find_prepared(const project::Project& project,
                                                         const codegen::Lock& lock,
                                                         const std::set<std::string>& servers,
                                                         const project::Folders& folders);

// The sandbox of a compiler or analyzer process: toolchain, prepared headers, source; nothing else.
[[nodiscard]] sandbox::Spec tool_spec(const project::Folders& folders,
                                      const std::filesystem::path& prepared,
                                      sandbox::Tier lowest_tier);

}  // namespace mcpac::toolchain
