// What a future, a try_call and a kind of error do not have.
// verdict: compile_error
#include <mcpac.hpp>
#include <string>
using namespace mcp;
int agent_main(mcpac::Requires<filesystem::read_text_file> rt) {
  auto future = rt.filesystem.read_text_file.async({.path = "a"});
  if (future.wait_foor(1)) return 1;  // expect: refuses compile-error // message: which has no `wait_foor`; did you mean `wait_for`? // fix: a future has .get(), .wait(), .ready(), .valid(), .wait_for(), .wait_until(time)
  (void)future.then([] {});  // expect: refuses compile-error // message: which has no `then` // fix: a future has .get()
  (void)future.lines();  // expect: refuses compile-error // message: which has no `lines` // fix: .get().lines
  const auto r = rt.filesystem.read_text_file.try_call({.path = "a"});
  (void)r.map([] {});  // expect: refuses compile-error // message: returns a result or an error, not `map` // fix: it has .has_value, .value, .error, .value_or, .transform
  (void)r.transfrom([] {});  // expect: refuses compile-error // message: did you mean `transform`?
  (void)r.lines();  // expect: refuses compile-error // fix: if (r) r->lines; else
  const auto kind = r.error().kind();
  if (kind == mcpac::ErrorKind::tool_failed) return 1;  // expect: refuses compile-error // message: `tool_failed` is no kind of error; did you mean `mcpac::ErrorKind::tool`? // fix: the kinds are denied, invalid_arguments, tool,
  if (kind == mcpac::Error::Kind::DeniedError) return 1;  // expect: refuses compile-error // message: did you mean `mcpac::ErrorKind::denied`?
  if (kind == "tool_eror") return 1;  // expect: refuses compile-error // message: the text is no kind of error // fix: mcpac::ErrorKind::tool
  return kind == std::string("tool") ? 1 : 0;  // expect: refuses compile-error // message: a kind is compared with a kind
}
