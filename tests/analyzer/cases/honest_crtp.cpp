#include <functional>
#include <memory>
#include <vector>

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
// What derives may hold the capability: it is cast to itself.
template <class Derived>
class Task {
 public:
  std::string run() { return static_cast<Derived*>(this)->perform(); }
  std::string again() const { return static_cast<const Derived&>(*this).perform(); }
  // A copy of the base: its data alone is read.
  std::string counted() {
    auto before = *this;
    const Task start(*this);
    auto& self = static_cast<Derived&>(*this);
    ++count;
    return self.perform() + std::to_string(count - before.count + start.count);
  }
  std::string deduced(this auto& self) { return self.perform(); }

 private:
  int count = 0;
};
template <class Derived>
class Logged : public Task<Derived> {
 public:
  std::string logged() const { return "log: " + static_cast<const Derived*>(this)->perform(); }
};
class Held : public Logged<Held> {
 public:
  explicit Held(const mcpac::Requires<mcp::filesystem::read_text_file>& rt) : rt_(rt) {}
  std::string perform() const { return rt_.filesystem.read_text_file({.path = "held.txt"}).text(); }  // use: filesystem.read_text_file {"path": "held.txt"}
  Logged<Held>& as_logged() { return static_cast<Logged<Held>&>(*this); }

 private:
  mcpac::Requires<mcp::filesystem::read_text_file> rt_;
};
class Other : public Logged<Other> {
 public:
  std::string perform() const { return ""; }
};
// Pointers to the base lead to objects of what derives from it.
template <class Derived>
class Shape {
 public:
  virtual ~Shape() = default;
  std::string draw() { return static_cast<Derived*>(this)->perform(); }
};
class Square : public Shape<Square> {
 public:
  explicit Square(const mcpac::Requires<mcp::filesystem::read_text_file>& rt) : rt_(rt) {}
  std::string perform() const { return rt_.filesystem.read_text_file({.path = "square.txt"}).text(); }  // use: filesystem.read_text_file {"path": "square.txt"}

 private:
  mcpac::Requires<mcp::filesystem::read_text_file> rt_;
};
std::string by_pointers(const mcpac::Requires<mcp::filesystem::read_text_file>& rt) {
  std::shared_ptr<Shape<Square>> shared = std::make_shared<Square>(rt);
  std::weak_ptr<Shape<Square>> weak = shared;
  std::unique_ptr<Shape<Square>> unique = std::make_unique<Square>(rt);
  std::vector<std::unique_ptr<Shape<Square>>> all;
  all.push_back(std::move(unique));
  all.emplace_back(std::make_unique<Square>(rt));
  std::reference_wrapper<Shape<Square>> wrapped = *shared;
  Square square(rt);
  Shape<Square>& base = square;
  auto drawn = [&base] { return base.draw(); };
  if (shared == nullptr || weak.expired()) return "";
  return shared->draw() + all.front()->draw() + wrapped.get().draw() + drawn() + std::invoke(&Shape<Square>::draw, base);
}
template <class... Steps>
std::string all(const auto& rt, const Steps&... steps) {
  return (steps.run(rt) + ...);
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  Held held(rt);
  Other other;
  if (by_pointers(rt).empty()) return 3;
  if (held.run() + held.again() + held.logged() + held.as_logged().run() + other.run() + held.counted() + held.deduced() == "") return 2;
  return all(rt, ReadStep{}, CountStep{}).empty() || ReadStep::name() == CountStep::name() ? 1 : 0;
}
