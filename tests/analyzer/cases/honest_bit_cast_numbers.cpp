#include <mcpac.hpp>
#include <bit>
#include <cmath>
#include <cstdint>
std::uint64_t hash_of(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return std::rotl(bits, 7) ^ (bits >> 33U) ^ static_cast<std::uint64_t>(std::popcount(bits));
}
std::uint32_t fnv(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 16777619U;
  }
  return hash;
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  const auto text = rt.filesystem.read_text_file({.path = "data.txt"}).text();  // use: filesystem.read_text_file {"path": "data.txt"}
  return (hash_of(std::sqrt(2.0)) ^ fnv(text)) == 0 ? 1 : 0;
}
