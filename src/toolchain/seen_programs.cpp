// SPDX-License-Identifier: Apache-2.0

#include "toolchain/seen_programs.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>
#include <vector>

#include "audit/chain.h"
#include "core/file.h"
#include "core/hash.h"
#include "core/json.h"
#include "project/private_folder.h"
#include "toolchain/analysis.h"
#include "toolchain/child/scratch_file.h"
#include "toolchain/image_file.h"

namespace mcpac::toolchain {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostPrograms = 64;
constexpr std::size_t kLargestEntry = std::size_t{32} << 20U;
constexpr std::size_t kDigestLength = 64;

// Faster than SHA-256: a static program has 5 MB, which are read with every hit.
std::string digest_of(std::string_view bytes) {
  return audit::hex(audit::blake2b(bytes));
}

enum class Form : char { kImage = 'i', kStatic = 's' };

// An entry: the digest of all that follows, and the length of the report, both as lines; the form
// of the program as a letter, report, program.
std::string to_entry(const std::string& report, Form form, std::string_view program) {
  const std::string rest =
      fmt::format("{}\n{}{}{}", report.size(), static_cast<char>(form), report, program);
  return fmt::format("{}\n{}", digest_of(rest), rest);
}

struct Parts {
  Form form = Form::kStatic;
  std::string_view report;
  std::string_view program;  // the end of the entry
};

std::optional<Parts> parts_of(std::string_view entry) {
  if (entry.size() <= kDigestLength || entry[kDigestLength] != '\n') return std::nullopt;
  std::string_view rest = entry.substr(kDigestLength + 1);
  if (digest_of(rest) != entry.substr(0, kDigestLength)) return std::nullopt;
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), length);
  if (error != std::errc() || end == rest.data() + rest.size() || *end != '\n') return std::nullopt;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()) + 1);
  if (rest.empty()) return std::nullopt;
  const Form form{rest.front()};
  if (form != Form::kImage && form != Form::kStatic) return std::nullopt;
  rest.remove_prefix(1);
  if (length > rest.size()) return std::nullopt;
  return Parts{form, rest.substr(0, length), rest.substr(length)};
}

// A runner is given the bytes of an image, which need no file.
std::optional<Program> image_in(std::string entry, std::size_t begin) {
  auto image = Image::checked(std::move(entry), begin);
  return image ? std::optional(Program{.image = std::move(*image)}) : std::nullopt;
}

// One of ours that was built anew, or installed over the old one, may see more.
std::string identity_of(const fs::path& program) {
  struct stat info {};
  if (::stat(program.c_str(), &info) != 0) return "none";
  return fmt::format("{} {} {} {}.{}", info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec);
}

}  // namespace

std::string key_of(const Snapshot& snapshot, const codegen::Lock& lock, const Prepared& prepared,
                   const project::Folders& folders) {
  return sha256_hex(fmt::format("mcpac {} program 4\n{}\n{}\n{}\n{}\n{}\n{}", MCPAC_VERSION,
                                snapshot.digest(), prepared.folder.filename().string(),
                                prepared.toolchain.runner_digest, identity_of("/proc/self/exe"),
                                identity_of(folders.analyzer()),
                                to_text(to_json(analysis_request(snapshot, lock, prepared)))));
}

SeenPrograms::SeenPrograms(const project::Folders& folders) : temporary_(folders.temporary) {
  const fs::path folder = folders.cache / "programs";
  if (project::make_private(folder)) folder_ = folder;
}

fs::path SeenPrograms::file_of(const std::string& key) const {
  return folder_ / (key + ".program");
}

std::optional<SeenProgram> SeenPrograms::find(const std::string& key) const {
  if (folder_.empty()) return std::nullopt;
  auto entry = read_file(file_of(key), kLargestEntry);
  if (!entry) return std::nullopt;
  const auto parts = parts_of(*entry);
  if (!parts) return std::nullopt;
  const auto json = parse_json(parts->report);
  if (!json) return std::nullopt;
  auto report = analyzer::report_from_json(*json);
  if (!report || report->verdict != analyzer::Verdict::kOk) return std::nullopt;
  const std::size_t begin = entry->size() - parts->program.size();
  auto program =
      parts->form == Form::kImage ? image_in(std::move(*entry), begin) : written(parts->program);
  if (!program) return std::nullopt;
  std::error_code ignored;  // of the clock that says what was used last
  fs::last_write_time(file_of(key), fs::file_time_type::clock::now(), ignored);
  return SeenProgram{std::move(*report), std::move(*program)};
}

std::optional<Program> SeenPrograms::written(std::string_view bytes) const {
  auto folder = TemporaryFolder::create(temporary_, "mcpac-build-");
  if (!folder) return std::nullopt;
  const fs::path file = folder->path() / "agent";
  if (!write_scratch(file, bytes, 0755)) return std::nullopt;
  return Program{.folder = std::move(*folder), .file = file};
}

void SeenPrograms::keep(const std::string& key, const analyzer::Report& report,
                        const Program& program) const {
  if (folder_.empty() || report.verdict != analyzer::Verdict::kOk) return;
  const std::string text = to_text(to_json(report));
  std::string entry;
  if (program.image) {
    if (program.image->bytes().size() > kLargestEntry) return;
    entry = to_entry(text, Form::kImage, program.image->bytes());
  } else if (const auto bytes = read_file(program.file, kLargestEntry)) {
    entry = to_entry(text, Form::kStatic, *bytes);
  } else {
    return;
  }
  if (entry.size() > kLargestEntry || !write_file_atomic(file_of(key), entry, 0600)) return;
  drop_the_oldest();
}

// Two that do this at once find some files gone already, which is what both want.
void SeenPrograms::drop_the_oldest() const {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code error;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    const auto time = at->last_write_time(gone);
    if (!gone) files.emplace_back(time, at->path());
  }
  if (files.size() <= kMostPrograms) return;
  std::ranges::sort(files);
  files.resize(files.size() - kMostPrograms);
  for (const auto& [time, file] : files) fs::remove(file, error);
}

}  // namespace mcpac::toolchain
