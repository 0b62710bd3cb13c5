// What C++23 has and libc++ 19 has not.
// verdict: compile_error
#include <algorithm>
#include <chrono>
#include <functional>
#include <mcpac.hpp>
#include <numeric>
#include <ranges>
#include <thread>
#include <vector>
int agent_main(mcpac::Requires<> rt) {
  std::vector<int> v{1, 2};
  for (auto [i, x] : std::views::enumerate(v)) (void)i;  // expect: refuses compile-error // message: the library, libc++ 19, has no `enumerate` yet // fix: mcpac::views::enumerate is the same
  auto pairs = v | std::views::pairwise;  // expect: refuses compile-error // fix: mcpac::views::pairwise
  auto odd = v | std::ranges::views::stride(2);  // expect: refuses compile-error // fix: mcpac::views::stride
  std::ranges::iota(v, 0);  // expect: refuses compile-error // fix: std::iota(range.begin(), range.end(), 0)
  auto sum = std::ranges::fold_right(v, 0, std::plus{});  // expect: refuses compile-error // fix: fold_left(range | std::views::reverse
  using Function = std::move_only_function<int()>;  // expect: refuses compile-error // fix: std::function
  return 0;
}
