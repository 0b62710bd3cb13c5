// SPDX-License-Identifier: Apache-2.0

// Replaces a word in all Markdown files, first as a dry run, and shows what would change.
#include <print>

#include <mcpac.hpp>

using namespace mcp;

constexpr const char* kOld = "colour";
constexpr const char* kNew = "color";

int agent_main(
    mcpac::Requires<filesystem::search_files, filesystem::read_text_file, filesystem::edit_file>
        rt) {
  int changed = 0;
  for (const auto& file :
       rt.filesystem
           .search_files({.path = "docs", .pattern = "**/*.md", .excludePatterns = {"old"}})
           .lines()) {
    const std::string text = rt.filesystem.read_text_file({.path = file}).text();
    if (!text.contains(kOld)) continue;
    try {
      const auto diff = rt.filesystem.edit_file(
          {.path = file, .edits = {{.oldText = kOld, .newText = kNew}}, .dryRun = true});
      std::println("{}", diff.text());
      ++changed;
    } catch (const mcpac::Denied& denied) {
      std::println(stderr, "{}: {}", file, denied.reason());
    } catch (const mcpac::ToolError& error) {
      std::println(stderr, "{}: {}", file, error.what());
    }
  }
  return changed > 0 ? 0 : 1;
}
