// A field, a nested struct, an enumerator and a class of mcpac under another name.
// verdict: compile_error
#include <mcpac.hpp>
using namespace mcp;
int agent_main(mcpac::Requires<memory::create_entities, memory::read_graph, forms::everything> rt) {
  std::vector<memory::create_entities::Args::Entity> one;  // expect: refuses compile-error // message: did you mean `Entities`?
  std::vector<memory::create_entities::Args::Entitys> two;  // expect: refuses compile-error // message: did you mean `Entities`?
  const auto graph = rt.memory.read_graph();
  (void)graph.entitys;  // expect: refuses compile-error // message: the result of memory.read_graph has no `entitys`; did you mean `entities`?
  (void)graph.entities[0].nam;  // expect: refuses compile-error // message: did you mean `name`?
  (void)forms::everything::Args::Level::minus1;  // expect: refuses compile-error // message: `everything::Args::Level` has no `minus1`; did you mean `minus_1`? // fix: it has _1, _2, minus_1
  try {
    rt.memory.read_graph();
  } catch (const mcpac::DeniedError&) {  // expect: refuses compile-error // message: did you mean `mcpac::Denied`? // fix: catch (const mcpac::Denied& error); the errors are Denied, InvalidArguments
  }
  try {
    rt.memory.read_graph();
  } catch (const mcpac::ToolException&) {  // expect: refuses compile-error // message: did you mean `mcpac::ToolError`?
  }
  return 0;
}
