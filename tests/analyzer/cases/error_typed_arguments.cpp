// Which argument does not fit, and what its type is, in every form of a call.
// verdict: compile_error
#include <mcpac.hpp>
using namespace mcp;
using R = mcpac::Requires<filesystem::read_text_file, filesystem::edit_file, filesystem::list_directory, filesystem::read_multiple_files>;
int agent_main(R rt) {
  const int n = 5;
  const std::vector<std::string> list;
  const std::string text;
  std::optional<std::string> maybe;
  rt.filesystem.read_text_file({.path = n});  // expect: refuses compile-error // message: `path` is text (std::string), not a number (`n` is a `const int`) // fix: ({.path = std::to_string(n)})
  rt.filesystem.read_text_file.async({.path = n});  // expect: refuses compile-error // message: `path` is text (std::string), not a number (`n` is a `const int`)
  rt.filesystem.read_text_file.try_call({.path = list});  // expect: refuses compile-error // message: not a list (`list` is a `std::vector<std::string>`)
  rt.filesystem.read_text_file.try_call({.path = "a", .head = list[0]});  // expect: refuses compile-error // message: `head` is a number (double), not text (`list[0]` is a `std::string`) // fix: std::stod(list[0])
  rt.filesystem.read_text_file.async(text);  // expect: refuses compile-error // message: the arguments of `filesystem.read_text_file` stand in braces with their names // fix: ({.path = text})
  rt.filesystem.read_text_file({.path = rt.filesystem.list_directory({.path = "."})});  // expect: refuses compile-error // message: `path` is text (std::string), not the result of filesystem.list_directory // fix: .text()})
  rt.filesystem.read_text_file({.path = rt.filesystem.list_directory.async({.path = "."})});  // expect: refuses compile-error // message: not a future // fix: .get().text()})
  rt.filesystem.edit_file({.path = "a", .edits = {{.oldText = n, .newText = "y"}}});  // expect: refuses compile-error // message: `edits[0].oldText` is text (std::string), not a number
  rt.filesystem.read_multiple_files({.paths = text});  // expect: refuses compile-error // message: `paths` is a list // fix: ({.paths = {text}})
  rt.filesystem.read_multiple_files.async({.paths = {text, n}});  // expect: refuses compile-error // message: `paths[1]` is text
  rt.filesystem.read_text_file.try_call({.path = maybe});  // expect: refuses compile-error // message: `path` is text (std::string), and `maybe` is a `std::optional<std::string>`
  const auto& read = rt.filesystem.read_text_file;
  read.async({.pth = "a"});  // expect: refuses compile-error // message: did you mean `path`?
  return 0;
}
