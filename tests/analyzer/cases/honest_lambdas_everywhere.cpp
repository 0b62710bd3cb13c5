#include <mcpac.hpp>
#include <algorithm>
#include <functional>
#include <map>
const std::map<std::string, std::function<double(double, double)>> kOperators{
    {"+", [](double a, double b) { return a + b; }},
    {"-", [](double a, double b) { return a - b; }},
    {"*", std::multiplies<>{}},
};
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  auto memo = [cache = std::map<std::string, std::string>{}, rt](const std::string& path) mutable -> const std::string& {
    auto [at, fresh] = cache.try_emplace(path);
    if (fresh) at->second = rt.filesystem.read_text_file({.path = path}).text();  // use: filesystem.read_text_file {"path": "?"}
    return at->second;
  };
  const auto factorial = [](this auto self, int n) -> int { return n <= 1 ? 1 : n * self(n - 1); };
  const auto compose = [](auto... f) { return [=](auto x) { ((x = f(x)), ...); return x; }; };
  const int value = compose([](int n) { return n + 1; }, [](int n) { return n * 2; })(factorial(4));
  return memo("a").size() == memo("a").size() && kOperators.at("+")(1, 2) == 3 ? value - 50 : 1;
}
