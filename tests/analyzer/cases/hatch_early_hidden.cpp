// Code that runs before the entry and that no call of the program's text shows.
#include <mcpac.hpp>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>
int count() { return 1; }
struct Counted {
  int number = count();  // expect: note early-code // expect: note early-code
};
struct Loud {
  Loud() { count(); }
  explicit Loud(int n) { (void)n; }
};
struct Inner {
  Counted counted;
};
Counted counted{};
Inner inner{};
std::vector<Loud> three(3);  // expect: note early-code
int invoked = std::invoke([] { return count(); });  // expect: note early-code // expect: note early-code
int by_name = std::invoke(count);  // expect: note early-code
[[foo::constexpr]] int marked = count();  // expect: note early-code
std::map<std::string, std::function<int()>> handlers{{"a", [] { return count(); }}};
std::vector<Loud> none;
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return counted.number + inner.counted.number + invoked + by_name + marked + static_cast<int>(three.size() + none.size());
}
