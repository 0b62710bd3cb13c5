// Two hundred calls in flight on one connection; answers come in any order and each finds its call.
#include <format>
#include <print>
#include <string>
#include <vector>

#include <mcpac.hpp>

using namespace mcp;

int agent_main(mcpac::Requires<everything::get_sum> rt) {
  using Sum = everything::get_sum;
  std::vector<mcpac::Future<Sum::Result>> pending;
  for (int i = 0; i < 200; ++i) pending.push_back(rt.everything.get_sum.async({.a = i, .b = 1000}));

  int wrong = 0;
  for (int i = 0; i < 200; ++i) {
    const std::string expected = std::format(" is {}.", i + 1000);
    if (!pending[static_cast<std::size_t>(i)].get().text().ends_with(expected)) ++wrong;
  }
  std::println("200 calls, {} wrong answers", wrong);
  return wrong == 0 ? 0 : 1;
}
