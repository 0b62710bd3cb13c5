#include <mcpac.hpp>
#include <coroutine>
#include <functional>
#include <iostream>
#include <print>
struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};
// Where a frame lies may be shown and compared.
struct Step {
  struct promise_type {
    Step get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;
};
struct Switch {
  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> next) { return next; }
  void await_resume() {}
};
Step step() { co_await Switch{}; }
std::size_t shown(std::coroutine_handle<> handle) {
  std::println("{}", handle.address());
  std::cout << handle.address();
  std::printf("%p", handle.address());
  const void* where = handle.address();
  if (handle.address() == where && handle.address() != nullptr && handle.address())
    return std::hash<void*>{}(handle.address());
  return 0;
}
Task work(mcpac::Requires<mcp::filesystem::read_text_file> rt) {
  rt.filesystem.read_text_file({.path = "c"});  // use: filesystem.read_text_file {"path": "c"}
  co_return;
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  work(rt);
  shown(step().handle);
  return 0;
}
