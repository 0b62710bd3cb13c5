#include <mcpac.hpp>
#include <utility>
[[nodiscard]] constexpr int checked(int value) noexcept { return value; }
[[deprecated("use checked")]] [[maybe_unused]] static int unchecked(int value) { return value; }
struct Empty {};
struct Compact {
  [[no_unique_address]] Empty empty;
  alignas(16) double values[2]{};
};
[[noreturn]] void give_up(const std::string& why) { throw std::runtime_error(why); }
int classify(int n) {
  if (n > 100) [[unlikely]]
    give_up("too large");
  switch (n) {
    case 0: [[fallthrough]];
    case 1: return 1;
    [[likely]] default: return 2;
  }
}
int agent_main([[maybe_unused]] mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  const auto lines = rt.filesystem.read_text_file({.path = "a"}).lines();  // use: filesystem.read_text_file {"path": "a"}
  [[assume(lines.size() < 1000)]];
  return checked(classify(static_cast<int>(lines.size())) - 2 + static_cast<int>(sizeof(Compact) % 16));
}
