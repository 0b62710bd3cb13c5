// SPDX-License-Identifier: Apache-2.0

// BuildFolder: folder of one program's build, in parts that the sandboxes of its tools see.
//
//   source/     what is compiled: the snapshot, with the entry behind its source
//   leads       of the sources, a folder each (lead.h)
//   output/     objects and program; the only part that tools write
//   addresses/  of what the runner has, for an image; no tool writes it
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/file.h"
#include "toolchain/entry.h"
#include "toolchain/snapshot.h"

namespace mcpac::toolchain {

class BuildFolder {
 public:
  // Empty parts.
  [[nodiscard]] static Result<BuildFolder> make(const std::filesystem::path& temporary);
  // Writes source/.
  [[nodiscard]] Result<void> fill(const Snapshot& snapshot, EntryPlace entry) const;

  [[nodiscard]] std::filesystem::path source() const { return folder_.path() / "source"; }
  [[nodiscard]] std::filesystem::path output() const { return folder_.path() / "output"; }
  [[nodiscard]] std::filesystem::path addresses() const { return folder_.path() / "addresses"; }
  // Makes an empty one.
  [[nodiscard]] Result<std::filesystem::path> new_lead(std::string_view name) const;

  [[nodiscard]] std::filesystem::path object(std::size_t source) const;
  [[nodiscard]] std::filesystem::path program() const;
  [[nodiscard]] TemporaryFolder take() && { return std::move(folder_); }

 private:
  explicit BuildFolder(TemporaryFolder folder) : folder_(std::move(folder)) {}
  TemporaryFolder folder_;
};

// As the tools see it.
[[nodiscard]] std::string object_inside(std::size_t source);

}  // namespace mcpac::toolchain
