// Compile: snapshot in, one program out, through two sandboxed runs (clang -cc1, ld.lld). What
// came out of each of them is held against what the analysis saw before anything is done with it.
//
// The two runs need of the analysis only where the entry is, so they can go on beside it
// (early_compile.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "analyzer/object_file.h"
#include "analyzer/report.h"
#include "core/error.h"
#include "core/file.h"
#include "execute/build/build_folder.h"
#include "execute/build/build_place.h"
#include "execute/build/entry.h"
#include "execute/build/snapshot.h"
#include "execute/build/waiting_build.h"

namespace mcpac::execute {

// A built program; its file and its image go when this does.
struct Program {
  // An image runs in the runner that it was linked for (docs/adr/0024); a static program has
  // everything in itself.
  enum class Form : std::uint8_t { kStatic, kImage };
  std::optional<TemporaryFolder> folder;  // of the file, where it was written
  std::filesystem::path file;
  Form form = Form::kStatic;
  std::filesystem::path runner{};              // of an image; borrowed from the prepared folder
  std::shared_ptr<const UniqueFd> image = {};  // of an image: its bytes, sealed and checked
};

// Its file is the image itself, which nobody can change and no folder needs to hold.
[[nodiscard]] Program image_program(std::shared_ptr<const UniqueFd> image);

// What compiler and linker made, as it came: nothing of it was checked. The files go when this
// does.
struct Built {
  BuildFolder folder;
  std::vector<analyzer::ObjectFile> objects;  // of all sources, in their order
  // Sealed; null: a static program, in the folder; or why nothing could be linked.
  Result<std::shared_ptr<const UniqueFd>> image;
  bool compiler_waited = false;  // it had read the headers before
};

// `waiting` is used where it fits.
[[nodiscard]] Result<Built> compile_and_link(const BuildPlace& place, EntryPlace entry,
                                             std::optional<WaitingBuild> waiting = std::nullopt);

// `report` is that of the snapshot's source; what the objects and the program show is added to it.
[[nodiscard]] Result<Program> checked(const BuildPlace& place, Built built,
                                      analyzer::Report& report);

}  // namespace mcpac::execute
