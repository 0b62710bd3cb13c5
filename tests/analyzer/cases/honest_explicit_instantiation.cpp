#include <mcpac.hpp>
template <class T>
struct Box {
  T value{};
};
template struct Box<std::vector<std::vector<int>>>;
template <class T>
int sized(T value) {
  return static_cast<int>(sizeof(value));
}
struct Odd {
  template <class T>
  T get() const {
    return T{};
  }
};
template <class T>
int of(const T& odd) {
  return odd.template get<int>();
}
const auto kUse = [] { return of(Odd{}) + sized(1); };
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
