// SPDX-License-Identifier: Apache-2.0

// WaitingBuild: a compiler and a linker that were started before there was a program to build.
//
// The compiler has read the headers and what programs use, and stands at the pipe of its lead; the
// linker has loaded itself and stands at the first of its inputs. They are used for a program of
// one source where the very same processes would be started now (child/waiting_tool.h), once
// (docs/adr/0042).
#pragma once

#include <filesystem>

#include "core/error.h"
#include "sandbox/sandbox.h"
#include "toolchain/build_folder.h"
#include "toolchain/build_tools.h"
#include "toolchain/child/waiting_tool.h"

namespace mcpac::toolchain {

struct WaitingBuild {
  [[nodiscard]] static Result<WaitingBuild> start(const BuildTools& tools, sandbox::Warden& warden);
  [[nodiscard]] bool fits(const BuildTools& tools, const Snapshot& snapshot) const;
  // They end soon, and who destroys this hardly waits.
  void let_go();

  BuildFolder folder;
  std::filesystem::path lead;
  WaitingTool compiler;
  WaitingTool linker;
};

// The first input of a linker of images says nothing: a linker that waits stands there.
inline constexpr char kFirstInput[] = "/* what follows is there */\n";
// For a linker that does not wait, also as a substitute for one that did.
[[nodiscard]] Result<void> write_first_input(const BuildFolder& folder);

}  // namespace mcpac::toolchain
