#include <mcpac.hpp>
#include <memory>
#include <variant>
template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
struct Sum;
using Expression = std::variant<double, std::string, std::shared_ptr<Sum>>;
struct Sum {
  Expression left;
  Expression right;
};
double evaluate(const Expression& expression, const auto& lookup) {
  return std::visit(Overloaded{[](double value) { return value; },
                               [&](const std::string& name) { return lookup(name); },
                               [&](const std::shared_ptr<Sum>& sum) { return evaluate(sum->left, lookup) + evaluate(sum->right, lookup); }},
                    expression);
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  const Expression tree = std::make_shared<Sum>(Sum{1.5, std::string("x")});
  const auto lookup = [&](const std::string& name) {
    return static_cast<double>(rt.filesystem.read_text_file({.path = name + ".txt"}).text().size());  // use: filesystem.read_text_file {"path": "?"}
  };
  return evaluate(tree, lookup) > 1.0 ? 0 : 1;
}
