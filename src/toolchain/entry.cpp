// SPDX-License-Identifier: Apache-2.0

#include "toolchain/entry.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "core/ascii.h"
#include "toolchain/toolchain.h"

namespace mcpac::toolchain {
namespace {

bool has_word(std::string_view text, std::string_view word) {
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end])))
      return true;
  }
  return false;
}

}  // namespace

EntryPlace entry_place(const Snapshot& snapshot, const analyzer::Report& report) {
  return {snapshot.source_shown_as(report.file), report.entry};
}

std::optional<EntryPlace> likely_entry(const Snapshot& snapshot) {
  using analyzer::Entry;
  const auto sources = snapshot.sources_inside();
  for (const auto& [word, form] :
       {std::pair("agent_main", Entry::kAgentMain), std::pair("runtime", Entry::kRuntimeObject)}) {
    std::vector<std::size_t> with;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const auto name =
          std::string_view(sources[i]).substr(std::string_view(inside::kSource).size() + 1);
      if (has_word(snapshot.files().at(std::string(name)), word)) with.push_back(i);
    }
    if (with.size() == 1) return EntryPlace{with.front(), form};
    if (with.size() > 1) return std::nullopt;
  }
  return std::nullopt;
}

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

}  // namespace mcpac::toolchain
