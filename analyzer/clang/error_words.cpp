// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/error_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "analyzer/clang/asks_for_more.h"
#include "analyzer/clang/quoted.h"
#include "analyzer/clang/result_words.h"
#include "analyzer/clang/slip_words.h"
#include "core/ascii.h"
#include "core/nearest_name.h"

namespace mcpac::analyzer {
namespace {

// Requires words: diagnostics for wrong uses of Requires and Narrow.

// Of an error of clang; nothing where it is about something else.
[[nodiscard]] std::optional<Translation> translate_requires(std::string_view message,
                                                            const Request& request);

// "no template named 'Requires'": without its namespace.
std::optional<Translation> without_namespace(std::string_view message) {
  const std::string_view name = quoted_after(message, "no template named '");
  if (name != "Requires" && name != "Narrow") return std::nullopt;
  return Translation{fmt::format("`{0}` stands in the namespace mcpac", name),
                     fmt::format("write mcpac::{}<…>", name)};
}

// "unexpected namespace name 'filesystem': expected expression": a server where a tool was meant.
std::optional<Translation> server_as_tool(std::string_view message, const Request& request) {
  const std::string_view name = quoted_after(message, "unexpected namespace name '");
  const std::string begin = fmt::format("mcp::{}::", name);
  const bool is_server =
      !name.empty() && std::ranges::any_of(request.permissions, [&](const auto& one) {
        return one.first.starts_with(begin);
      });
  if (!is_server) return std::nullopt;
  return Translation{
      fmt::format("`{}` is a server, and a Requires lists tools", name),
      fmt::format("write {}… for each tool that is called (mcpac tools list {})", begin, name)};
}

std::optional<Translation> translate_requires(std::string_view message, const Request& request) {
  if (auto bare = without_namespace(message)) return bare;
  if (auto server = server_as_tool(message, request)) return server;
  if (quoted_after(message, "no matching constructor for initialization of '")
          .starts_with("mcpac::Requires<"))
    return Translation{"a Requires cannot be made: only agent_main is given one",
                       "take it as the parameter of agent_main, and hand it on from there"};
  if (message == "too many template arguments for class template 'Narrow'")
    return Translation{"a Narrow is a class of its own, and its condition is its member `where`",
                       "struct less : mcpac::Narrow<mcp::server::tool> { static constexpr char "
                       "where[] = \"path within ./data\"; }; and Requires<less>"};
  return std::nullopt;
}

}  // namespace

namespace {

// Enough to see what is meant; all of them are in `server list`.
constexpr std::size_t kShownServers = 8;

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

// A tool is in no header before a person accepted it (docs/adr/0054).
constexpr std::string_view kWaiting =
    "one that its server has gained since waits for mcpac lock accept";

// A name that is close to none.
Translation unknown_name(std::string_view name, bool of_mcp, std::string_view owner) {
  if (of_mcp)
    return {fmt::format("`{}` is no server of mcpac.lock", name),
            "mcpac tools list shows what there is; mcpac server add NAME -- COMMAND, then mcpac "
            "generate, makes another"};
  return {fmt::format("`{}` is no tool of {} in mcpac.lock", name, owner),
          fmt::format("mcpac tools list shows the tools; {}", kWaiting)};
}

// "no member named 'write_file' in 'mcpac::Declared<…>'": the tool is not in the Requires.
std::optional<Translation> undeclared_tool(std::string_view message, const Request& request) {
  const std::string_view name = quoted_after(message, "no member named '");
  const std::string_view owner = quoted_after(message, "' in '");
  const bool of_server = owner.find("Declared<") != std::string_view::npos;
  const bool of_requires = owner.find("Requires<") != std::string_view::npos;
  if (name.empty() || (!of_server && !of_requires)) return std::nullopt;
  for (const auto& [cpp, permission] : request.permissions) {
    const bool tool = of_server && cpp.ends_with(fmt::format("::{}", name)) &&
                      owner.contains(fmt::format("mcp::{}::", cpp_name(cpp).server));
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
                     of_server ? fmt::format("mcpac tools list shows the tools; {}", kWaiting)
                               : std::string("mcpac tools list shows the tools; mcpac generate "
                                             "renews the headers")};
}

// rt.read_text_file(…) without its server, and rt.connect(…).
std::optional<Translation> part_of_requires(std::string_view message, const Request& request) {
  const std::string name{quoted_after(message, "no member named '")};
  const std::string_view owner = quoted_after(message, "' in '");
  if (name.empty() || !owner.contains("Requires<")) return std::nullopt;
  const auto add = [&owner](std::string_view cpp) {
    return owner.contains(cpp) ? std::string() : fmt::format(", and {} in the Requires", cpp);
  };
  if (name == "connect" || name == "connect_plain" || name == "try_connect")
    return Translation{
        fmt::format("`{}` is a function of rt.network", name),
        fmt::format("write rt.network.{}(\"host\", 443){}", name, add("mcpac::network"))};
  const std::string end = "::" + name;
  for (const auto& [cpp, permission] : request.permissions) {
    const CppName parts = cpp_name(cpp);
    const bool is_server = parts.server == name;
    if (is_server) return std::nullopt;
  }
  for (const auto& [cpp, permission] : request.permissions) {
    const CppName parts = cpp_name(cpp);
    if (parts.server.empty() || !cpp.ends_with(end)) continue;
    // Where several servers have one, the one that is declared.
    const bool is_last = std::ranges::none_of(request.permissions, [&](const auto& other) {
      return other.first != cpp && other.first.ends_with(end) && owner.contains(other.first);
    });
    if (!owner.contains(cpp) && !is_last) continue;
    return Translation{fmt::format("`{}` is a tool of the server `{}`", name, parts.server),
                       fmt::format("write rt.{}.{}(…){}", parts.server, name, add(cpp))};
  }
  return std::nullopt;
}

// "no member named 'text' in 'mcp::filesystem::read_text_file'", "type
// 'filesystem::read_text_file' does not provide a call operator": a tool is named where its call
// was meant, mostly by a program that has no Requires yet.
std::optional<Translation> call_without_requires(std::string_view message, const Request& request) {
  std::string_view type = quoted_after(message, "type '");
  if (!message.ends_with("does not provide a call operator")) {
    const bool of_type = !quoted_after(message, "no member named '").empty();
    type = of_type ? quoted_after(message, "' in '") : std::string_view();
  }
  for (const auto& [cpp, permission] : request.permissions) {
    if (type.empty() || (type != cpp && fmt::format("mcp::{}", type) != cpp)) continue;
    const CppName parts = cpp_name(cpp);
    return Translation{
        fmt::format("`{}` is called through the parameter of agent_main, a mcpac::Requires",
                    permission),
        fmt::format("int agent_main(mcpac::Requires<{}> rt), and rt.{}.{}(…) in it", cpp,
                    parts.server, parts.tool)};
  }
  return std::nullopt;
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
  std::string near = nearest_name(name, names);
  if (near.empty() && !undeclared) return unknown_name(name, of_mcp, owner);
  if (near.empty()) return std::nullopt;
  // With its namespace, which is right with and without `using namespace mcp`.
  near.insert(0, fmt::format("{}::", of_mcp ? "mcp" : owner));
  return Translation{
      fmt::format("`{}` is no {}; did you mean `{}`?", name,
                  of_mcp ? "server" : "tool of that server", near),
      of_mcp ? fmt::format("write {} (mcpac tools list shows what there is)", near)
             : fmt::format("write {} (mcpac tools list shows what there is; {})", near, kWaiting)};
}

// The permission whose Args the texts name, "filesystem.edit_file"; empty where none does.
std::string permission_in(const std::vector<std::string>& texts, const Request& request) {
  const auto known = request.permissions.find("mcp::" + args_in(texts).tool);
  return known == request.permissions.end() ? "" : known->second;
}

// "field designator 'pth' does not refer to any field in type 'const Args'", or in one of the
// structs in it, "'mcp::filesystem::edit_file::Args::Edits'"
std::optional<Translation> unknown_argument(std::string_view message,
                                            const std::vector<std::string>& notes,
                                            const Request& request) {
  const std::string_view name = quoted_after(message, "field designator '");
  const std::string_view type = quoted_after(message, "any field in type '");
  if (name.empty()) return std::nullopt;
  std::vector<std::string> texts{fmt::format("'const {}'", type)};
  texts.insert(texts.end(), notes.begin(), notes.end());
  const std::string tool = permission_in(texts, request);
  const std::string fix =
      tool.empty()
          ? "mcpac tools list names the tools, and mcpac tools describe shows their arguments"
          : fmt::format("mcpac tools describe {} shows its arguments", tool);
  if (type.ends_with("Args"))
    return Translation{fmt::format("the tool has no argument `{}`", name), fix};
  const auto args = message.rfind("Args::");
  if (args == std::string_view::npos) return std::nullopt;
  const std::string_view of = message.substr(args, message.find('\'', args) - args);
  return Translation{fmt::format("`{}` has no field `{}`", of, name), fix};
}

// Clang says only that no overload of the call fits; which argument it was stands in no message.
std::optional<Translation> unfitting_arguments(std::string_view message,
                                               const std::vector<std::string>& notes,
                                               const Request& request) {
  const bool call = message.starts_with("no matching") &&
                    (message.contains("mcpac::Method<") ||
                     (!permission_in(notes, request).empty() &&
                      (message.ends_with("'async'") || message.ends_with("'try_call'"))));
  if (!call) return std::nullopt;
  const std::string tool = permission_in(notes, request);
  if (tool.empty()) {
    return Translation{"the arguments do not fit the tool",
                       "mcpac tools describe shows a call that fits"};
  }
  return Translation{fmt::format("the arguments do not fit {}", tool),
                     fmt::format("mcpac tools describe {} shows a call that fits", tool)};
}

// A text that was to stand for an enumerator.
std::optional<Translation> unknown_enumerator(std::string_view message, const Request& request) {
  if (!is_unknown_enumerator(message)) return std::nullopt;
  const auto begin = message.find("mcp::");
  const auto args = std::min(message.find("::Args::", begin), message.find("::Result::", begin));
  const auto end = message.find_first_of(">'", begin);
  if (begin == std::string_view::npos || args > end) return std::nullopt;
  const auto known = request.permissions.find(std::string(message.substr(begin, args - begin)));
  if (known == request.permissions.end()) return std::nullopt;
  return Translation{
      fmt::format("the text is no value of {}", message.substr(begin, end - begin)),
      fmt::format("mcpac tools describe {} shows the values that there are", known->second)};
}

// "no matching member function for call to 'as'", and the note that the concept is not satisfied.
std::optional<Translation> unreadable(std::string_view message,
                                      const std::vector<std::string>& notes, const Known& known) {
  if (!message.starts_with("no matching")) return std::nullopt;
  for (const std::string& note : notes) {
    const auto end = note.find("' does not satisfy 'readable'");
    const auto begin = end == std::string::npos ? end : note.rfind('\'', end - 1);
    if (begin == std::string::npos) continue;
    const std::string type = note.substr(begin + 1, end - begin - 1);
    const std::string member = known.unreadable_in ? known.unreadable_in(type) : "";
    if (!member.empty())
      return Translation{fmt::format("`{}` cannot be read from JSON: {}", type, member),
                         "give that member a type that JSON has, or mcpac::Json and read it "
                         "yourself; a from_json(const mcpac::Json&, T&) for the type does, too"};
    return Translation{
        fmt::format("`{}` cannot be read from JSON", type),
        "make it an aggregate: at most 32 public members that have a default, no base, no "
        "constructor; or give it static void mcpac_visit(auto& self, auto& visit) { "
        "visit(\"name\", self.name); }"};
  }
  return std::nullopt;
}

// "chosen constructor is explicit in copy-initialization", and which field it was.
std::optional<Translation> missing_value(std::string_view message,
                                         const std::vector<std::string>& notes) {
  if (message != "chosen constructor is explicit in copy-initialization") return std::nullopt;
  for (const std::string& note : notes) {
    const std::string_view field = quoted_after(note, "in implicit initialization of field '");
    if (field.empty()) continue;
    return Translation{fmt::format("required argument `{}` is missing", field),
                       fmt::format("give .{} a value; to fill arguments one by one make them "
                                   "without braces: `Args args;`",
                                   field)};
  }
  return std::nullopt;
}

// "call to deleted constructor of 'formatter<Point, char>'"
std::optional<Translation> unformattable(std::string_view message) {
  const std::string_view formatter = quoted_after(message, "deleted constructor of 'formatter<");
  if (!formatter.ends_with(", char>")) return std::nullopt;
  const std::string_view type = formatter.substr(0, formatter.size() - 7);
  const bool is_optional = type.find("ptional<") != std::string_view::npos;
  return Translation{
      fmt::format("`{}` cannot be formatted", type),
      is_optional ? "*x where it has a value, or x.value_or(…)"
                  : "format its members, or mcpac::Json(x) of a struct; a std::formatter of it may "
                    "be written as well"};
}

}  // namespace

bool is_unknown_enumerator(std::string_view message) {
  return message.starts_with("call to consteval function 'mcpac::");
}

std::optional<Translation> translate_server(std::string_view message, const Request& request) {
  const std::string_view name = quoted_after(message, "use of undeclared identifier '");
  // Where clang knows what was meant ("did you mean 'std::chrono'?"), that is no server.
  if (name.empty() || message.find("; did you mean '") != std::string_view::npos)
    return std::nullopt;
  std::set<std::string> servers;
  for (const auto& [cpp, permission] : request.permissions) {
    if (cpp.starts_with("mcp::")) servers.insert(cpp_name(cpp).server);
  }
  std::vector<std::string> shown(servers.begin(), servers.end());
  shown.resize(std::min(shown.size(), kShownServers));
  return Translation{servers.empty()
                         ? fmt::format("`{}` is no server, and this project has none", name)
                         : fmt::format("`{}` is no server of this project; there {} {}{}", name,
                                       servers.size() == 1 ? "is" : "are", fmt::join(shown, ", "),
                                       servers.size() > shown.size() ? ", …" : ""),
                     "mcpac tools list names servers and tools, mcpac server add adds a server"};
}

std::string meant_of(const std::string& wrong, const std::vector<std::string>& names) {
  if (wrong.empty()) return {};
  std::vector<std::string> alike;
  const bool is_capital = is_upper(wrong.front());
  for (const std::string& name : names) {
    if (!name.empty() && is_upper(name.front()) == is_capital) alike.push_back(name);
  }
  if (std::string near = nearest_name(wrong, alike); !near.empty()) return near;
  if (std::string near = nearest_name(wrong, names); !near.empty()) return near;
  constexpr std::size_t kShortest = 4;
  for (const std::string& name : alike) {
    const auto common =
        static_cast<std::size_t>(std::ranges::mismatch(wrong, name).in1 - wrong.begin());
    if (common >= kShortest && common * 3 >= wrong.size() * 2) return name;
  }
  return {};
}

// "cannot convert initializer list argument to 'const Args' (aka 'const
// mcp::filesystem::edit_file::Args')"
NamedArgs args_in(const std::vector<std::string>& notes) {
  constexpr std::string_view kBegin = "'const mcp::";
  constexpr std::string_view kEnd = "::Args";
  for (const std::string& note : notes) {
    const auto from = note.find(kBegin);
    const auto end = note.find(kEnd, from);
    if (from == std::string::npos || end == std::string::npos) continue;
    const auto behind = end + kEnd.size();
    const auto quote = note.find('\'', behind);
    const bool is_part = note.compare(behind, 2, "::") == 0;
    if (quote == std::string::npos || (quote != behind && !is_part)) continue;
    return {.tool = note.substr(from + kBegin.size(), end - from - kBegin.size()),
            .inside = is_part ? note.substr(behind + 2, quote - behind - 2) : ""};
  }
  return {};
}

std::optional<Translation> translate(std::string_view message,
                                     const std::vector<std::string>& notes, const Request& request,
                                     const Known& known) {
  if (auto part = part_of_requires(message, request)) return part;
  if (auto tool = undeclared_tool(message, request)) return tool;
  if (auto call = call_without_requires(message, request)) return call;
  if (auto argument = unknown_argument(message, notes, request)) return argument;
  if (auto value = unknown_enumerator(message, request)) return value;
  if (auto missing = missing_value(message, notes)) return missing;
  if (auto type = unreadable(message, notes, known)) return type;
  if (auto arguments = unfitting_arguments(message, notes, request)) return arguments;
  if (auto name = misspelt_name(message, request)) return name;
  if (auto result = translate_result(message, request, known)) return result;
  if (auto type = unformattable(message)) return type;
  if (auto more = asks_for_more(message, notes, request, known)) return more;
  if (auto slip = translate_slip(message, notes, request, known)) return slip;
  return translate_requires(message, request);
}

}  // namespace mcpac::analyzer
