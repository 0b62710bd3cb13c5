// Tools behind pointers to members, tuples of references and a class that holds less than it was
// given.
#include <functional>
#include <tuple>

#include <mcpac.hpp>

using Rt = mcpac::Requires<mcp::filesystem::list_directory, mcp::filesystem::read_text_file,
                           mcp::memory::read_graph>;

class Graph {
 public:
  explicit Graph(mcpac::Requires<mcp::memory::read_graph> rt) : rt_(rt) {}
  std::size_t size() const { return std::invoke(kRead, rt_.memory)().text().size(); }

 private:
  using Capability = mcpac::Requires<mcp::memory::read_graph>;
  static constexpr auto kRead = &decltype(Capability::memory)::read_graph;
  Capability rt_;
};

int agent_main(Rt rt) {
  const auto tools = std::tie(rt.filesystem.list_directory, rt.filesystem.read_text_file);
  const auto [list, read] = std::tuple(std::get<0>(tools), std::get<1>(tools));
  auto listing = list.async({.path = "data"});
  const auto text = read.try_call({.path = "data/a.txt"});
  return Graph(rt).size() > 0 && text && !listing.get().text().empty() ? 0 : 1;
}
