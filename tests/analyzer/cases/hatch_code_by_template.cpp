// Templates of the library that make a void* of an object with code in it.
#include <mcpac.hpp>
#include <functional>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>
struct Shape {
  virtual ~Shape() = default;
};
struct Taker {
  void operator()(void* bytes) const { static_cast<char*>(bytes)[0] = 1; }
};
void take(void* bytes) { static_cast<char*>(bytes)[0] = 1; }
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  Shape shape;
  std::vector<Shape*> shapes{&shape};
  const std::function<void(void*)> function = take;
  std::invoke(function, &shape);  // expect: refuses code-pointer
  std::invoke(Taker(), &shape);  // expect: refuses code-pointer
  std::invoke([](void* bytes) { take(bytes); }, &shape);  // expect: refuses code-pointer
  std::apply(take, std::tuple<Shape*>(&shape));  // expect: refuses code-pointer
  const std::vector<void*> all(shapes.begin(), shapes.end());  // expect: refuses code-pointer
  const std::tuple<void*> one = std::tuple<Shape*>(&shape);  // expect: refuses code-pointer
  const std::shared_ptr<void> owned = std::make_shared<Shape>();  // expect: refuses code-pointer
  void* spare = nullptr;
  std::exchange(spare, shapes.front());  // expect: refuses code-pointer
  const auto thrown = std::make_exception_ptr(&shape);  // expect: refuses code-pointer
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return static_cast<int>(all.size()) + (thrown ? 1 : 0);
}
