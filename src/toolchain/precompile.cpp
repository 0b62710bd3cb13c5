// SPDX-License-Identifier: Apache-2.0

#include "toolchain/precompile.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <system_error>

#include "core/ascii.h"
#include "core/file.h"
#include "toolchain/library_symbols.h"
#include "toolchain/make_runner.h"
#include "toolchain/prepare.h"

namespace mcpac::toolchain {
namespace {

namespace fs = std::filesystem;

// The servers, and calls of their tools that clang makes the templates of.
constexpr char kAgentHeaderText[] =
    "#pragma once\n"
    "#include <mcpac.hpp>\n"
    "namespace mcpac::detail::warm {\n"
    "#include <mcpac/warm_tools.hpp>\n"
    "}\n";
constexpr char kWarmTools[] = "include/mcpac/warm_tools.hpp";
// With so many a program compiles in two thirds of the time, and the header takes 25 ms more a
// tool.
constexpr std::size_t kMostWarmed = 32;

// A folder in the making, beside the place where it will stand.
class Making {
 public:
  static Result<Making> create(const fs::path& target) {
    auto work = TemporaryFolder::create(target.parent_path(), "making-");
    if (!work) return pass_on(work);
    std::error_code error;
    fs::permissions(work->path(), fs::perms(0755), error);
    // As root the compiler runs under another id: it may write here, behind the private cache.
    const fs::path output = work->path() / "output";
    fs::create_directories(output, error);
    fs::permissions(output, fs::perms(0777), error);
    if (error) return unwritable(output, error);
    return Making(std::move(*work), target);
  }

  [[nodiscard]] const fs::path& path() const { return work_.path(); }

  Result<void> write(const Headers& headers) {
    for (const auto& [name, bytes] : headers) {
      const fs::path file = path() / "include" / name;
      std::error_code error;
      fs::create_directories(file.parent_path(), error);
      if (auto written = write_file_atomic(file, bytes, 0644); !written) return written;
    }
    return {};
  }

  Result<void> compile(const std::vector<std::string>& command, const CompilerPlace& place) {
    auto spec = tool_spec(place.folders, path(), place.lowest_tier);
    spec.program = command.front();
    spec.arguments = command;
    spec.mounts.push_back({path() / "output", inside::kOutput, sandbox::Mount::Access::kReadWrite});
    spec.work_directory = inside::kOutput;
    // Our own text, larger than any agent: it gets more time than one.
    spec.limits.wall = std::chrono::minutes(10);
    spec.limits.cpu = std::chrono::minutes(5);
    spec.limits.file_size = std::uint64_t{2} << 30U;
    auto result = run_tool(place.warden, std::move(spec), "", 64U << 10U, place.stop);
    if (!result) return pass_on(result);
    if (result->succeeded()) return {};
    return fail(ErrorId::kCompileFailed, "the generated headers could not be precompiled",
                {.why = fmt::format("{}\n{}", describe(result->verdict), result->standard_error),
                 .fix = "run `mcpac doctor`; if it finds nothing, this is a bug of mcpac"});
  }

  // What the compiler wrote becomes part of the folder.
  Result<void> keep(const char* name) {
    std::error_code error;
    fs::rename(path() / "output" / name, path() / name, error);
    if (error) return unwritable(path() / name, error);
    return {};
  }

  // The folder takes its place in one step.
  Result<void> finish() {
    std::error_code error;
    fs::remove_all(path() / "output", error);
    fs::remove_all(target_, error);
    fs::rename(path(), target_, error);
    if (error) return unwritable(target_, error);
    return {};
  }

 private:
  Making(TemporaryFolder work, fs::path target)
      : work_(std::move(work)), target_(std::move(target)) {}

  static std::unexpected<Error> unwritable(const fs::path& path, const std::error_code& error) {
    return fail(ErrorId::kFileUnwritable,
                fmt::format("cannot write {}: {}", path.string(), error.message()));
  }

  TemporaryFolder work_;
  fs::path target_;
};

constexpr const char* kCommands = "toolchain.json";

Result<void> has_all(const fs::path& folder, std::initializer_list<const char*> files) {
  for (const char* name : files) {
    std::error_code error;
    if (!fs::is_regular_file(folder / name, error))
      return fail(ErrorId::kFileUnreadable, fmt::format("{} is missing", name));
  }
  return {};
}

Result<Toolchain> load(const fs::path& folder) {
  const fs::path file = folder / kCommands;
  auto text = read_file(file, 1U << 20U);
  if (!text) return pass_on(text);
  auto json = parse_json(*text, file.string());
  if (!json) return pass_on(json);
  return toolchain_from_json(*json);
}

}  // namespace

Result<void> precompile_runtime(const Headers& runtime, const fs::path& target,
                                const CompilerPlace& place) {
  auto toolchain = ask_driver(place.folders.llvm);
  if (!toolchain) return pass_on(toolchain);
  auto folder = Making::create(target);
  if (!folder) return pass_on(folder);
  if (auto done = folder->write(runtime); !done) return done;
  for (const auto* command : {&toolchain->make_runtime, &toolchain->compile_runtime}) {
    if (auto done = folder->compile(*command, place); !done) return done;
  }
  auto symbols = LibrarySymbols::of_link(toolchain->link, folder->path() / "output" / "runtime.o");
  if (!symbols) return pass_on(symbols);
  const RunnerPlace for_runner{folder->path(), [&](const std::vector<std::string>& command) {
                                 return folder->compile(command, place);
                               }};
  if (auto done = make_runner(*toolchain, *symbols, for_runner); !done) return done;
  for (const char* name :
       {"runtime.pch", "runtime.o", "runner", "image_table.o", "random_device.o"}) {
    if (auto done = folder->keep(name); !done) return done;
  }
  if (auto done = write_file_atomic(folder->path() / "symbols", symbols->to_bytes()); !done)
    return done;
  const std::string commands = to_text(to_json(*toolchain));
  if (auto done = write_file_atomic(folder->path() / "toolchain.json", commands); !done)
    return done;
  return folder->finish();
}

namespace {

// A lock could come with a third-party project: a name is a name, or not written.
bool is_cpp_name(std::string_view name) {
  const auto is_part = [](char c) { return is_word(c) || c == ':'; };
  return !name.empty() && std::ranges::all_of(name, is_part);
}

}  // namespace

std::string warmed_tools(const std::vector<std::string>& tools) {
  if (tools.empty() || tools.size() > kMostWarmed) return {};
  // Never called, and never in a program's object: it is inline.
  std::string text;
  for (std::size_t i = 0; i < tools.size(); ++i) {
    if (!is_cpp_name(tools[i])) continue;
    text += fmt::format(
        "inline void call{0}(const ::mcpac::Method<::{1}>& tool, const ::{1}::Args& args) {{\n"
        "  static_cast<void>(tool(args));\n}}\n",
        i, tools[i]);
  }
  return text;
}

Result<void> precompile_servers(const Headers& servers, const std::string& warmed,
                                const fs::path& runtime, const fs::path& target,
                                const CompilerPlace& place) {
  auto toolchain = load_runtime(runtime);
  if (!toolchain) return pass_on(toolchain);
  auto folder = Making::create(target);
  if (!folder) return pass_on(folder);
  std::error_code error;
  fs::copy(runtime, folder->path(),
           fs::copy_options::recursive | fs::copy_options::create_hard_links, error);
  if (error) {
    return fail(ErrorId::kFileUnwritable, fmt::format("cannot link {} to {}: {}", runtime.string(),
                                                      folder->path().string(), error.message()));
  }
  if (auto done = folder->write(servers); !done) return done;
  const auto make_with = [&](const std::string& text) -> Result<void> {
    auto done = write_file_atomic(folder->path() / kWarmTools, text, 0644);
    return done ? folder->compile(toolchain->make_pch, place) : done;
  };
  if (auto done = write_file_atomic(folder->path() / "agent.hpp", kAgentHeaderText, 0644); !done)
    return done;
  auto made = make_with(warmed);
  // A tool that cannot be called is no matter of the programs that do not.
  if (!made && !warmed.empty() && made.error().id == ErrorId::kCompileFailed) made = make_with({});
  if (!made) return made;
  if (auto done = folder->keep("agent.pch"); !done) return done;
  return folder->finish();
}

Result<Toolchain> load_runtime(const fs::path& folder) {
  // Not held: it is only looked at by who may make and remove one.
  if (use_folder(folder) == nullptr)
    return fail(ErrorId::kFileUnreadable, fmt::format("{} is missing", folder.string()));
  auto whole = has_all(folder, {"runtime.pch", "runtime.o", "symbols", "runner", "runner.symbols",
                                "image_table.o", "random_device.o"});
  if (!whole) return pass_on(whole);
  return load(folder);
}

Result<Prepared> load_servers(const fs::path& folder, const Prepared* known) {
  auto use = use_folder(folder);  // before anything of it is looked at
  if (use == nullptr)
    return fail(ErrorId::kFileUnreadable, fmt::format("{} is missing", folder.string()));
  auto whole =
      has_all(folder, {"runtime.pch", "runtime.o", "symbols", "runner", "runner.symbols",
                       "image_table.o", "random_device.o", "agent.hpp", kWarmTools, "agent.pch"});
  if (!whole) return pass_on(whole);
  // Before it is read: what is written meanwhile has another one, if this one is settled.
  const auto stamp = stamp_of(folder / kCommands);
  if (!stamp) return fail(ErrorId::kFileUnreadable, fmt::format("{} is missing", kCommands));
  const bool is_known = known != nullptr && known->folder == folder && known->stamp == *stamp;
  if (is_known && is_settled(*stamp)) return *known;
  auto toolchain = load(folder);
  if (!toolchain) return pass_on(toolchain);
  return Prepared{folder, std::move(*toolchain), *stamp, std::move(use)};
}

}  // namespace mcpac::toolchain
