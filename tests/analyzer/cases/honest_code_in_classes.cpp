#include <mcpac.hpp>
#include <coroutine>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <set>
struct Shape {
  virtual ~Shape() = default;
  virtual int area() const = 0;
};
struct Square : Shape {
  explicit Square(int s) : side(s) {}
  int area() const override { return side * side; }
  int side;
};
struct Handler {
  const char* name;
  int (*run)(int);
  std::function<int(int)> more;
};
struct Header {
  unsigned kind;
  unsigned size;
};
template <class T>
class Later {
 public:
  template <class... A>
  T& make(A&&... a) {
    made_ = true;
    return *::new (static_cast<void*>(std::addressof(value_))) T(std::forward<A>(a)...);
  }
  Later() : none_() {}
  ~Later() {
    if (made_) value_.~T();
  }

 private:
  union {
    char none_;
    T value_;
  };
  bool made_ = false;
};
template <class T>
T* room_for(std::size_t n) {
  return static_cast<T*>(std::malloc(n * sizeof(T)));
}
int twice(int n) { return n * 2; }
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  const auto text = rt.filesystem.read_text_file({.path = "a"}).text();  // use: filesystem.read_text_file {"path": "a"}
  const Handler handlers[] = {{"twice", twice, nullptr}, {"more", nullptr, [](int n) { return n; }}};
  Later<std::function<int()>> later;
  later.make([] { return 1; });
  auto* functions = room_for<Handler>(1);
  std::construct_at(functions, handlers[0]);
  std::destroy_at(functions);
  std::free(functions);
  std::unique_ptr<Shape> shape = std::make_unique<Square>(2);
  const auto* square = dynamic_cast<const Square*>(shape.get());
  const auto& same = static_cast<const Square&>(*shape);
  std::set<const void*> seen{shape.get()};
  std::cout << static_cast<const void*>(shape.get()) << (void*)shape.get() << "\n";
  Header header{};
  if (text.size() >= sizeof header) std::memcpy(&header, text.data(), sizeof header);
  std::string copy(text.size(), ' ');
  std::memcpy(copy.data(), text.data(), text.size());
  const auto* raw = reinterpret_cast<const unsigned char*>(text.data());
  return square != nullptr && same.area() == 4 && raw != nullptr ? handlers[0].run(header.kind != 0) : 1;
}
