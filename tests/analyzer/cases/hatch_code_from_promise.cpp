#include <mcpac.hpp>
#include <coroutine>
struct Frame {
  void (*resume)();
  void (*destroy)();
  int promise;
};
using Handle = std::coroutine_handle<int>;
void jump(Frame& frame) {
  Handle::from_promise(frame.promise).resume();  // expect: refuses code-pointer
  constexpr auto make = &Handle::from_promise;  // expect: refuses code-pointer
  make(frame.promise).resume();
}
struct Task {
  struct promise_type {
    Task get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;
};
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
