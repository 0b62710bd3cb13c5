#include <mcpac.hpp>
#include <coroutine>
#include <iterator>
#include <utility>
template <class T>
class Generator {
 public:
  struct promise_type {
    T value{};
    Generator get_return_object() { return Generator{std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    template <std::convertible_to<T> From>
    std::suspend_always yield_value(From&& from) {
      value = std::forward<From>(from);
      return {};
    }
    void return_void() {}
    void unhandled_exception() { throw; }
  };
  Generator(Generator&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  ~Generator() {
    if (handle_) handle_.destroy();
  }
  struct Iterator {
    std::coroutine_handle<promise_type> handle;
    Iterator& operator++() {
      handle.resume();
      return *this;
    }
    const T& operator*() const { return handle.promise().value; }
    bool operator==(std::default_sentinel_t) const { return handle.done(); }
  };
  Iterator begin() {
    handle_.resume();
    return {handle_};
  }
  std::default_sentinel_t end() const { return {}; }

 private:
  explicit Generator(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};
Generator<int> fibonacci(int limit) {
  int a = 0;
  int b = 1;
  while (a < limit) {
    co_yield a;
    a = std::exchange(b, a + b);
  }
}
int agent_main(mcpac::Requires<mcp::filesystem::write_file> rt) {  // declared: filesystem.write_file
  std::string text;
  for (const int n : fibonacci(100)) text += std::to_string(n) + "\n";
  rt.filesystem.write_file({.path = "fibonacci.txt", .content = text});  // use: filesystem.write_file {"content": "?", "path": "fibonacci.txt"}
  return 0;
}
