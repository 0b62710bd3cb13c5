// The initialiser of a variable template holds a lambda that is instantiated where it is named; libclang shows
// nothing of it.
#include <mcpac.hpp>
using Rt = mcpac::Requires<mcp::filesystem::read_text_file>;
template <class T>
const auto kRead = [](Rt rt) {  // expect: refuses hidden-body
  return rt.filesystem.read_text_file({.path = "a"}).text();  // use: filesystem.read_text_file {"path": "a"}
};
struct Holder {
  template <class T>
  static inline const auto kOther = [](Rt rt) {  // expect: refuses hidden-body
    return rt.filesystem.read_text_file({.path = "b"}).text();  // use: filesystem.read_text_file {"path": "b"}
  };
};
template <class T>
constexpr T kPlain[] = {T(1), T(2)};
int agent_main(Rt rt) {  // declared: filesystem.read_text_file
  return kRead<int>(rt).empty() && Holder::kOther<int>(rt).empty() && kPlain<int>[0] == 1;
}
