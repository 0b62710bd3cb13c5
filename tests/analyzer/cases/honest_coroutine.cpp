#include <mcpac.hpp>
#include <coroutine>
struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};
Task work(mcpac::Requires<mcp::filesystem::read_text_file> rt) {
  rt.filesystem.read_text_file({.path = "c"});  // use: filesystem.read_text_file {"path": "c"}
  co_return;
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  work(rt);
  return 0;
}
