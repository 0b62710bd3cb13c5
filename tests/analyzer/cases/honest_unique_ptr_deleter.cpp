#include <mcpac.hpp>
#include <cstdlib>
#include <memory>
struct Freer {
  void operator()(void* memory) const { std::free(memory); }
};
struct Node {
  int value = 0;
  std::unique_ptr<Node> next;
};
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  const std::unique_ptr<char[], Freer> buffer(static_cast<char*>(std::malloc(64)));
  if (!buffer) return 1;
  buffer[0] = 'x';
  int released = 0;
  {
    const auto release = [&](int* p) {
      ++released;
      delete p;
    };
    const std::unique_ptr<int, decltype(release)> number(new int(3), release);
  }
  auto list = std::make_unique<Node>(Node{1, std::make_unique<Node>(Node{2, nullptr})});
  const std::weak_ptr<Node> weak = std::shared_ptr<Node>(std::move(list));
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return released == 1 && weak.expired() ? 0 : 1;
}
