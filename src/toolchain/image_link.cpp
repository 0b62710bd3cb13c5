// SPDX-License-Identifier: Apache-2.0

#include "toolchain/image_link.h"

#include <elf.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace mcpac::toolchain {
namespace {

// Symbols that the linker defines in every program, and the image's own table.
bool is_given(std::string_view name) {
  return name == "_GLOBAL_OFFSET_TABLE_" || name == "__dso_handle";
}

bool is_thread_local(const analyzer::ObjectFile& object) {
  return std::ranges::any_of(
             object.sections,
             [](const analyzer::ObjectSection& s) { return (s.flags & SHF_TLS) != 0; }) ||
         std::ranges::any_of(object.symbols,
                             [](const analyzer::ObjectSymbol& s) { return s.type == STT_TLS; });
}

}  // namespace

std::optional<std::string> addresses_for(const std::vector<analyzer::ObjectFile>& objects,
                                         const RunnerSymbols& runner) {
  std::set<std::string_view> own;     // defined for good: a second definition would be an error
  std::set<std::string_view> merged;  // any of several definitions
  std::set<std::string_view> needed;
  for (const auto& object : objects) {
    if (is_thread_local(object)) return std::nullopt;
    for (const auto& symbol : object.symbols) {
      if (symbol.binding == STB_LOCAL || symbol.name.empty()) continue;
      const bool weak = symbol.binding == STB_WEAK;
      if (symbol.section == 0 && !weak) needed.insert(symbol.name);
      if (symbol.section == 0 && weak) merged.insert(symbol.name);  // null where it is undefined
      if (symbol.section != 0) (weak ? merged : own).insert(symbol.name);
    }
  }
  std::map<std::string_view, std::uint64_t> found;
  for (const auto& names : {needed, merged}) {
    for (const auto name : names) {
      const auto address = own.contains(name) ? std::nullopt : runner.find(name);
      if (address) found.emplace(name, *address);
    }
  }
  const bool complete = std::ranges::all_of(needed, [&](std::string_view name) {
    return found.contains(name) || own.contains(name) || merged.contains(name) || is_given(name);
  });
  if (!complete) return std::nullopt;
  return object_of_addresses({found.begin(), found.end()});
}

}  // namespace mcpac::toolchain
