// The bytes of a capability, through what the library offers for bytes and through references.
#include <mcpac.hpp>
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <variant>
#include <vector>
using R = mcpac::Requires<mcp::filesystem::read_text_file>;
struct Keep {
  R rt;
  int count;
};
struct Other {
  char bytes[400];
};
struct Behind : Other {
  R rt;
};
using OtherReference = Other&;
template <class T>
union Shared {
  T value;
  char bytes[sizeof(T)];
  explicit Shared(const T& of) : value(of) {}
  ~Shared() {}
};
struct Taker {
  explicit Taker(void* to) : at(to) {}
  void* at;
};
void raw(void* to) { static_cast<char*>(to)[0] = 1; }
void listed(int count, ...) {
  std::va_list rest;
  va_start(rest, count);
  va_arg(rest, char*)[0] = 1;
  va_end(rest);
}
std::vector<std::byte> spans(R rt) {
  std::vector<R> many{rt};
  Keep keep{rt, 1};
  auto written = std::as_writable_bytes(std::span(many));  // expect: refuses capability-cast
  auto kept = std::as_writable_bytes(std::span(&keep, 1));  // expect: refuses capability-cast
  auto files = std::as_writable_bytes(std::span(&rt.filesystem, 1));  // expect: refuses capability-cast
  const auto generic = [](auto of) { return std::as_writable_bytes(of); };  // expect: refuses capability-cast
  generic(std::span(&rt, 1));
  std::vector<std::byte> out(sizeof(R));
  std::ranges::copy(std::as_bytes(std::span(&rt, 1)), out.begin());  // expect: refuses capability-cast
  written[0] = kept[0] = files[0];
  return out;
}
void library(R rt) {
  std::invoke(raw, &rt);  // expect: refuses capability-cast
  std::vector<R*> pointers{&rt};
  std::vector<void*> voids(pointers.begin(), pointers.end());  // expect: refuses capability-cast
  std::ranges::for_each(pointers, raw);  // expect: refuses capability-cast
  std::optional<Taker> taken;
  taken.emplace(&rt);  // expect: refuses capability-cast
  auto constant = std::const_pointer_cast<R>(std::make_shared<const R>(rt));  // expect: refuses capability-cast
  auto seen = std::reinterpret_pointer_cast<char>(constant);  // expect: refuses capability-cast
  const std::variant<void*, int> chosen(&rt);  // expect: refuses capability-cast
  alignas(R) char buffer[4096];
  std::pmr::monotonic_buffer_resource pool(buffer, sizeof buffer);
  std::pmr::vector<R> pooled(&pool);  // expect: refuses code-pointer // expect: refuses code-pointer
  buffer[0] = seen.get()[0];
}
void references(R rt, const R& fixed, Other& other) {
  auto& looked = (Other&)rt;  // expect: refuses capability-cast
  auto& called = OtherReference(rt);  // expect: refuses capability-cast
  auto& forged = (Behind&)other;  // expect: refuses capability-cast
  auto& derived = static_cast<Behind&>(other);  // expect: refuses capability-cast
  auto& mutated = (R&)fixed;  // expect: refuses capability-cast
  auto* pointed = (R*)&fixed;  // expect: refuses capability-cast
  looked.bytes[0] = called.bytes[0];
  forged = derived;
  mutated = *pointed;
}
int agent_main(R rt) {  // declared: filesystem.read_text_file
  Shared<R> shared(rt);
  shared.bytes[0] = 1;
  shared.value.filesystem.read_text_file({.path = "a"});  // expect: refuses capability-cast // use: filesystem.read_text_file {"path": "a"}
  listed(1, &rt);  // expect: refuses capability-cast
  std::printf("%p", static_cast<const void*>(spans(rt).data()));
  library(rt);
  return 0;
}
