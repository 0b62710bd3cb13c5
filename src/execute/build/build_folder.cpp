#include "execute/build/build_folder.h"

#include <fmt/format.h>

#include <system_error>

#include "execute/build/toolchain.h"
#include "execute/child/scratch_file.h"

namespace mcpac::execute {
namespace {

namespace fs = std::filesystem;

// With the mode whatever our umask says.
Result<void> make_part(const fs::path& part, fs::perms mode) {
  std::error_code error;
  fs::create_directory(part, error);
  if (!error) fs::permissions(part, mode, error);
  if (!error) return {};
  return fail(ErrorId::kFileUnwritable,
              fmt::format("cannot make {}: {}", part.string(), error.message()));
}

}  // namespace

Result<BuildFolder> BuildFolder::make(const fs::path& temporary) {
  auto folder = TemporaryFolder::create(temporary, "mcpac-build-");
  if (!folder) return pass_on(folder);
  BuildFolder made(std::move(*folder));
  constexpr fs::perms kReadable = fs::perms(0755);
  // As root the tools run under another id and write here; the private parent keeps others out.
  constexpr fs::perms kWritable = fs::perms(0777);
  for (const auto& [part, mode] : {std::pair(made.source(), kReadable),
                                   {made.output(), kWritable},
                                   {made.addresses(), kReadable}}) {
    if (auto done = make_part(part, mode); !done) return pass_on(done);
  }
  return made;
}

// The source as it is compiled: the snapshot's bytes with the entry text behind them. Nothing above
// the end of a file can depend on what follows it, so this is the program that was analysed.
Result<void> BuildFolder::fill(const Snapshot& snapshot, EntryPlace entry) const {
  const fs::path with_entry =
      fs::path(snapshot.sources_inside()[entry.source]).lexically_relative(inside::kSource);
  for (const auto& [name, bytes] : snapshot.files()) {
    const fs::path target = source() / name;
    std::error_code error;  // the write says what is wrong
    fs::create_directories(target.parent_path(), error);
    auto written = name == with_entry ? write_scratch(target, bytes + entry_text(entry.form), 0444)
                                      : write_scratch(target, bytes, 0444);
    if (!written) return written;
  }
  return {};
}

Result<fs::path> BuildFolder::new_lead(std::string_view name) const {
  fs::path part = folder_.path() / name;
  if (auto made = make_part(part, fs::perms(0755)); !made) return pass_on(made);
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

}  // namespace mcpac::execute
