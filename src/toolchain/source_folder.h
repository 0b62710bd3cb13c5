// SPDX-License-Identifier: Apache-2.0

// SourceFolder: the folder that an analyzer reads a program's sources from. Its parent is private,
// so that no other user of the machine reaches it; it goes with this.
#pragma once

#include <filesystem>
#include <utility>

#include "core/error.h"
#include "core/file.h"

namespace mcpac::toolchain {

class SourceFolder {
 public:
  [[nodiscard]] static Result<SourceFolder> make(const std::filesystem::path& temporary);
  // Empty until a snapshot is written into it.
  [[nodiscard]] std::filesystem::path sources() const { return folder_.path() / "source"; }
  // For the lead of an analyzer that waits (lead.h): empty.
  [[nodiscard]] std::filesystem::path lead() const { return folder_.path() / "lead"; }

 private:
  explicit SourceFolder(TemporaryFolder folder) : folder_(std::move(folder)) {}
  TemporaryFolder folder_;
};

}  // namespace mcpac::toolchain
