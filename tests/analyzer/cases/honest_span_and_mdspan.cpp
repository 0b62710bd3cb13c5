#include <mcpac.hpp>
#include <mdspan>
#include <span>
double trace(std::mdspan<const double, std::dextents<std::size_t, 2>> matrix) {
  double sum = 0;
  for (std::size_t i = 0; i < matrix.extent(0); ++i) sum += matrix[i, i];
  return sum;
}
int sum(std::span<const int> numbers) {
  int total = 0;
  for (const int number : numbers.first(numbers.size() / 2)) total += number;
  return total;
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  std::vector<double> values(9, 1.0);
  const std::vector<int> numbers{1, 2, 3, 4};
  rt.filesystem.read_text_file({.path = "matrix.txt"});  // use: filesystem.read_text_file {"path": "matrix.txt"}
  return trace(std::mdspan<const double, std::dextents<std::size_t, 2>>(values.data(), 3, 3)) == 3.0 && sum(numbers) == 3 ? 0 : 1;
}
