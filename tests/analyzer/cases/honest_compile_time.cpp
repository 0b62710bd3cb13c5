#include <mcpac.hpp>
#include <algorithm>
#include <array>
consteval std::size_t length(const char* text) {
  std::size_t n = 0;
  while (text[n] != '\0') ++n;
  return n;
}
template <std::size_t N>
constexpr std::array<int, N> primes() {
  std::array<int, N> found{};
  std::size_t count = 0;
  for (int n = 2; count < N; ++n) {
    const bool prime = std::none_of(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count), [n](int p) { return n % p == 0; });
    if (prime) found[count++] = n;
  }
  return found;
}
constexpr auto kPrimes = primes<20>();
static_assert(kPrimes[19] == 71);
constinit int calls = 0;
template <std::size_t N>
struct Name {
  char text[N]{};
  constexpr Name(const char (&from)[N]) { std::copy_n(from, N, text); }
};
template <Name N>
std::string path_of() {
  return std::string("data/") + N.text;
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  ++calls;
  rt.filesystem.read_text_file({.path = path_of<"a.txt">(), .head = length("four")});  // use: filesystem.read_text_file {"head": 4, "path": "?"}
  return calls + kPrimes[0] - 3;
}
