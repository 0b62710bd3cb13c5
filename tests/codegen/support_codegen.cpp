#include "support_codegen.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "places.h"

namespace mcpac::codegen::testing {
namespace {

#ifdef MCPAC_SANITIZED
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

ServerListing from_json(std::string server, const OrderedJson& tools) {
  ServerListing listing{.server = std::move(server),
                        .identity = "recorded",
                        .implementation = "recorded 1",
                        .protocol_version = "2025-06-18",
                        .tools = {}};
  for (const auto& tool : tools) {
    listing.tools.push_back({.name = tool.at("name").get<std::string>(), .definition = tool});
  }
  return listing;
}

}  // namespace

ServerListing listing_of(const std::filesystem::path& file) {
  const auto text = read_file(file);
  REQUIRE(text);
  const auto json = parse_ordered_json(*text, file.string());
  REQUIRE(json);
  return from_json(file.stem().string(), json->at("tools"));
}

std::vector<ServerListing> listings_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<ServerListing> listings;
  for (const auto& file : files) listings.push_back(listing_of(file));
  return listings;
}

std::filesystem::path data_folder() {
  return mcpac::testing::in_source("tests/codegen/data");
}

std::filesystem::path corpus_folder() {
  const char* named = std::getenv("MCPAC_CORPUS");
  return named != nullptr ? named : mcpac::testing::in_source("../shared/corpus/tools");
}

ServerListing listing(const std::string& server, const std::string& tools_json) {
  return from_json(server, OrderedJson::parse(tools_json));
}

Output generate_schema(const std::string& input_schema) {
  auto output = generate({listing("s", R"([{"name": "t", "inputSchema": )" + input_schema + "}]")});
  REQUIRE(output);
  return std::move(*output);
}

void write_headers(const Output& output, const std::filesystem::path& folder) {
  for (const auto& [path, text] : output.files) {
    const auto target = folder / path;
    std::filesystem::create_directories(target.parent_path());
    REQUIRE(write_file_atomic(target, text));
  }
}

Compiler clang19() {
  return {"clang 19, libc++, C++23",
          "clang++-19 -std=c++23 -stdlib=libc++ -Wall -Wextra -Wpedantic -Wshadow -Wconversion "
          "-Werror"};
}

std::vector<Compiler> compilers() {
  const std::string warnings = " -std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror";
  return {
      clang19(), {"g++ 12, C++20", "g++" + warnings}, {"clang 14, C++20", "clang++-14" + warnings}};
}

std::string run(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string words;
  std::array<char, 4096> buffer{};
  while (const auto size = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    words.append(buffer.data(), size);
  }
  pclose(pipe);
  return words;
}

std::string check_syntax(const Compiler& compiler, const std::filesystem::path& source,
                         const std::filesystem::path& include_folder) {
  // What a compiler says of a generated header does not depend on how the generator was built.
  if (kSanitized) return "";
  const std::string words =
      run(fmt::format("{} -fsyntax-only -I'{}' '{}' 2>&1 && echo accepted", compiler.command,
                      include_folder.string(), source.string()));
  return words == "accepted\n" ? "" : "refused: " + words.substr(0, 1500);
}

Compiler with_runtime(const Compiler& compiler, const std::filesystem::path& include_folder) {
  if (kSanitized || !compiler.command.starts_with("clang")) return compiler;
  const auto first = (include_folder / "first.hpp").string();
  REQUIRE(write_file_atomic(first, "#include \"mcpac/runtime.hpp\"\n"));
  const std::string words = run(
      fmt::format("{0} -fpch-instantiate-templates -I'{1}' -x c++-header '{2}' -o '{2}.pch' 2>&1",
                  compiler.command, include_folder.string(), first));
  REQUIRE_MESSAGE(words.empty(), words);
  return {compiler.name, fmt::format("{} -include-pch '{}.pch'", compiler.command, first)};
}

TemporaryFolder temporary_folder() {
  auto folder = TemporaryFolder::create(std::filesystem::temp_directory_path(), "mcpac-codegen");
  REQUIRE(folder);
  return std::move(*folder);
}

}  // namespace mcpac::codegen::testing
