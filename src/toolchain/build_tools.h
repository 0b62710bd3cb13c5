// SPDX-License-Identifier: Apache-2.0

// BuildTools: the processes that analyse and build one program, as the warden is asked for them.
// The same question whether a tool is started for a program or before there is one
// (waiting_build.h, waiting_analyzer.h).
#pragma once

#include <cstddef>
#include <filesystem>

#include "project/folders.h"
#include "sandbox/sandbox.h"
#include "toolchain/build_folder.h"
#include "toolchain/prepare.h"

namespace mcpac::toolchain {

struct BuildTools {
  const project::Folders& folders;
  const Prepared& prepared;
  sandbox::Tier lowest_tier;

  // It is told its request, and which sources lie in the folder.
  [[nodiscard]] sandbox::Spec analyzer(const std::filesystem::path& sources) const;
  // It first reads what `lead` leads to, with the flags that its request will have.
  [[nodiscard]] sandbox::Spec analyzer_at(const std::filesystem::path& lead,
                                          const std::filesystem::path& sources) const;
  // Of the source that `lead` leads to: its object is the one of this number.
  [[nodiscard]] sandbox::Spec compiler(const BuildFolder& folder, const std::filesystem::path& lead,
                                       std::size_t source) const;
  // They get no source: what they need is the objects alone, the first so many.
  [[nodiscard]] sandbox::Spec image_linker(const BuildFolder& folder, std::size_t objects) const;
  [[nodiscard]] sandbox::Spec static_linker(const BuildFolder& folder, std::size_t objects) const;
};

}  // namespace mcpac::toolchain
