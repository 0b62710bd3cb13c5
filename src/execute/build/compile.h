// Compile: snapshot in, one program out, through two sandboxed runs (clang -cc1, ld.lld). What
// came out of each of them is held against what the analysis saw before anything is done with it.
//
// The two runs need of the analysis only where the entry is, so they can go on beside it
// (early_compile.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/object_file.h"
#include "analyzer/report.h"
#include "core/error.h"
#include "core/file.h"
#include "execute/build/prepare.h"
#include "execute/build/snapshot.h"

namespace mcpac::execute {

// A built program; its file goes when this does.
struct Program {
  // An image runs in the runner that it was linked for (docs/adr/0024); a static program has
  // everything in itself.
  enum class Form : std::uint8_t { kStatic, kImage };
  TemporaryFolder folder;
  std::filesystem::path file;
  Form form = Form::kStatic;
  std::filesystem::path runner{};  // of an image; borrowed from the prepared folder
};

// Which of the snapshot's sources has the entry, and in which form.
struct EntryPlace {
  std::size_t source = 0;
  analyzer::Entry form = analyzer::Entry::kNone;
  friend bool operator==(const EntryPlace&, const EntryPlace&) = default;
};
[[nodiscard]] EntryPlace entry_place(const Snapshot& snapshot, const analyzer::Report& report);

// What compiler and linker made, as it came: nothing of it was checked. The files go when this
// does.
struct Built {
  TemporaryFolder folder;
  std::vector<analyzer::ObjectFile> objects;  // of all sources, in their order
  Result<Program::Form> form;                 // of what was linked, or why nothing could be
};

// Where and how the two tools run.
struct BuildPlace {
  const Snapshot& snapshot;
  const Prepared& prepared;
  const Folders& folders;
  sandbox::Warden& warden;
  sandbox::Tier lowest_tier;
  StopSignal stop;
};

[[nodiscard]] Result<Built> compile_and_link(const BuildPlace& place, EntryPlace entry);

// `report` is that of the snapshot's source; what the objects and the program show is added to it.
[[nodiscard]] Result<Program> checked(const BuildPlace& place, Built built,
                                      analyzer::Report& report);

// The text that ties the program's entry to the runtime; it stands after the program's own last
// line.
[[nodiscard]] std::string entry_text(analyzer::Entry entry);

}  // namespace mcpac::execute
