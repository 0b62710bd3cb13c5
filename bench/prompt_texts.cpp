// SPDX-License-Identifier: Apache-2.0

// prompt_texts: what `mcpac prompt` prints for recorded listings, as files for bench/tokens.mjs.
//
//   prompt_texts LISTINGS OUT    every LISTINGS/*.json but _*.json; OUT must exist
//
// Writes OUT/names.txt, digest.txt, signatures.txt (of all tools, without the rules), rules.txt,
// and tools.json: for each permission its line of signatures.txt.
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "bench/recorded_listings.h"
#include "codegen/generate.h"
#include "codegen/prompt.h"
#include "core/file.h"

namespace {

using namespace mcpac;
using namespace mcpac::codegen;
namespace fs = std::filesystem;

Result<void> write_texts(const fs::path& from, const fs::path& to) {
  auto listings = bench::recorded_listings(from);
  if (!listings) return pass_on(listings);
  auto output = generate(*listings);
  if (!output) return pass_on(output);
  const auto tools = all_tools(output->lock);
  const auto write = [&](const char* name, const std::string& text) {
    return write_file_atomic(to / name, text);
  };
  Json lines = Json::object();
  for (const ToolRef& ref : tools)
    lines[ref.permission()] = tool_digest({ref}, PromptFormat::kSignatures);
  for (const auto& [name, text] : std::vector<std::pair<const char*, std::string>>{
           {"names.txt", tool_digest(tools, PromptFormat::kNames)},
           {"digest.txt", tool_digest(tools, PromptFormat::kDigest)},
           {"signatures.txt", tool_digest(tools, PromptFormat::kSignatures)},
           {"rules.txt", prompt({}, {})},
           {"tools.json", to_text(lines)}}) {
    if (auto ok = write(name, text); !ok) return pass_on(ok);
  }
  return {};
}

}  // namespace

int main(int count, char** values) {
  if (count != 3) {
    fmt::print(stderr, "usage: prompt_texts LISTINGS OUT\n");
    return 64;
  }
  const auto done = write_texts(values[1], values[2]);
  if (!done) fmt::print(stderr, "{}\n", done.error().to_text());
  return done ? 0 : 1;
}
