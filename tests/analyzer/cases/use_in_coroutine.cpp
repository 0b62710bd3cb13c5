#include <mcpac.hpp>
#include <coroutine>
#include <optional>
using R = mcpac::Requires<mcp::filesystem::read_text_file>;
class Lines {
 public:
  struct promise_type {
    std::string now;
    Lines get_return_object() { return Lines(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(std::string line) { now = std::move(line); return {}; }
    void return_void() {}
    void unhandled_exception() { throw; }
  };
  explicit Lines(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  ~Lines() { handle_.destroy(); }
  std::optional<std::string> next() {
    handle_.resume();
    if (handle_.done()) return std::nullopt;
    return handle_.promise().now;
  }

 private:
  std::coroutine_handle<promise_type> handle_;
};
Lines lines_of(R rt) {
  for (const auto& line : rt.filesystem.read_text_file({.path = "co"}).lines()) co_yield line;  // use: filesystem.read_text_file {"path": "co"}
}
int agent_main(R rt) {  // declared: filesystem.read_text_file
  auto lines = lines_of(rt);
  int count = 0;
  while (lines.next()) ++count;
  return count;
}
