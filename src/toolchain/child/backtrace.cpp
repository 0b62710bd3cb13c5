// SPDX-License-Identifier: Apache-2.0

#include "toolchain/child/backtrace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "analyzer/object_symbols.h"
#include "core/printable.h"

namespace mcpac::toolchain {
namespace {

constexpr std::size_t kMostCallers = 12;
constexpr std::size_t kMostSteps = 64;
constexpr std::size_t kLongestName = 120;

class Codes {
 public:
  explicit Codes(std::span<const ElfCode> codes) : codes_(codes) {}
  [[nodiscard]] const CodeFunction* function_at(std::uint64_t address) const {
    for (const ElfCode& code : codes_) {
      if (const CodeFunction* function = code.function_at(address)) return function;
    }
    return nullptr;
  }
  [[nodiscard]] std::optional<CallInstruction> call_before(std::uint64_t address) const {
    for (const ElfCode& code : codes_) {
      if (const auto call = code.call_before(address)) return call;
    }
    return std::nullopt;
  }

 private:
  std::span<const ElfCode> codes_;
};

// The nearest word whose call leads to `callee`; else, as a call through a pointer says nothing and
// an optimised call is a jump, the nearest word that follows any call.
std::optional<std::size_t> caller_in(const Codes& codes, std::span<const std::uint64_t> words,
                                     const CodeFunction* callee) {
  std::optional<std::size_t> any;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto call = codes.call_before(words[i]);
    if (!call || codes.function_at(words[i]) == nullptr) continue;
    if (callee != nullptr && call->target && codes.function_at(*call->target) == callee) return i;
    // What the function itself called elsewhere is what an earlier call left in its frame.
    const bool own_call = call->target && codes.function_at(words[i]) == callee;
    if (!any && !own_call) any = i;
  }
  return any;
}

bool is_of_a_library(std::string_view mangled, std::string_view name) {
  constexpr std::array<std::string_view, 5> kSpaces{
      "std::", "__cxxabiv1::", "mcpac::", "nlohmann::", "__gnu_cxx::"};
  constexpr std::array<std::string_view, 5> kOfC{"syscall", "start_thread", "clone", "clone3",
                                                 "thread_start"};
  if (analyzer::is_mangled(mangled))
    return std::ranges::any_of(kSpaces, [&](auto space) { return name.starts_with(space); });
  return name.empty() || name.starts_with('_') || std::ranges::find(kOfC, name) != kOfC.end();
}

}  // namespace

std::vector<std::string> callers_of(const sandbox::Verdict& verdict,
                                    std::span<const ElfCode> files) {
  std::vector<std::string> callers;
  if (verdict.frames.empty()) return callers;
  const Codes codes(files);
  std::span<const std::uint64_t> words(verdict.frames);
  const CodeFunction* function = codes.function_at(words.front());
  words = words.subspan(1);
  for (std::size_t step = 0; step < kMostSteps && callers.size() < kMostCallers; ++step) {
    if (function != nullptr) {
      const std::string name = analyzer::readable_symbol(function->name);
      // The function that makes the call bears its name in libc.
      if (name != verdict.call && !is_of_a_library(function->name, name))
        callers.push_back(printable(name, kLongestName));
    }
    const auto next = caller_in(codes, words, function);
    if (!next) break;
    function = codes.function_at(words[*next]);
    words = words.subspan(*next + 1);
  }
  return callers;
}

std::string describe_place(std::span<const std::string> callers) {
  std::vector<std::string> names;
  std::ranges::unique_copy(callers, std::back_inserter(names));
  return names.empty() ? "" : fmt::format("; in {}", fmt::join(names, " <- "));
}

std::string describe_violation(const sandbox::Verdict& verdict,
                               std::span<const std::string> callers) {
  if (verdict.call_number < 0) return "made a system call that the sandbox does not admit";
  std::string text = verdict.call.empty() ? fmt::format("made system call {}", verdict.call_number)
                                          : fmt::format("called {} (system call {})", verdict.call,
                                                        verdict.call_number);
  constexpr std::size_t kLongestPath = 255;
  if (!verdict.path.empty())
    text += fmt::format(" on \"{}\"", printable(verdict.path, kLongestPath));
  text += ", which the sandbox does not admit";
  if (!callers.empty()) text += fmt::format("; from {}", fmt::join(callers, " <- "));
  return text;
}

}  // namespace mcpac::toolchain
