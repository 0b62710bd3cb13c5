// A conversion template finds out the type of the connection from a constructor that takes one.
#include <mcpac.hpp>
#include <memory>
#include <utility>
struct Any {
  template <class T>
  operator T&() const {  // expect: refuses detail-name
    static auto made = std::make_unique<T>(3);  // expect: refuses detail-name
    return *made;  // expect: refuses detail-name
  }
};
using Result = decltype(std::declval<mcpac::Requires<mcp::filesystem::read_text_file>&>().filesystem.read_text_file({.path = "a"}));
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file // unused: filesystem.read_text_file
  const mcpac::Future<Result> forged(Any{}, nullptr, "x");  // expect: refuses detail-name
  return forged.valid() ? 0 : 1;
}
