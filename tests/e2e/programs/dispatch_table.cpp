// Tools behind names: a table of functions that hold callables.
#include <functional>
#include <map>
#include <print>

#include <mcpac.hpp>

using Rt = mcpac::Requires<mcp::everything::echo, mcp::everything::get_sum,
                           mcp::filesystem::read_text_file>;
using Command = std::function<std::string(const std::string&)>;

template <class Tool, class Make>
Command command(const Tool& tool, Make make) {
  return [tool, make](const std::string& text) { return tool(make(text)).text(); };
}

int agent_main(Rt rt) {
  const std::map<std::string, Command> commands{
      {"echo", command(rt.everything.echo,
                       [](const std::string& text) {
                         return mcp::everything::echo::Args{.message = text};
                       })},
      {"sum", command(rt.everything.get_sum,
                      [](const std::string& text) {
                        return mcp::everything::get_sum::Args{.a = std::stod(text), .b = 1};
                      })},
      {"read", command(rt.filesystem.read_text_file,
                       [](const std::string& text) {
                         return mcp::filesystem::read_text_file::Args{.path = text};
                       })},
  };
  for (const auto& [name, input] : std::vector<std::pair<std::string, std::string>>{
           {"echo", "hello"}, {"sum", "2"}, {"read", "data/a.txt"}}) {
    std::println("{}: {}", name, commands.at(name)(input));
  }
  return 0;
}
