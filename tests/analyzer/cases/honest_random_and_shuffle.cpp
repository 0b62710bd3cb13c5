#include <mcpac.hpp>
#include <algorithm>
#include <numeric>
#include <random>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  std::mt19937_64 engine(42);
  std::uniform_int_distribution<std::size_t> pick(0, 9);
  std::normal_distribution<double> noise(0.0, 1.0);
  std::vector<int> order(10);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), engine);
  auto lines = rt.filesystem.read_text_file({.path = "names.txt"}).lines();  // use: filesystem.read_text_file {"path": "names.txt"}
  std::vector<std::string> sample;
  std::sample(lines.begin(), lines.end(), std::back_inserter(sample), 3, engine);
  return sample.size() > 3 || noise(engine) > 100.0 ? 1 : static_cast<int>(pick(engine) / 10);
}
