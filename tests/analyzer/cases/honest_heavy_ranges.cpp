#include <mcpac.hpp>
#include <algorithm>
#include <map>
#include <print>
#include <ranges>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  const auto lines = rt.filesystem.read_text_file({.path = "sales.csv"}).lines();  // use: filesystem.read_text_file {"path": "sales.csv"}
  std::map<std::string, int> totals;
  for (const auto& line : lines | std::views::drop(1) | std::views::filter([](const auto& l) { return !l.empty(); })) {
    auto cells = line | std::views::split(',') | std::views::transform([](auto cell) { return std::string(cell.begin(), cell.end()); });
    const std::vector<std::string> row(cells.begin(), cells.end());
    if (row.size() == 2) totals[row[0]] += std::stoi(row[1]);
  }
  std::vector<std::pair<std::string, int>> sorted(totals.begin(), totals.end());
  std::ranges::sort(sorted, std::ranges::greater{}, &std::pair<std::string, int>::second);
  for (const auto& [name, total] : sorted | std::views::take(3)) std::println("{:<20}{:>8}", name, total);
  auto squares = std::views::iota(1, 100) | std::views::transform([](int n) { return n * n; }) | std::views::filter([](int n) { return n % 2 == 0; });
  return std::ranges::fold_left(squares | std::views::take(2), 0, std::plus<>{}) == 20 ? 0 : 1;
}
