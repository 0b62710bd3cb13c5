// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/result_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "analyzer/clang/quoted.h"

namespace mcpac::analyzer {
namespace {

constexpr std::string_view kAsText =
    ".text() is its text, .json() the same read as JSON: print(\"{}\", result.text()), or "
    "result.json().dump(2)";

constexpr std::string_view kAsList =
    ".lines() are its lines, .content() its blocks, .as<std::vector<std::string>>() a list that it "
    "has as JSON";

const std::vector<std::string> kOfFuture{"get", "wait", "ready", "valid", "wait_for", "wait_until"};
const std::vector<std::string> kOfExpected{"has_value", "value",    "error",   "value_or",
                                           "transform", "and_then", "or_else", "transform_error"};

std::string meant_in(std::string_view name, const std::vector<std::string>& names) {
  const std::string near = meant_of(std::string(name), names);
  return near.empty() ? "" : fmt::format("; did you mean `{}`?", near);
}

// `owner` is a result's type, or a future or Expected of one.
std::vector<std::string> names_of_result(std::string_view owner, const Known& known) {
  std::vector<std::string> names{"text", "lines", "json", "as", "content", "structured"};
  const auto begin = owner.find("mcp::");
  if (begin == std::string_view::npos || !known.names_in) return names;
  owner.remove_prefix(begin);
  if (owner.ends_with('>')) owner.remove_suffix(1);
  for (std::string& field : known.names_in(owner)) names.push_back(std::move(field));
  return names;
}

// "no member named 'output' in 'mcp::filesystem::read_text_file::Result'", or in what a call that
// does not wait returns.
std::optional<Translation> unknown_member(std::string_view message, const std::string& tool,
                                          const Known& known) {
  const std::string_view name = quoted_after(message, "no member named '");
  const std::string_view owner = quoted_after(message, "' in '");
  if (name.empty()) return std::nullopt;
  const auto names = names_of_result(owner, known);
  const bool is_of_result = std::ranges::find(names, name) != names.end();
  if (owner.starts_with("mcpac::Future<"))
    return Translation{
        fmt::format("a call of .async() returns a future, which has no `{}`{}", name,
                    is_of_result ? "" : meant_in(name, kOfFuture)),
        is_of_result ? fmt::format(".get().{}: get() waits for the result", name)
                     : fmt::format("a future has .{}(), .wait_until(time)",
                                   fmt::join(kOfFuture.begin(), kOfFuture.end() - 1, "(), ."))};
  if (owner.starts_with("mcpac::Expected<"))
    return Translation{
        fmt::format("a call of .try_call() returns a result or an error, not `{}`{}", name,
                    is_of_result ? "" : meant_in(name, kOfExpected)),
        is_of_result
            ? fmt::format("if (r) r->{}; else r.error().what()", name)
            : fmt::format("if (r) r->text(); else r.error().what(); it has .{}, and *r the result",
                          fmt::join(kOfExpected, ", ."))};
  if (!owner.starts_with("mcp::") || !owner.ends_with("::Result")) return std::nullopt;
  const std::string near = meant_of(std::string(name), names);
  return Translation{
      fmt::format("the result of {} has no `{}`{}", tool, name,
                  near.empty() ? "" : fmt::format("; did you mean `{}`?", near)),
      fmt::format("results have .text(), .lines(), .json(), .as<T>(), .content() and "
                  ".structured(); mcpac tools describe {} shows what else it has",
                  tool)};
}

}  // namespace

std::string tool_of_result(std::string_view message, const Request& request) {
  constexpr std::string_view kEnd = "::Result";
  for (auto at = message.find("mcp::"); at != std::string_view::npos;
       at = message.find("mcp::", at + 1)) {
    const auto end = message.find(kEnd, at);
    if (end == std::string_view::npos) return {};
    // A struct in it is another type.
    if (message.substr(end + kEnd.size()).starts_with("::")) continue;
    const auto known = request.permissions.find(std::string(message.substr(at, end - at)));
    if (known != request.permissions.end()) return known->second;
  }
  return {};
}

std::optional<Translation> translate_result(std::string_view message, const Request& request,
                                            const Known& known) {
  // Formatting says it of the class of the library, by the short name.
  if (message.find("formatter<Result,") != std::string_view::npos)
    return Translation{"the result of a tool is no text", std::string(kAsText)};
  const std::string tool = tool_of_result(message, request);
  if (tool.empty()) return std::nullopt;
  if (auto member = unknown_member(message, tool, known)) return member;
  if (message.starts_with("no viable conversion from '") && message.contains("to 'std::vector<"))
    return Translation{fmt::format("the result of {} is no list", tool), std::string(kAsList)};
  // A Json that was meant has words of its own (slip_words.cpp).
  if (message.contains("mcpac::Json'") || message.contains(" Json'")) return std::nullopt;
  for (const std::string_view said :
       {"invalid operands to binary expression", "no viable conversion from '",
        "call to consteval function 'std::basic_format_string<"}) {
    if (message.starts_with(said))
      return Translation{fmt::format("the result of {} is no text", tool), std::string(kAsText)};
  }
  if (message.starts_with("invalid range expression"))
    return Translation{fmt::format("the result of {} is no list", tool), std::string(kAsList)};
  return std::nullopt;
}

}  // namespace mcpac::analyzer
