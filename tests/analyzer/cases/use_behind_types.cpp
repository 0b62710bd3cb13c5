// What looks like part of a type and runs all the same, and what does not run.
#include <mcpac.hpp>
#include <print>
extern mcpac::Requires<mcp::filesystem::read_text_file> runtime;  // declared: filesystem.read_text_file
struct S {};
struct Text {
  static std::string text() { return "other"; }
};
#define ALL template <class T> struct Made { std::string s = runtime.filesystem.read_text_file({.path = T::text()}).text(); }; \
  void direct() { runtime.filesystem.read_text_file({.path = "x"}); }
ALL  // use: filesystem.read_text_file {"path": "x"} // use: filesystem.read_text_file {"path": "?", "head": "?", "tail": "?"} // expect: note dependent-call
int main() {
  using T = decltype(({
    struct Q {
      std::string x = runtime.filesystem.read_text_file({.path = "q"}).text();  // use: filesystem.read_text_file {"path": "q"}
    };
    Q{};
  }));
  T t;
  typedef int (S::*A)[runtime.filesystem.read_text_file({.path = "a"}).text().size()];  // use: filesystem.read_text_file {"path": "a"}
  typedef int (*(*C)())[runtime.filesystem.read_text_file({.path = "c"}).text().size()];  // use: filesystem.read_text_file {"path": "c"}
  decltype(runtime.filesystem.read_text_file({.path = "never"}).text()) empty;
  direct();
  std::println("{}{}{}", Made<Text>().s, t.x, empty);
  return 0;
}
