#include "toolchain/object_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "analyzer/object_check.h"
#include "core/file.h"
#include "toolchain/library_symbols.h"

namespace mcpac::toolchain {
namespace {

namespace fs = std::filesystem;

// 200,000 names; a cache that holds more is not ours.
constexpr std::size_t kMaxSymbols = std::size_t{16} << 20U;

// The compiler wrote it under another id, in a folder that it could write: links are not followed.
Result<analyzer::ObjectFile> read(const fs::path& file, const std::string& name) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  if (!fd) return fail(ErrorId::kCompileFailed, "the compiler wrote no object file");
  return analyzer::read_object(elf::reader_of(fd.get()), name);
}

Result<void> add(std::vector<analyzer::Finding> found, analyzer::Report& report) {
  const auto worst =
      std::ranges::find(found, analyzer::Severity::kRefuses, &analyzer::Finding::severity);
  Result<void> answer;
  if (worst != found.end()) {
    report.verdict = analyzer::Verdict::kRefused;
    answer = fail(ErrorId::kFindingRefuses, fmt::format("{} is refused", report.file),
                  {.where = report.file, .why = worst->message, .fix = worst->fix});
  }
  std::ranges::move(found, std::back_inserter(report.findings));
  return answer;
}

}  // namespace

Result<std::vector<analyzer::ObjectFile>> read_object_files(const std::vector<fs::path>& objects,
                                                            const std::string& program) {
  std::vector<analyzer::ObjectFile> files;
  for (const auto& object : objects) {
    auto file = read(object, program);
    if (!file) return pass_on(file);
    files.push_back(std::move(*file));
  }
  return files;
}

Result<void> check_object_files(const std::vector<analyzer::ObjectFile>& objects,
                                const Prepared& prepared, analyzer::Report& report) {
  auto bytes = read_file(prepared.folder / "symbols", kMaxSymbols);
  if (!bytes) return pass_on(bytes);
  auto known = LibrarySymbols::from_bytes(*bytes);
  if (!known) return pass_on(known);
  return add(
      analyzer::check_objects(
          objects, [&known](std::string_view symbol) { return known->contains(symbol); }, report),
      report);
}

Result<void> check_linked(const DeclaredInNotes& declared, analyzer::Report& report) {
  return add(analyzer::check_note(declared, report), report);
}

}  // namespace mcpac::toolchain
