#include <mcpac.hpp>
#include <algorithm>
#include <iterator>
#include <numeric>
#include <queue>
#include <set>
using Graph = std::map<std::string, std::vector<std::pair<std::string, int>>>;
std::map<std::string, int> shortest(const Graph& graph, const std::string& from) {
  std::map<std::string, int> best{{from, 0}};
  using Entry = std::pair<int, std::string>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  open.emplace(0, from);
  while (!open.empty()) {
    const auto [cost, node] = open.top();
    open.pop();
    const auto found = graph.find(node);
    if (found == graph.end() || cost > best[node]) continue;
    for (const auto& [next, step] : found->second) {
      const auto known = best.find(next);
      if (known != best.end() && known->second <= cost + step) continue;
      best.insert_or_assign(next, cost + step);
      open.emplace(cost + step, next);
    }
  }
  return best;
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  auto words = rt.filesystem.read_text_file({.path = "words.txt"}).lines();  // use: filesystem.read_text_file {"path": "words.txt"}
  std::ranges::sort(words);
  const auto repeated = std::ranges::unique(words);
  words.erase(repeated.begin(), repeated.end());
  std::set<std::string> stop{"and", "or"};
  std::erase_if(words, [&](const auto& word) { return stop.contains(word); });
  std::vector<std::size_t> lengths;
  std::ranges::transform(words, std::back_inserter(lengths), &std::string::size);
  std::vector<std::size_t> sums(lengths.size());
  std::partial_sum(lengths.begin(), lengths.end(), sums.begin());
  const Graph graph{{"a", {{"b", 2}, {"c", 7}}}, {"b", {{"c", 3}}}};
  return shortest(graph, "a").at("c") == 5 ? 0 : 1;
}
