#include <mcpac.hpp>
#include <vector>
#define LIMIT 3
#define EACH(i, n) for (int i = 0; i < (n); ++i)
#define ALL(x, list) for (const auto& x : (list))
#define RUN(...) [&] { __VA_ARGS__; }()
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  int count = 0;
  const std::vector<int> numbers{1, 2};
  EACH(i, LIMIT) count += i;
  ALL(n, numbers) count += n;
  for (int i = 0; i < LIMIT; ++i) ++count;
  for (const int n : [&] { auto more = numbers; more.push_back(3); return more; }()) count += n;
  RUN(++count);
  switch (const int rest = count % LIMIT) {
    case 0: return 0;
    default: count = rest;
  }
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return count;
}
