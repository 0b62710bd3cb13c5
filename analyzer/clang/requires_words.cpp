#include "analyzer/clang/requires_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/clang/quoted.h"

namespace mcpac::analyzer {
namespace {

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

}  // namespace

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

}  // namespace mcpac::analyzer
