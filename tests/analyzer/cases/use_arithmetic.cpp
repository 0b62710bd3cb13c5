#include <mcpac.hpp>
enum class Size : int { small = 3, large = 40 };
enum Plain { kFew = 2 };
constexpr int square(int n) { return n * n; }
consteval int next(int n) { return n + 1; }
template <int N> struct Box { static constexpr int value = N * 2; };
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  constexpr int base = 10;
  const auto shifted = 1 << 4;
  rt.filesystem.read_text_file({.path = "n", .head = base * 2 + 1});  // use: filesystem.read_text_file {"head": 21, "path": "n"}
  rt.filesystem.read_text_file({.path = "n", .head = square(5)});  // use: filesystem.read_text_file {"head": 25, "path": "n"}
  rt.filesystem.read_text_file({.path = "n", .head = next(6)});  // use: filesystem.read_text_file {"head": 7, "path": "n"}
  rt.filesystem.read_text_file({.path = "n", .head = static_cast<int>(Size::large)});  // use: filesystem.read_text_file {"head": 40, "path": "n"}
  rt.filesystem.read_text_file({.path = "n", .head = kFew + 0});  // use: filesystem.read_text_file {"head": 2, "path": "n"}
  rt.filesystem.read_text_file({.path = "n", .head = Box<4>::value});  // use: filesystem.read_text_file {"head": 8, "path": "n"}
  rt.filesystem.read_text_file({.path = "n", .head = shifted});  // use: filesystem.read_text_file {"head": 16, "path": "n"}
  rt.filesystem.read_text_file({.path = "n", .head = -base});  // use: filesystem.read_text_file {"head": -10, "path": "n"}
  rt.filesystem.read_text_file({.path = "n", .head = 2.5});  // use: filesystem.read_text_file {"head": 2.5, "path": "n"}
  rt.filesystem.read_text_file({.path = "n", .head = static_cast<unsigned char>(300)});  // use: filesystem.read_text_file {"head": 44, "path": "n"}
  rt.filesystem.read_text_file({.path = "n", .head = sizeof(Size)});  // use: filesystem.read_text_file {"head": 4, "path": "n"}
  return 0;
}
