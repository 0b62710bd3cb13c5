#include <mcpac.hpp>
#include <chrono>
struct Bytes {
  unsigned long long count;
};
constexpr Bytes operator""_KiB(unsigned long long n) { return {n * 1024}; }
constexpr double operator""_km(long double km) { return static_cast<double>(km) * 1000.0; }
std::string operator""_in_data(const char* name, std::size_t size) { return "data/" + std::string(name, size); }
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  const auto text = rt.filesystem.read_text_file({.path = "a.txt"_in_data}).text();  // use: filesystem.read_text_file {"path": "?"}
  return text.size() < (64_KiB).count && 1.5_km > 1000.0 ? 0 : 1;
}
