#include <mcpac.hpp>
#include <coroutine>
struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};
Task agent_main(mcpac::Requires<mcp::memory::read_graph> rt) {  // declared: memory.read_graph // expect: refuses entry-form
  rt.memory.read_graph();  // use: memory.read_graph {}
  co_return;
}
