// An address of code inside of a class is as good as one of its own.
#include <mcpac.hpp>
#include <array>
#include <coroutine>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
struct Calls {
  void (*function)();
};
struct Deep {
  int number;
  std::array<Calls, 2> calls;
};
struct Member {
  void (Deep::*function)();
};
struct Shape {
  virtual ~Shape() = default;
  virtual void draw() {}
};
struct Square : Shape {};
struct Owner {
  Shape* shape;
};
template <class T>
struct Box {
  void (*function)();
  T value;
};
template <class A, class B>
union Either {
  A a;
  B b;
};
union Named {
  long number[2];
  Calls calls;  // expect: refuses code-pointer
};
long words[64];
auto by_bits(unsigned long n) { return std::bit_cast<Calls>(n); }  // expect: refuses code-pointer
auto member_by_bits(std::array<long, 2> n) { return std::bit_cast<Member>(n); }  // expect: refuses code-pointer
auto object_by_bits(unsigned long n) { return std::bit_cast<Shape*>(n); }  // expect: refuses code-pointer
auto box_by_bits(std::array<long, 2> n) { return std::bit_cast<Box<long>>(n); }  // expect: refuses code-pointer
void copy(Deep& to) { std::memcpy(&to, words, sizeof to); }  // expect: refuses code-pointer
void copy_box(Box<int>& to) { std::memcpy(&to, words, sizeof to); }  // expect: refuses code-pointer
void copy_table(Shape& to) { std::memcpy(static_cast<void*>(&to), words, 8); }  // expect: refuses code-pointer
void copy_derived(Square& to) { std::memmove((void*)&to, words, 8); }  // expect: refuses code-pointer
void copy_function(std::function<void()> to) { std::memcpy((void*)&to, words, 8); }  // expect: refuses code-pointer
void copy_shared(std::shared_ptr<int>& to) { std::memcpy((void*)&to, words, 8); }  // expect: refuses code-pointer
void copy_pointer(Owner& to) { std::memcpy(&to, words, 8); }  // expect: refuses code-pointer
Shape* forged() { return reinterpret_cast<Shape*>(words); }  // expect: refuses code-pointer
Shape& referred() { return reinterpret_cast<Shape&>(words[0]); }  // expect: refuses code-pointer
Calls* by_void(void* bytes) { return static_cast<Calls*>(bytes); }  // expect: refuses code-pointer
long* looked_into(Deep* deep) { return reinterpret_cast<long*>(deep); }  // expect: refuses code-pointer
void placed(Shape* shape) { ::new (shape) std::array<long, 1>{words[0]}; }  // expect: refuses code-pointer
void resumed(void* frame) { std::coroutine_handle<>::from_address(frame).resume(); }  // expect: refuses code-pointer
void kept(std::coroutine_handle<>& to) { std::memcpy(&to, words, 8); }  // expect: refuses code-pointer
void scanned(Calls& to) { std::sscanf("1", "%p", &to); }  // expect: refuses code-pointer
void listed(int count, ...) {
  std::va_list arguments;
  va_start(arguments, count);
  va_arg(arguments, void (*)())();  // expect: refuses code-pointer
  va_arg(arguments, Calls).function();  // expect: refuses code-pointer
  va_end(arguments);
}
void either(unsigned long n) {
  Either<unsigned long, void (*)()> both{n};
  both.b();  // expect: refuses code-pointer
}
auto cast_shared(std::shared_ptr<void> p) { return std::static_pointer_cast<Shape>(p); }  // expect: refuses code-pointer // expect: refuses code-pointer
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
void in_place(Shape* shape) { reinterpret_cast<long&>(shape) = words[0]; }  // expect: refuses code-pointer
void in_c(Calls& calls) { (long&)calls = words[0]; }  // expect: refuses code-pointer
void* whole(Shape* shape) { return dynamic_cast<void*>(shape); }  // expect: refuses code-pointer
