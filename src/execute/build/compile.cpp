#include "execute/build/compile.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/file.h"
#include "execute/build/image_file.h"
#include "execute/build/image_link.h"
#include "execute/build/make_runner.h"
#include "execute/build/object_files.h"
#include "execute/build/program_file.h"
#include "execute/child/scratch_file.h"

namespace mcpac::execute {
namespace {

namespace fs = std::filesystem;
using sandbox::Mount;

// Diagnostics of a hostile source can be 12 MB long; a person reads the first screens.
constexpr std::size_t kMaxDiagnostics = 64U << 10U;
constexpr char kOutputFolder[] = "output";  // of a build, beside its "source"
constexpr char kProgramName[] = "agent";    // in it

std::string object_inside(std::size_t source) {
  return fmt::format("{}/agent{}.o", inside::kOutput, source);
}

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

Result<void> run(const BuildPlace& place, sandbox::Spec spec,
                 const std::vector<std::string>& command, ErrorId id) {
  spec.program = command.front();
  spec.arguments = command;
  spec.work_directory = inside::kOutput;
  auto output = run_tool(place.warden, std::move(spec), "", kMaxDiagnostics, place.stop);
  if (!output) return pass_on(output);
  if (output->succeeded()) return {};
  if (output->verdict.kind == sandbox::Verdict::Kind::kExited) {
    return fail(
        id,
        id == ErrorId::kLinkFailed ? "the program cannot be linked"
                                   : "the program does not compile",
        {.why = without_objects(place.snapshot.to_user(output->standard_error), place.snapshot)});
  }
  return fail(ErrorId::kCompileLimit, fmt::format("the compiler {}", describe(output->verdict)),
              {.why = "building a program is limited in time and memory",
               .fix = "make the program smaller or simpler"});
}

// The source as it is compiled: the snapshot's bytes with the entry text behind them. Nothing above
// the end of a file can depend on what follows it, so this is the program that was analysed.
Result<TemporaryFolder> with_entry(const Snapshot& snapshot, EntryPlace entry,
                                   const fs::path& temporary) {
  auto folder = TemporaryFolder::create(temporary, "mcpac-build-");
  if (!folder) return pass_on(folder);
  std::error_code error;
  fs::copy(snapshot.folder(), folder->path() / "source", fs::copy_options::recursive, error);
  const fs::path inside = snapshot.sources_inside()[entry.source];
  const std::string name = inside.lexically_relative(inside::kSource).string();
  const std::string text = snapshot.files().at(name) + entry_text(entry.form);
  fs::remove(folder->path() / "source" / name, error);
  auto written = write_scratch(folder->path() / "source" / name, text, 0444);
  if (!written) return pass_on(written);
  fs::create_directory(folder->path() / kOutputFolder, error);
  // As root the compiler runs under another id and writes here; the private parent keeps others
  // out.
  fs::permissions(folder->path() / kOutputFolder, fs::perms(0777), error);
  if (error) {
    return fail(ErrorId::kFileUnwritable,
                fmt::format("cannot prepare {}: {}", folder->path().string(), error.message()));
  }
  return folder;
}

const std::string kObject = fmt::format("{}/agent.o", inside::kOutput);

std::vector<std::string> compile_command(const Toolchain& toolchain, const std::string& source,
                                         const std::string& object) {
  auto command = toolchain.compile;
  for (std::string& word : command) {
    if (word == "{source}") word = source;
    if (word == kObject) word = object;
  }
  return command;
}

std::vector<std::string> link_command(const Toolchain& toolchain,
                                      const std::vector<std::string>& objects) {
  auto command = toolchain.link;
  const auto place = command.erase(std::ranges::find(command, kObject));
  command.insert(place, objects.begin(), objects.end());
  return command;
}

// The objects of all sources, in their order.
struct Objects {
  TemporaryFolder folder;
  std::vector<std::string> inside;  // as the linker's sandbox sees them
};

// The linker gets no source: what it needs is the objects alone.
sandbox::Spec linker_spec(const BuildPlace& place, const fs::path& output) {
  auto spec = tool_spec(place.folders, place.prepared.folder, place.lowest_tier);
  spec.mounts.push_back({output, inside::kOutput, Mount::Access::kReadWrite});
  return spec;
}

Result<void> link_static(const BuildPlace& place, const Objects& objects) {
  return run(place, linker_spec(place, objects.folder.path() / kOutputFolder),
             link_command(place.prepared.toolchain, objects.inside), ErrorId::kLinkFailed);
}

// Where the runner has all that the program needs, its addresses go to the linker in a folder that
// no tool can write. False: the program can be no image.
Result<bool> link_image(const BuildPlace& place, const Objects& objects,
                        const std::vector<analyzer::ObjectFile>& files) {
  auto bytes = read_file(place.prepared.folder / "runner.symbols");
  if (!bytes) return pass_on(bytes);
  auto runner = RunnerSymbols::from_bytes(std::move(*bytes));
  if (!runner) return pass_on(runner);
  const auto addresses = addresses_for(files, *runner);
  if (!addresses) return false;
  const fs::path folder = objects.folder.path() / "addresses";
  std::error_code error;  // the write says what is wrong
  fs::create_directory(folder, error);
  fs::permissions(folder, fs::perms(0755), error);
  if (auto done = write_scratch(folder / "addresses.o", *addresses, 0444); !done)
    return pass_on(done);
  auto spec = linker_spec(place, objects.folder.path() / kOutputFolder);
  spec.mounts.push_back({folder, inside::kAddresses, Mount::Access::kRead});
  auto done =
      run(place, std::move(spec), with_objects(place.prepared.toolchain.link_image, objects.inside),
          ErrorId::kLinkFailed);
  // What is wrong with the program itself is said of the static one, in words without addresses.
  if (!done && done.error().id != ErrorId::kLinkFailed) return pass_on(done);
  if (!done) return false;
  auto sealed = sealed_image(objects.folder.path() / kOutputFolder / kProgramName);
  // A machine that has no memory for the image is no reason to link another program.
  if (!sealed && sealed.error().id != ErrorId::kProgramUnusable) return pass_on(sealed);
  return sealed.has_value();
}

Result<Program::Form> link(const BuildPlace& place, const Objects& objects,
                           const std::vector<analyzer::ObjectFile>& files) {
  auto image = link_image(place, objects, files);
  if (!image) return pass_on(image);
  if (*image) return Program::Form::kImage;
  auto done = link_static(place, objects);
  return done ? Result<Program::Form>(Program::Form::kStatic) : pass_on(done);
}

Result<Objects> compile_objects(const BuildPlace& place, EntryPlace entry) {
  auto folder = with_entry(place.snapshot, entry, place.folders.temporary);
  if (!folder) return pass_on(folder);
  auto spec = tool_spec(place.folders, place.prepared.folder, place.lowest_tier);
  spec.mounts.push_back(
      {folder->path() / kOutputFolder, inside::kOutput, Mount::Access::kReadWrite});
  spec.mounts.push_back({folder->path() / "source", inside::kSource, Mount::Access::kRead});
  std::vector<std::string> objects;
  for (const std::string& source : place.snapshot.sources_inside()) {
    objects.push_back(object_inside(objects.size()));
    const auto command = compile_command(place.prepared.toolchain, source, objects.back());
    if (auto done = run(place, spec, command, ErrorId::kCompileFailed); !done) return pass_on(done);
  }
  return Objects{std::move(*folder), std::move(objects)};
}

std::vector<fs::path> on_host(const std::vector<std::string>& objects, const fs::path& output) {
  std::vector<fs::path> files;
  for (const fs::path object : objects) files.push_back(output / object.filename());
  return files;
}

}  // namespace

std::string entry_text(analyzer::Entry entry) {
  // A comment or a macro that the program left open makes this text an error, never a silent
  // change.
  // No macro of the program may turn the entry into another: its words are freed of them first.
  std::string head = "\n#line 1 \"mcpac entry\"\n";
  for (const char* word : {"int", "main", "return", "mcpac", "detail", "run_agent_main",
                           "agent_main", "decltype", "runtime", "runtime_object"}) {
    head += fmt::format("#undef {}\n", word);
  }
  switch (entry) {
    case analyzer::Entry::kAgentMain:
      return head + "int main() { return ::mcpac::detail::run_agent_main(&::agent_main); }\n";
    case analyzer::Entry::kRuntimeObject:
      return head +
             "decltype(::runtime) runtime = "
             "::mcpac::detail::runtime_object<decltype(::runtime)>();\n";
    case analyzer::Entry::kNone:
    case analyzer::Entry::kBinary: break;
  }
  return head;
}

EntryPlace entry_place(const Snapshot& snapshot, const analyzer::Report& report) {
  return {snapshot.source_shown_as(report.file), report.entry};
}

Result<Built> compile_and_link(const BuildPlace& place, EntryPlace entry) {
  auto objects = compile_objects(place, entry);
  if (!objects) return pass_on(objects);
  const std::string source = place.snapshot.sources_inside().at(entry.source);
  auto files = read_object_files(on_host(objects->inside, objects->folder.path() / kOutputFolder),
                                 place.snapshot.to_user(source));
  if (!files) return pass_on(files);
  auto form = link(place, *objects, *files);
  return Built{std::move(objects->folder), std::move(*files), std::move(form)};
}

Result<Program> checked(const BuildPlace& place, Built built, analyzer::Report& report) {
  // First: what is wrong with its objects says more than why they cannot be linked.
  if (auto done = check_object_files(built.objects, place.prepared, report); !done)
    return pass_on(done);
  if (!built.form) return pass_on(built.form);
  const fs::path file = built.folder.path() / kOutputFolder / kProgramName;
  Program program{std::move(built.folder), file, *built.form};
  auto kind = inspect_program(program.file);
  if (!kind) return pass_on(kind);
  if (!kind->interpreter.empty()) {
    return fail(ErrorId::kProgramUnusable, "the built program names an interpreter of its own",
                {.why = "agents are static programs"});
  }
  if (auto done = check_linked(*kind, report); !done) return pass_on(done);
  return program;
}

}  // namespace mcpac::execute
