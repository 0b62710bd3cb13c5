#include <mcpac.hpp>
#include <complex>
#include <numbers>
#include <numeric>
#include <valarray>
std::vector<std::complex<double>> transform(const std::vector<double>& signal) {
  std::vector<std::complex<double>> out(signal.size());
  for (std::size_t k = 0; k < signal.size(); ++k)
    for (std::size_t n = 0; n < signal.size(); ++n)
      out[k] += signal[n] * std::polar(1.0, -2.0 * std::numbers::pi * static_cast<double>(k * n) / static_cast<double>(signal.size()));
  return out;
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  std::vector<double> signal;
  for (const auto& line : rt.filesystem.read_text_file({.path = "signal.csv", .head = 256}).lines()) signal.push_back(std::strtod(line.c_str(), nullptr));  // use: filesystem.read_text_file {"head": 256, "path": "signal.csv"}
  const std::valarray<double> weights{0.25, 0.5, 0.25};
  return std::abs(transform(signal).front()) >= 0.0 && std::gcd(12, 18) == 6 && weights.sum() == 1.0 ? 0 : 1;
}
