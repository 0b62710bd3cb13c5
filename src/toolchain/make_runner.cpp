// SPDX-License-Identifier: Apache-2.0

#include "toolchain/make_runner.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/embedded.h"
#include "core/file.h"
#include "core/hash.h"
#include "toolchain/runner_symbols.h"

namespace mcpac::toolchain {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestRunner = std::size_t{128} << 20U;
constexpr char kSources[] = "sources";  // beside the runner, which takes its plain name
constexpr char kChosen[] = "sources/runner/chosen.cpp";

std::string object(std::string_view name) {
  return fmt::format("{}/{}.o", inside::kOutput, name);
}

Result<void> write_source(const RunnerPlace& place, const fs::path& name, std::string_view text) {
  std::error_code error;  // the write says what is wrong
  fs::create_directories((place.folder / name).parent_path(), error);
  return write_file_atomic(place.folder / name, text, 0644);
}

Result<void> compile(const Toolchain& toolchain, const RunnerPlace& place, const fs::path& name) {
  auto command = toolchain.compile_runner;
  for (std::string& word : command) {
    if (word == "{source}") word = fmt::format("{}/{}", inside::kPrepared, name.string());
    if (word == "{object}") word = object(name.stem().string());
  }
  return place.run(command);
}

Result<std::string> link(const Toolchain& toolchain, const RunnerPlace& place,
                         const std::vector<std::string>& objects) {
  auto linked = place.run(with_objects(toolchain.link_runner, objects));
  if (!linked) return pass_on(linked);
  return read_file(place.folder / "output" / "runner", kLargestRunner);
}

}  // namespace

std::vector<std::string> with_objects(std::vector<std::string> command,
                                      const std::vector<std::string>& objects) {
  const auto found = std::ranges::find(command, "{objects}");
  if (found == command.end()) return command;
  command.insert(command.erase(found), objects.begin(), objects.end());
  return command;
}

Result<void> make_runner(Toolchain& toolchain, const LibrarySymbols& known,
                         const RunnerPlace& place) {
  for (const auto& source : codegen::embedded_runner()) {
    const fs::path name = fs::path(kSources) / source.path;
    if (auto done = write_source(place, name, source.text); !done) return done;
    if (auto done = compile(toolchain, place, name); !done) return done;
  }
  const std::vector<std::string> own = {object("runner"), object("runtime"),
                                        object("random_device")};
  // Twice: the first shows which functions are chosen at the start, the second gives them
  // addresses.
  auto bytes = link(toolchain, place, own);
  if (!bytes) return pass_on(bytes);
  auto symbols = symbols_of_program(*bytes, "the runner");
  if (!symbols) return pass_on(symbols);
  const std::string chosen = source_of_chosen(*symbols);
  if (auto done = write_source(place, kChosen, chosen); !done) return done;
  if (auto done = compile(toolchain, place, kChosen); !done) return done;
  auto all = own;
  all.push_back(object("chosen"));
  bytes = link(toolchain, place, all);
  if (!bytes) return pass_on(bytes);
  symbols = symbols_of_program(*bytes, "the runner");
  if (!symbols) return pass_on(symbols);
  const auto list =
      RunnerSymbols::of(*symbols, [&known](std::string_view name) { return known.contains(name); });
  toolchain.runner_digest = sha256_hex(*bytes);
  return write_file_atomic(place.folder / "runner.symbols", list.to_bytes());
}

const std::string& runner_identity() {
  static const std::string identity = [] {
    std::string text;
    for (const auto& source : codegen::embedded_runner())
      text += fmt::format("{} {}\n", sha256_hex(source.text), source.path);
    return text;
  }();
  return identity;
}

}  // namespace mcpac::toolchain
