// A required list that is left out is the same as `= {}` to C++.
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <mcpac.hpp>
using namespace mcp;
using Args = filesystem::edit_file::Args;
using Entities = memory::create_entities::Args::Entities;
template <class R>
void in_template(R& rt) {
  rt.filesystem.edit_file({.path = "d"});  // expect: refuses left-out-argument // use: filesystem.edit_file {"path": "d"} // message: required argument `edits` (std::vector<Args::Edits>) of `filesystem.edit_file` is missing
}
std::vector<Entities> list() {
  return {{.name = "a", .entityType = "t"}};  // expect: refuses left-out-argument
}
using mcpac::Json;
void fill(filesystem::read_text_file::Args& args) { *args.path = "a"; }
int agent_main(mcpac::Requires<filesystem::edit_file, memory::create_entities> rt) {  // declared: filesystem.edit_file // declared: memory.create_entities
  filesystem::read_multiple_files::Args by_binding;
  auto& [paths] = by_binding;
  std::ranges::copy(std::vector<std::string>{"a"}, std::back_inserter(paths));
  filesystem::list_directory::Args by_member;
  by_member.*(&filesystem::list_directory::Args::path) = "a";
  filesystem::write_file::Args by_library;
  Json{{"path", "a"}, {"content", "b"}}.get_to(by_library);
  filesystem::read_multiple_files::Args begun{};
  begun.paths.push_back("a");
  filesystem::read_text_file::Args by_function;
  fill(by_function);
  filesystem::list_directory_with_sizes::Args moved;  // expect: refuses left-out-argument // message: required argument `path`
  const auto elsewhere = std::move(moved);
  (void)elsewhere;
  rt.filesystem.edit_file({.path = "a"});  // expect: refuses left-out-argument // use: filesystem.edit_file {"path": "a"} // message: required argument `edits` (std::vector<Args::Edits>) of `filesystem.edit_file` is missing // fix: .edits = {} is the empty one
  (void)rt.memory.create_entities.async({});  // expect: refuses left-out-argument // use: memory.create_entities
  rt.memory.create_entities({.entities = {{.name = "n", .entityType = "t"}}});  // expect: refuses left-out-argument // use: memory.create_entities {"entities": [{"name": "n", "entityType": "t"}]} // message: required field `observations` (std::vector<std::string>) of `entities[0]` of `memory.create_entities` is missing
  Entities one{.name = "n", .entityType = "t"};  // expect: refuses left-out-argument
  std::vector<Entities> more{{.name = "n", .entityType = "t", .observations = {}}};
  more.push_back({.name = "n", .entityType = "t"});  // expect: refuses left-out-argument
  more.push_back(std::move(one));
  rt.memory.create_entities({.entities = more});  // use: memory.create_entities {"entities": "?"}
  rt.memory.create_entities({.entities = list()});  // use: memory.create_entities {"entities": "?"}
  Args args;  // expect: refuses left-out-argument // message: required argument `edits` // fix: give `edits` a value before the call
  args.path = "a";
  rt.filesystem.edit_file(args);  // use: filesystem.edit_file {"path": "?", "edits": "?", "dryRun": "?"}
  in_template(rt);
  return 0;
}
