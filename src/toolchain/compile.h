// SPDX-License-Identifier: Apache-2.0

// Compile: snapshot in, one program out, through two sandboxed runs (clang -cc1, ld.lld). What
// came out of each of them is held against what the analysis saw before anything is done with it.
//
// The two runs need of the analysis only where the entry is, so they can go on beside it
// (program_build.h).
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "analyzer/object_file.h"
#include "analyzer/report.h"
#include "core/error.h"
#include "core/file.h"
#include "toolchain/build_folder.h"
#include "toolchain/build_place.h"
#include "toolchain/entry.h"
#include "toolchain/image_file.h"
#include "toolchain/snapshot.h"
#include "toolchain/waiting_build.h"

namespace mcpac::toolchain {

// A built program: a static one, which has everything in itself, or an image, which runs in the
// runner that it was linked for (docs/adr/0024).
struct Program {
  // A static program's; the file goes when this does.
  std::optional<TemporaryFolder> folder{};
  std::filesystem::path file{};
  std::optional<Image> image{};
  std::filesystem::path runner{};  // of an image; borrowed from the prepared folder
};

// Unchecked output of compiler and linker. The files go when this does.
struct Built {
  BuildFolder folder;
  std::vector<analyzer::ObjectFile> objects;  // of all sources, in their order
  // Nothing: a static program, in the folder; or why nothing could be linked.
  Result<std::optional<Image>> image;
  bool compiler_waited = false;  // it had read the headers before
};

// `waiting` is used where it fits.
[[nodiscard]] Result<Built> compile_and_link(const BuildPlace& place, EntryPlace entry,
                                             std::optional<WaitingBuild> waiting = std::nullopt);

// `report` is that of the snapshot's source; what the objects and the program show is added to it.
[[nodiscard]] Result<Program> checked(const BuildPlace& place, Built built,
                                      analyzer::Report& report);

}  // namespace mcpac::toolchain
