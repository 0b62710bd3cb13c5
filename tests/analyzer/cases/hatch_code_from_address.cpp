#include <mcpac.hpp>
#include <coroutine>
struct Frame {
  void (*resume)();
  void (*destroy)();
};
void jump(Frame* frame) {
  std::coroutine_handle<>::from_address(frame).resume();  // expect: refuses code-pointer // expect: refuses code-pointer
}
void jump_by_splice(void* frame) {
  /* // expect: refuses code-pointer // */ std::coroutine_handle<>::from_\
address(frame).resume();
}
#define MADE from_address
void jump_by_macro(void* frame) {
  std::coroutine_handle<>::MADE(frame).resume();  // expect: refuses code-pointer
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
