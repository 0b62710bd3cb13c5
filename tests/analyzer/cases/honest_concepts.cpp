#include <mcpac.hpp>
#include <concepts>
#include <numeric>
template <class T>
concept Number = std::integral<T> || std::floating_point<T>;
template <class C>
concept Container = requires(const C& c) {
  typename C::value_type;
  { c.size() } -> std::convertible_to<std::size_t>;
  requires Number<typename C::value_type>;
};
template <Container C>
auto mean(const C& values) {
  return values.size() == 0 ? 0.0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}
template <class T>
requires Number<T> && (!std::same_as<T, bool>)
constexpr T clamp_to(T value, T low, T high) {
  return value < low ? low : value > high ? high : value;
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  std::vector<double> values;
  for (const auto& line : rt.filesystem.read_text_file({.path = "values.txt"}).lines()) values.push_back(std::stod(line));  // use: filesystem.read_text_file {"path": "values.txt"}
  return clamp_to(static_cast<int>(mean(values)), 0, 100);
}
