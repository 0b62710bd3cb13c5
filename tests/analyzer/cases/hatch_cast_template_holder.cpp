// What a template made shows its members nowhere but in its type.
#include <mcpac.hpp>
#include <cstring>
using Rt = mcpac::Requires<mcp::filesystem::read_text_file>;
template <class T>
struct Box {
  Rt rt;
  T value;
};
char room[256];
void copy(Box<int>& box) { std::memcpy(&box, room, sizeof box); }  // expect: refuses capability-cast
char* look(Box<int>* box) { return reinterpret_cast<char*>(box); }  // expect: refuses capability-cast
int agent_main(Rt rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
