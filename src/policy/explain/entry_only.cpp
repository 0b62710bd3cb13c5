// SPDX-License-Identifier: Apache-2.0

#include "policy/explain/entry_only.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "core/ascii.h"
#include "core/printable.h"
#include "policy/match/parameter_names.h"
#include "policy/rules/schema_view.h"

namespace mcpac::policy {
namespace {

using Words = std::vector<std::string>;

template <std::size_t N>
std::string first_of(const Words& words, const std::array<std::string_view, N>& wanted) {
  const auto found = std::ranges::find_if(
      words, [&](const auto& word) { return std::ranges::find(wanted, word) != wanted.end(); });
  return found == words.end() ? std::string() : *found;
}

// What goes on below an entry, or takes it with all that is in it.
constexpr std::array<std::string_view, 34> kReaching = {
    "move",  "mv",       "rename",  "copy",      "cp",          "delete",  "remove",
    "rm",    "rmdir",    "trash",   "tree",      "search",      "find",    "grep",
    "glob",  "walk",     "recurse", "recursive", "recursively", "archive", "zip",
    "tar",   "compress", "sync",    "upload",    "index",       "watch",   "du",
    "chmod", "chown",    "exec",    "run",       "command",     "shell"};
// What makes a tool look at one entry.
constexpr std::array<std::string_view, 14> kLooking = {"list", "ls",   "dir",    "stat",  "info",
                                                       "read", "get",  "exists", "mkdir", "create",
                                                       "cat",  "open", "view",   "head"};
// Members by which a tool is told to go on below.
constexpr std::array<std::string_view, 9> kGoingOn = {
    "recursive", "recurse", "depth", "pattern", "patterns", "glob", "exclude", "include", "query"};

std::string going_on(const Json* schema) {
  const Json* properties = schema == nullptr ? nullptr : find_member(*schema, "properties");
  if (properties == nullptr || !properties->is_object()) return {};
  for (const auto& [name, unused] : properties->items()) {
    if (!first_of(words_of(name), kGoingOn).empty()) return name;
  }
  return {};
}

}  // namespace

bool seems_entry_only(std::string_view tool, const Json* schema) {
  const Words words = words_of(tool);
  // What takes nothing is about no entry.
  const Json* taken = schema == nullptr ? nullptr : find_member(*schema, "properties");
  if (taken != nullptr && taken->empty()) return false;
  return first_of(words, kReaching).empty() && !first_of(words, kLooking).empty() &&
         going_on(schema).empty();
}

std::string speaks_against_entry_only(const Json& definition) {
  const Json* hints = find_member(definition, "annotations");
  const Json* destroys = hints == nullptr ? nullptr : find_member(*hints, "destructiveHint");
  const Json* reads = hints == nullptr ? nullptr : find_member(*hints, "readOnlyHint");
  const bool only_reads = reads != nullptr && *reads == true;
  if (!only_reads && destroys != nullptr && *destroys == true)
    return "it says of itself that it destroys (destructiveHint)";
  return {};
}

std::string suggests_more_than_entry(const Json& definition) {
  const std::string name = string_member(definition, "name");
  if (const auto word = first_of(words_of(name), kReaching); !word.empty())
    return fmt::format("it is called {}", printable(name, 100));
  if (const auto member = going_on(find_member(definition, "inputSchema")); !member.empty())
    return fmt::format("it takes \"{}\"", printable(member, 100));
  const auto described = words_of(string_member(definition, "description").substr(0, 4096));
  constexpr std::array<std::string_view, 4> kWords = {"recursive", "recursively", "subdirectories",
                                                      "subfolders"};
  if (const auto word = first_of(described, kWords); !word.empty())
    return fmt::format("its description says \"{}\"", word);
  return {};
}

std::string what_to_do_above(const Permission& tool, const Json* schema) {
  if (!seems_entry_only(tool.tool(), schema))
    return fmt::format(
        ", and {} may reach all that is in it; name what is meant in it, or a folder "
        "beside it",
        printable(tool.text()));
  return fmt::format(
      ", and a tool may reach all that is in a folder; if {} acts on the folder's own entry alone: "
      "mcpac server set {} --entry-only {}",
      printable(tool.text()), printable(tool.server()), printable(tool.tool()));
}

}  // namespace mcpac::policy
