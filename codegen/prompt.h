// SPDX-License-Identifier: Apache-2.0

// Prompt: instructions for a language model that writes an agent for these tools.
//
// The rules, the tools, two examples that compile; nothing else, because every token is paid for at
// every question. Deterministic, the unchanging part first, so that prompt caches hold. What
// servers say of their tools is untrusted: it is shortened, cleaned, kept on one line of a comment
// inside a fence that it cannot close, and called what it is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/select.h"

namespace mcpac::codegen {

enum class PromptFormat : std::uint8_t {
  kSignatures,  // one line of C++ a tool, with its first sentence
  kDigest,      // names with the first words of what they do
  kNames,       // names alone, one line a server
};

// Signatures for up to 50 tools, a digest for up to 400, else names.
[[nodiscard]] PromptFormat default_format(std::size_t tools);

// The tools as text, grouped by server; no rules, no fence.
[[nodiscard]] std::string tool_digest(const std::vector<ToolRef>& tools, PromptFormat format);

struct PromptOptions {
  PromptFormat format = PromptFormat::kSignatures;
  std::string granted{};  // the user's rules, one a line; "" says nothing of them
  std::string places{};   // files and network that the run is given, one a line; "" where none
};
[[nodiscard]] std::string prompt(const std::vector<ToolRef>& tools, const PromptOptions& options);

// The programs in the prompt, as they stand there; none where there is no tool.
[[nodiscard]] std::vector<std::string> example_programs(const std::vector<ToolRef>& tools);

}  // namespace mcpac::codegen
