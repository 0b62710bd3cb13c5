// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/asks_for_more.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analyzer/clang/quoted.h"

namespace mcpac::analyzer {
namespace {

// The arguments between the angle brackets of a type as clang spells it, split at its own commas.
std::vector<std::string> arguments_of(std::string_view type) {
  std::vector<std::string> found;
  const auto open = type.find("Requires<");
  if (open == std::string_view::npos) return found;
  std::string word;
  int depth = 0;
  for (const char c : type.substr(open + std::string_view("Requires<").size())) {
    if (depth == 0 && (c == ',' || c == '>')) {
      // "[...]" and "[2 * ...]" stand for what both types have, "(no argument)" for nothing.
      if (!word.empty() && !word.starts_with('[') && !word.starts_with('(')) found.push_back(word);
      word.clear();
      if (c == '>') break;
      continue;
    }
    depth += c == '<' ? 1 : c == '>' ? -1 : 0;
    if (c != ' ' || !word.empty()) word += c;
  }
  return found;
}

// The tag as a program can always write it; as it is spelled where it is no tool's.
std::string tag_of(const std::string& spelled, const Request& request) {
  std::string found;
  for (const auto& [cpp, permission] : request.permissions) {
    if (cpp == spelled || cpp == "mcp::" + spelled) return cpp;
    if (!cpp.ends_with("::" + spelled)) continue;
    if (!found.empty()) return spelled;  // of several servers
    found = cpp;
  }
  return found.empty() ? spelled : found;
}

// Whether both spell the same tag; one may leave out namespaces.
bool same_tag(const std::string& left, const std::string& right, const Request& request) {
  return left == right || tag_of(left, request) == tag_of(right, request);
}

// Of what is held the part of this tool, as the program calls it; empty where there is none.
std::string part_of(const std::string& permission, const std::vector<std::string>& held,
                    const NarrowedTools& narrowed) {
  for (const std::string& one : held) {
    for (const auto& [name, of] : narrowed) {
      if (of == permission && (name == one || name.ends_with("::" + one))) return one;
    }
  }
  return {};
}

struct Conversion {
  std::string from;
  std::string to;
};

std::optional<Conversion> conversion_in(std::string_view text) {
  const std::string_view from = quoted_after(text, "from '");
  const std::string_view to = quoted_after(text, "to '");
  const bool both = from.find("Requires<") != std::string_view::npos &&
                    to.find("Requires<") != std::string_view::npos;
  if (!both) return std::nullopt;
  return Conversion{std::string(from), std::string(to)};
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

// Clang compares two types argument by argument: "[...]" is what both have, "(no argument)" what
// only the other has.
std::string shown(std::string type) {
  replace_all(type, "[...]", "…");
  replace_all(type, ", (no argument)", "");
  replace_all(type, "(no argument)", "");
  return type;
}

std::string who_asks(std::string_view message, const std::vector<std::string>& notes) {
  for (const std::string_view before : {"for call to '", "for initialization of '"}) {
    const std::string_view name = quoted_after(message, before);
    if (!name.empty()) return fmt::format("`{}`", name);
  }
  if (message.find("(lambda at ") != std::string_view::npos) return "this lambda";
  for (const std::string& note : notes) {
    const std::string_view name = quoted_after(note, "passing argument to parameter '");
    if (!name.empty()) return fmt::format("the parameter `{}`", name);
  }
  return "this";
}

}  // namespace

std::optional<Translation> asks_for_more(std::string_view message,
                                         const std::vector<std::string>& notes,
                                         const Request& request, const Known& known) {
  const bool is_conversion =
      message.starts_with("no matching") || message.starts_with("no viable conversion");
  if (!is_conversion) return std::nullopt;
  auto conversion = conversion_in(message);
  for (auto note = notes.begin(); !conversion && note != notes.end(); ++note)
    conversion = conversion_in(*note);
  if (!conversion) return std::nullopt;
  const auto held = arguments_of(conversion->from);
  std::vector<std::string> missing;
  for (const std::string& asked : arguments_of(conversion->to)) {
    const bool is_held = std::ranges::any_of(
        held, [&](const std::string& one) { return same_tag(one, asked, request); });
    if (!is_held) missing.push_back(tag_of(asked, request));
  }
  if (missing.empty()) return std::nullopt;
  std::vector<std::string> permissions;
  for (const std::string& tag : missing) {
    const auto locked = request.permissions.find(tag);
    permissions.push_back(locked == request.permissions.end() ? tag : locked->second);
  }
  const std::string asks = who_asks(message, notes);
  const bool is_function = asks.starts_with('`');
  const auto calls = [&](const std::string& permission) {
    return !is_function || !known.calls ||
           known.calls(std::string_view(asks).substr(1, asks.size() - 2), permission);
  };
  std::vector<std::string> add;
  std::vector<std::string> take;
  std::vector<std::string> idle;  // asked for, and not called there
  for (std::size_t i = 0; i < missing.size(); ++i) {
    const std::string part = part_of(permissions[i], held, known.narrowed);
    if (part.empty()) {
      add.push_back(missing[i]);
      if (!calls(permissions[i])) idle.push_back(missing[i]);
    } else {
      take.push_back(fmt::format("{} in place of {}", part, missing[i]));
    }
  }
  std::string fix;
  if (!idle.empty())
    fix = fmt::format("take {} out of the Requires of {}, which does not call {}; where it will, ",
                      fmt::join(idle, ", "), asks, idle.size() == 1 ? "it" : "them");
  if (!take.empty())
    fix += fmt::format("take {} in the Requires there: the program declares that part of the tool",
                       fmt::join(take, ", "));
  if (!add.empty())
    fix += fmt::format(
        "{}add {} to the Requires of the entry, and of the functions between it and here",
        fix.empty() || take.empty() ? "" : "; ", fmt::join(add, ", "));
  return Translation{fmt::format("{} needs {}, which `{}` does not hold", asks,
                                 fmt::join(permissions, ", "), shown(conversion->from)),
                     std::move(fix)};
}

}  // namespace mcpac::analyzer
