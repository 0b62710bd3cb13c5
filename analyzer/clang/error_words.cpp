#include "analyzer/clang/error_words.h"

#include <fmt/format.h>

#include <vector>

#include "core/nearest_name.h"

namespace mcpac::analyzer {
namespace {

// The text between the first pair of quotes after `from`.
std::string_view quoted_after(std::string_view text, std::string_view from) {
  const auto start = text.find(from);
  if (start == std::string_view::npos) return {};
  text.remove_prefix(start + from.size());
  return text.substr(0, text.find('\''));
}

// "mcp::filesystem::read_text_file" in its parts after mcp; empty where it has others.
struct CppName {
  std::string server;
  std::string tool;
};
CppName cpp_name(const std::string& cpp) {
  const auto server = cpp.find("::");
  const auto tool = cpp.rfind("::");
  if (server == std::string::npos || tool == server) return {};
  return {cpp.substr(server + 2, tool - server - 2), cpp.substr(tool + 2)};
}

// "no member named 'write_file' in 'mcpac::Declared<…>'": the tool is not in the Requires.
std::optional<Translation> undeclared_tool(std::string_view message, const Request& request) {
  const std::string_view name = quoted_after(message, "no member named '");
  const std::string_view owner = quoted_after(message, "' in '");
  const bool of_server = owner.find("Declared<") != std::string_view::npos;
  const bool of_requires = owner.find("Requires<") != std::string_view::npos;
  if (name.empty() || (!of_server && !of_requires)) return std::nullopt;
  for (const auto& [cpp, permission] : request.permissions) {
    const bool tool = of_server && cpp.ends_with(fmt::format("::{}", name));
    if (!tool) continue;
    return Translation{fmt::format("`{}` is not in the Requires of this program", permission),
                       fmt::format("add {} to the list of Requires<…>", cpp)};
  }
  for (const auto& [cpp, permission] : request.permissions) {
    if (!of_requires || !cpp.starts_with(fmt::format("mcp::{}::", name))) continue;
    return Translation{
        fmt::format("no tool of server `{}` is in the Requires of this program", name),
        fmt::format("add mcp::{}::… to the list of Requires<…>", name)};
  }
  std::vector<std::string> names;
  for (const auto& [cpp, permission] : request.permissions) {
    const CppName parts = cpp_name(cpp);
    names.push_back(of_server ? parts.tool : parts.server);
  }
  std::string near = nearest_name(name, names);
  if (!near.empty()) near = fmt::format("; did you mean `{}`?", near);
  return Translation{fmt::format("`{}` is no {} of the generated headers{}", name,
                                 of_server ? "tool" : "server", near),
                     "mcpac tools list shows the tools; mcpac generate renews the headers"};
}

// "no member named 'read_textfile' in namespace 'mcp::filesystem'", "use of undeclared identifier
// 'filesytem'": a name that was meant to be a server's or a tool's.
std::optional<Translation> misspelt_name(std::string_view message, const Request& request) {
  std::string_view name = quoted_after(message, "no member named '");
  std::string_view owner = quoted_after(message, "' in namespace '");
  const bool undeclared = name.empty() && message.starts_with("use of undeclared identifier '");
  if (undeclared) name = quoted_after(message, "use of undeclared identifier '");
  const bool of_mcp = undeclared || owner == "mcp";
  if (name.empty() || (!of_mcp && !owner.starts_with("mcp::"))) return std::nullopt;
  std::vector<std::string> names;
  for (const auto& [cpp, permission] : request.permissions) {
    const CppName parts = cpp_name(cpp);
    if (of_mcp) names.push_back(parts.server);
    if (!of_mcp && owner.substr(5) == parts.server) names.push_back(parts.tool);
  }
  const std::string near = nearest_name(name, names);
  if (near.empty()) return std::nullopt;
  return Translation{fmt::format("`{}` is no {}; did you mean `{}`?", name,
                                 of_mcp ? "server" : "tool of that server", near),
                     fmt::format("write {} (mcpac tools list shows what there is)", near)};
}

// "field designator 'pth' does not refer to any field in type 'const Args'"
std::optional<Translation> unknown_argument(std::string_view message) {
  const std::string_view name = quoted_after(message, "field designator '");
  if (name.empty() || message.find("Args'") == std::string_view::npos) return std::nullopt;
  return Translation{fmt::format("the tool has no argument `{}`", name),
                     "mcpac tools describe SERVER.TOOL shows its arguments"};
}

std::optional<Translation> widening(std::string_view message) {
  const bool conversion = message.find("no matching function") != std::string_view::npos ||
                          message.find("no viable conversion") != std::string_view::npos ||
                          message.find("no matching constructor") != std::string_view::npos;
  if (!conversion || message.find("from '") == std::string_view::npos) return std::nullopt;
  const std::string_view from = quoted_after(message, "from '");
  const std::string_view to = quoted_after(message, "to '");
  if (from.find("Requires<") == std::string_view::npos ||
      to.find("Requires<") == std::string_view::npos) {
    return std::nullopt;
  }
  return Translation{fmt::format("`{}` asks for more than `{}` holds", to, from),
                     "add what is missing to the Requires of the entry"};
}

// Clang says only that no overload of the call fits; which argument it was stands in no message.
std::optional<Translation> unfitting_arguments(std::string_view message, const Request& request) {
  if (!message.starts_with("no matching")) return std::nullopt;
  const bool call = message.find("mcpac::Method<") != std::string_view::npos;
  if (!call) return std::nullopt;
  const auto from = message.find("mcpac::Method<") + std::string_view("mcpac::Method<").size();
  const std::string_view cpp = message.substr(from, message.find('>', from) - from);
  const auto known = request.permissions.find(std::string(cpp));
  const bool is_known = known != request.permissions.end();
  return Translation{is_known ? fmt::format("the arguments do not fit {}", known->second)
                              : "the arguments do not fit the tool",
                     fmt::format("mcpac tools describe {} shows a call that fits",
                                 is_known ? known->second : "SERVER.TOOL")};
}

}  // namespace

std::optional<Translation> translate(std::string_view message, const Request& request) {
  if (auto tool = undeclared_tool(message, request)) return tool;
  if (auto argument = unknown_argument(message)) return argument;
  if (auto arguments = unfitting_arguments(message, request)) return arguments;
  if (auto name = misspelt_name(message, request)) return name;
  return widening(message);
}

}  // namespace mcpac::analyzer
