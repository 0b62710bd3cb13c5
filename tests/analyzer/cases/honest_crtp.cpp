#include <mcpac.hpp>
template <class Derived>
class Step {
 public:
  std::string run(const auto& rt) const { return static_cast<const Derived&>(*this).perform(rt); }
  static constexpr std::string_view name() { return Derived::kName; }
};
class ReadStep : public Step<ReadStep> {
 public:
  static constexpr std::string_view kName = "read";
  std::string perform(const auto& rt) const { return rt.filesystem.read_text_file({.path = "in.txt"}).text(); }  // use: filesystem.read_text_file {"path": "in.txt"}
};
class CountStep : public Step<CountStep> {
 public:
  static constexpr std::string_view kName = "count";
  std::string perform(const auto&) const { return "0"; }
};
template <class... Steps>
std::string all(const auto& rt, const Steps&... steps) {
  return (steps.run(rt) + ...);
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  return all(rt, ReadStep{}, CountStep{}).empty() || ReadStep::name() == CountStep::name() ? 1 : 0;
}
