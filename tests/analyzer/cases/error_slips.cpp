// What is mistaken most around results, futures and servers.
// verdict: compile_error
#include <mcpac.hpp>
#include <vector>
using namespace mcp;
mcpac::Json agent_main(mcpac::Requires<filesystem::read_text_file> rt) {
  const auto result = rt.filesystem.read_text_file({.path = "a"});
  for (const auto& block : result.content) (void)block;  // expect: refuses compile-error // message: `content` is a function, and here it is not called // fix: write .content()
  const auto size = result.text.size();  // expect: refuses compile-error // message: `text` is a function // fix: write .text()
  std::vector<std::string> lines = result;  // expect: refuses compile-error // message: the result of filesystem.read_text_file is no list // fix: .lines()
  auto future = rt.filesystem.read_text_file.async({.path = "a"});
  const auto later = [future]() mutable { return future.get(); };  // expect: refuses compile-error // message: a future is read once, so it can be moved and not copied // fix: [f = std::move(f)]
  std::vector<mcpac::Future<filesystem::read_text_file::Result>> all;
  all.push_back(future);  // expect: refuses compile-error // message: can be moved and not copied
  rt.read_text_file({.path = "a"});  // expect: refuses compile-error // message: `read_text_file` is a tool of the server `filesystem` // fix: write rt.filesystem.read_text_file(…)
  rt.write_file({.path = "a"});  // expect: refuses compile-error // message: is a tool of the server `filesystem` // fix: , and mcp::filesystem::write_file in the Requires
  rt.connect("host:80");  // expect: refuses compile-error // message: `connect` is a function of rt.network // fix: and mcpac::network in the Requires
  mcpac::connect("host:80");  // expect: refuses compile-error // message: an agent connects to a host through its capability
  mcpac::Json json;
  const mcpac::Json direct = result;  // expect: refuses compile-error // message: the result of filesystem.read_text_file is no mcpac::Json
  json["answer"] = result;  // expect: refuses compile-error // message: is no mcpac::Json // fix: result.text() is its text
  if (size > 3) return result;  // expect: refuses compile-error // message: the result of filesystem.read_text_file is no mcpac::Json
  return {{"all", {{"answer", result}}}};  // expect: refuses compile-error // message: the result of filesystem.read_text_file is no mcpac::Json
}
int count(mcpac::Requires<mcpac::network> rt) {
  const auto open = rt.network.connect("host:80");  // expect: refuses compile-error // message: host and port are two arguments // fix: rt.network.connect("host", 443)
  return open.is_open() ? 0 : 1;
}
