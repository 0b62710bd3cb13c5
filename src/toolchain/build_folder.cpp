// SPDX-License-Identifier: Apache-2.0

#include "toolchain/build_folder.h"

#include <fmt/format.h>

#include "toolchain/child/scratch_file.h"
#include "toolchain/toolchain.h"

namespace mcpac::toolchain {
namespace fs = std::filesystem;

Result<BuildFolder> BuildFolder::make(const fs::path& temporary) {
  auto folder = TemporaryFolder::create(temporary, "mcpac-build-");
  if (!folder) return pass_on(folder);
  BuildFolder made(std::move(*folder));
  constexpr unsigned kReadable = 0755;
  // As root the tools run under another id and write here; the private parent keeps others out.
  constexpr unsigned kWritable = 0777;
  for (const auto& [part, mode] : {std::pair(made.source(), kReadable),
                                   {made.output(), kWritable},
                                   {made.addresses(), kReadable}}) {
    if (auto done = make_scratch_folder(part, mode); !done) return pass_on(done);
  }
  return made;
}

// The source as it is compiled: the snapshot's bytes with the entry text behind them. Nothing above
// the end of a file can depend on what follows it, so this is the program that was analysed.
Result<void> BuildFolder::fill(const Snapshot& snapshot, EntryPlace entry) const {
  auto files = snapshot.files();
  const fs::path with_entry =
      fs::path(snapshot.sources_inside()[entry.source]).lexically_relative(inside::kSource);
  files.at(with_entry.string()) += entry_text(entry.form);
  return write_scratch_files(source(), files);
}

Result<fs::path> BuildFolder::new_lead(std::string_view name) const {
  fs::path part = folder_.path() / name;
  if (auto made = make_scratch_folder(part, 0755); !made) return pass_on(made);
  return part;
}

fs::path BuildFolder::object(std::size_t source) const {
  return output() / fs::path(object_inside(source)).filename();
}

fs::path BuildFolder::program() const {
  return output() / "agent";
}

std::string object_inside(std::size_t source) {
  return fmt::format("{}/agent{}.o", inside::kOutput, source);
}

}  // namespace mcpac::toolchain
