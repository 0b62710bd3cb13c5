// SPDX-License-Identifier: Apache-2.0

#include "toolchain/compile.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "analyzer/lead.h"
#include "analyzer/object_check.h"
#include "analyzer/object_file.h"
#include "analyzer/report.h"
#include "core/error.h"
#include "core/file.h"
#include "toolchain/child/scratch_file.h"
#include "toolchain/image_file.h"
#include "toolchain/image_link.h"
#include "toolchain/lead.h"
#include "toolchain/library_symbols.h"
#include "toolchain/prepare.h"
#include "toolchain/program_file.h"
#include "toolchain/runner_symbols.h"

namespace mcpac::toolchain {
namespace {

// ObjectFiles: the objects of one program and the program linked from them, held against what the
// analysis of their source saw (analyzer/object_check.h).

// The objects as the compiler wrote them; `program` stands in errors.
[[nodiscard]] Result<std::vector<analyzer::ObjectFile>> read_object_files(
    const std::vector<std::filesystem::path>& objects, const std::string& program);
// Adds what it finds to the findings of `report`; kFindingRefuses where one of them refuses.
[[nodiscard]] Result<void> check_object_files(const std::vector<analyzer::ObjectFile>& objects,
                                              const Prepared& prepared, analyzer::Report& report);
// What the linked program says that it declares; nothing: it says nothing.
[[nodiscard]] Result<void> check_linked(const DeclaredInNotes& declared, analyzer::Report& report);

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

}  // namespace

namespace {

namespace fs = std::filesystem;

// Diagnostics of a hostile source can be 12 MB long; a person reads the first screens.
constexpr std::size_t kMaxDiagnostics = 64U << 10U;

// The linker speaks of objects; their sources are what the user knows.
std::string without_objects(std::string text, const Snapshot& snapshot) {
  const auto sources = snapshot.sources_inside();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::string object = object_inside(i);
    const std::string shown = snapshot.to_user(sources[i]);
    for (auto at = text.find(object); at != std::string::npos;
         at = text.find(object, at + shown.size()))
      text.replace(at, object.size(), shown);
  }
  return text;
}

// A tool that ran into a limit of its files or its memory, or broke, says a trace of its own calls.
std::optional<Error> broken_tool(std::string_view said) {
  constexpr std::string_view kBackend = "error in backend: ";
  const bool broke = said.contains("PLEASE submit a bug report") ||
                     said.contains("fatal error: error in backend") ||
                     said.contains("LLVM ERROR: ") || said.contains("ld.lld: error: failed to ");
  if (!broke) return std::nullopt;
  if (said.contains("File too large") || said.contains("No space left on device")) {
    return fail(ErrorId::kCompileLimit, "the program is too large for the compiler",
                {.why =
                     "an object file may have 256 MiB, and what a global or static variable begins "
                     "with stands in it (char table[1 << 29] = {1};)",
                 .fix =
                     "fill a large object in the run (a std::vector), or let it begin with zeros"})
        .error();
  }
  if (said.contains("out of memory") || said.contains("bad_alloc")) {
    return fail(ErrorId::kCompileLimit, "the compiler needs more memory than it may have",
                {.why = "building a program is limited in time and memory",
                 .fix = "make the program smaller or simpler"})
        .error();
  }
  const auto begin = said.find(kBackend);
  const auto reason = begin == said.npos ? "" : said.substr(begin + kBackend.size());
  return fail(ErrorId::kCompileLimit, "the compiler broke off",
              {.why = std::string(reason.substr(0, reason.find('\n'))),
               .fix = "write what is unusual in the program in another, simpler way"})
      .error();
}

Result<void> judge(const BuildPlace& place, Result<ToolOutput>& output, ErrorId id) {
  if (!output) return pass_on(output);
  if (output->succeeded()) return {};
  if (auto broken = broken_tool(output->standard_error)) return std::unexpected(std::move(*broken));
  if (output->verdict.kind == sandbox::Verdict::Kind::kExited) {
    const std::string said = place.snapshot.to_user(without_lead(output->standard_error));
    return fail(id,
                id == ErrorId::kLinkFailed ? "the program cannot be linked"
                                           : "the program does not compile",
                {.why = without_objects(said, place.snapshot)});
  }
  return fail(ErrorId::kCompileLimit, fmt::format("the compiler {}", describe(output->verdict)),
              {.why = "building a program is limited in time and memory",
               .fix = "make the program smaller or simpler"});
}

// A tool that waited, with its work; nothing where it did not stand there (any more, or yet), or
// did not do it: what it had read before is nothing that a program is refused for.
std::optional<Result<ToolOutput>> tell(const BuildPlace& place, std::optional<WaitingTool> waiting,
                                       std::string_view text) {
  auto child = waiting ? std::move(*waiting).tell(text) : std::nullopt;
  if (!child) return std::nullopt;
  auto output = run_tool(std::move(*child), "", kMaxDiagnostics, place.stop);
  if (output && !output->succeeded()) return std::nullopt;
  return output;
}

Result<ToolOutput> start(const BuildPlace& place, const sandbox::Spec& spec) {
  return run_tool(place.warden, spec, "", kMaxDiagnostics, place.stop);
}

// One object a source. `compiler`: one that waits for the only source. True: it was of use.
Result<bool> compile(const BuildPlace& place, const BuildFolder& folder,
                     std::optional<WaitingTool> compiler) {
  const auto sources = place.snapshot.sources_inside();
  bool waited = false;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    auto naming = analyzer::lead::naming(sources[i]);
    if (!naming) return pass_on(naming);
    auto output = tell(place, std::exchange(compiler, std::nullopt), *naming);
    if (!output) {
      auto lead = folder.new_lead(fmt::format("lead{}", i));
      if (!lead) return pass_on(lead);
      if (auto written = write_lead(*lead, sources[i]); !written) return pass_on(written);
      output = start(place, place.tools().compiler(folder, *lead, i));
    } else {
      waited = true;
    }
    if (auto done = judge(place, *output, ErrorId::kCompileFailed); !done) return pass_on(done);
  }
  return waited;
}

Result<std::vector<analyzer::ObjectFile>> read_objects(const BuildPlace& place,
                                                       const BuildFolder& folder,
                                                       EntryPlace entry) {
  const auto sources = place.snapshot.sources_inside();
  std::vector<fs::path> files;
  for (std::size_t i = 0; i < sources.size(); ++i) files.push_back(folder.object(i));
  return read_object_files(files, place.snapshot.to_user(sources.at(entry.source)));
}

// The addresses of what the objects need of the runner; nothing where it does not have all.
Result<std::optional<std::string>> runner_addresses(
    const BuildPlace& place, const std::vector<analyzer::ObjectFile>& objects) {
  auto bytes = read_file(place.prepared.folder / "runner.symbols");
  if (!bytes) return pass_on(bytes);
  auto runner = RunnerSymbols::from_bytes(std::move(*bytes));
  if (!runner) return pass_on(runner);
  return addresses_for(objects, *runner);
}

// Where the runner has all that the program needs, its addresses go to the linker in a folder that
// no tool can write. Nothing: the program can be no image.
Result<std::optional<Image>> link_image(const BuildPlace& place, const BuildFolder& folder,
                                        const std::vector<analyzer::ObjectFile>& objects,
                                        std::optional<WaitingTool> linker) {
  auto addresses = runner_addresses(place, objects);
  if (!addresses) return pass_on(addresses);
  if (!*addresses) return std::nullopt;
  if (auto written = write_scratch(folder.addresses() / "addresses.o", **addresses, 0444); !written)
    return pass_on(written);
  auto output = tell(place, std::move(linker), kFirstInput);
  if (!output) {
    if (auto written = write_first_input(folder); !written) return pass_on(written);
    output = start(place, place.tools().image_linker(folder, objects.size()));
  }
  auto done = judge(place, *output, ErrorId::kLinkFailed);
  // What is wrong with the program itself is said of the static one, in words without addresses.
  if (!done && done.error().id != ErrorId::kLinkFailed) return pass_on(done);
  if (!done) return std::nullopt;
  auto image = Image::read(folder.program());
  // A machine that cannot read the image is no reason to link another program.
  if (!image && image.error().id != ErrorId::kProgramUnusable) return pass_on(image);
  return image ? std::optional(std::move(*image)) : std::nullopt;
}

Result<std::optional<Image>> link(const BuildPlace& place, const BuildFolder& folder,
                                  const std::vector<analyzer::ObjectFile>& objects,
                                  std::optional<WaitingTool> linker) {
  auto image = link_image(place, folder, objects, std::move(linker));
  if (!image) return pass_on(image);
  if (*image) return image;
  auto output = start(place, place.tools().static_linker(folder, objects.size()));
  auto done = judge(place, output, ErrorId::kLinkFailed);
  if (!done) return pass_on(done);
  return std::nullopt;
}

Result<DeclaredInNotes> declared_in_static(const fs::path& file) {
  auto kind = inspect_program(file);
  if (!kind) return pass_on(kind);
  if (!kind->interpreter.empty()) {
    return fail(ErrorId::kProgramUnusable, "the built program names an interpreter of its own",
                {.why = "agents are static programs"});
  }
  return std::move(kind->declared);
}

}  // namespace

Result<Built> compile_and_link(const BuildPlace& place, EntryPlace entry,
                               std::optional<WaitingBuild> waiting) {
  if (waiting && !waiting->fits(place.tools(), place.snapshot)) waiting.reset();
  auto folder = waiting ? Result<BuildFolder>(std::move(waiting->folder))
                        : BuildFolder::make(place.folders.temporary);
  if (!folder) return pass_on(folder);
  std::optional<WaitingTool> compiler;
  std::optional<WaitingTool> linker;
  if (waiting) {
    compiler.emplace(std::move(waiting->compiler));
    linker.emplace(std::move(waiting->linker));
  }
  if (auto filled = folder->fill(place.snapshot, entry); !filled) return pass_on(filled);
  auto waited = compile(place, *folder, std::move(compiler));
  if (!waited) return pass_on(waited);
  auto objects = read_objects(place, *folder, entry);
  if (!objects) return pass_on(objects);
  auto image = link(place, *folder, *objects, std::move(linker));
  return Built{std::move(*folder), std::move(*objects), std::move(image), *waited};
}

Result<Program> checked(const BuildPlace& place, Built built, analyzer::Report& report) {
  // First: what is wrong with its objects says more than why they cannot be linked.
  if (auto done = check_object_files(built.objects, place.prepared, report); !done)
    return pass_on(done);
  if (!built.image) return pass_on(built.image);
  const std::optional<Image>& image = *built.image;
  const fs::path file = built.folder.program();
  auto declared = image ? declared_in(image->bytes(), file) : declared_in_static(file);
  if (!declared) return pass_on(declared);
  if (auto done = check_linked(*declared, report); !done) return pass_on(done);
  if (image) return Program{.image = std::move(*built.image)};
  return Program{.folder = std::move(built.folder).take(), .file = file};
}

}  // namespace mcpac::toolchain
