// The first bytes of a coroutine's frame say which function goes on.
#include <coroutine>
#include <cstring>
#include <functional>
struct Task {
  struct promise_type {
    Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;
};
Task work() { co_return; }
int main() {  // expect: note no-capability
  const auto handle = work().handle;
  const std::coroutine_handle<> erased = handle;
  void* frame = erased.address();  // expect: refuses code-pointer // message: the frame of a coroutine
  static_cast<void**>(handle.address())[0] = frame;  // expect: refuses code-pointer
  std::memcpy(handle.address(), "12345678", 8);  // expect: refuses code-pointer
  const auto number = reinterpret_cast<unsigned long>(erased.address());  // expect: refuses code-pointer
  const auto member = &std::coroutine_handle<>::address;  // expect: refuses code-pointer
  const auto generic = [](auto of) { return of.address(); };  // expect: refuses code-pointer
  static_cast<long*>((erased.*member)())[0] = 1;
  return generic(erased) == std::invoke(member, erased) ? static_cast<int>(number) : 0;
}
