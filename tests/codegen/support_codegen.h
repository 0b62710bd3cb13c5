// What the tests of codegen share: recorded listings of real servers, a folder with generated
// headers, and the compilers that must accept them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "codegen/generate.h"
#include "core/file.h"

namespace mcpac::codegen::testing {

// A recorded answer to tools/list ({"tools": […]}) as the listing of a server called like the file.
[[nodiscard]] ServerListing listing_of(const std::filesystem::path& file);
// All *.json of a folder, sorted by name.
[[nodiscard]] std::vector<ServerListing> listings_in(const std::filesystem::path& folder);

// tests/codegen/data: the copied subset, always there.
[[nodiscard]] std::filesystem::path data_folder();
// The whole corpus beside the source tree, or in MCPAC_CORPUS; may not exist.
[[nodiscard]] std::filesystem::path corpus_folder();

// One listing made from JSON text of tools: listing("s", R"([{"name": …}])").
[[nodiscard]] ServerListing listing(const std::string& server, const std::string& tools_json);
// The output for one tool with this input schema (JSON text), server "s", tool "t".
[[nodiscard]] Output generate_schema(const std::string& input_schema);

// Writes every file of the output below `folder`.
void write_headers(const Output& output, const std::filesystem::path& folder);

struct Compiler {
  std::string name;
  std::string command;  // with language options and warnings as errors
};
[[nodiscard]] std::vector<Compiler> compilers();
[[nodiscard]] Compiler clang19();
// Runs a command line; what it printed.
[[nodiscard]] std::string run(const std::string& command);
// Compiles without writing an object; the compiler's words, empty when it accepts. A sanitized
// build asks no compiler: there it is the generator that is under test, and the release build has
// asked.
[[nodiscard]] std::string check_syntax(const Compiler& compiler,
                                       const std::filesystem::path& source,
                                       const std::filesystem::path& include_folder);
// The runtime that every generated header includes first, compiled once for all that are compiled
// below `include_folder`: the compiler with it, which then parses no more than what follows. Other
// compilers than clang, and those of a sanitized build, do without.
[[nodiscard]] Compiler with_runtime(const Compiler& compiler,
                                    const std::filesystem::path& include_folder);

[[nodiscard]] TemporaryFolder temporary_folder();

}  // namespace mcpac::codegen::testing
