#include <mcpac.hpp>
#include <cstring>
const volatile int kPort = 1;
const char* const volatile kVolatile = "a";
std::string changing = "a";
const std::string& reference = changing;
const char* pointer = "a";
struct Sly { mutable std::string text = "a"; std::string plain = "b"; };
const Sly sly;  // expect: note early-code
extern const std::string kElsewhere;
struct Traits : std::char_traits<char> { static std::size_t length(const char*) { return 1; } };
const std::basic_string<char, Traits> kTraits = "abc";
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "n", .head = kPort});  // use: filesystem.read_text_file {"head": "?", "path": "n"}
  rt.filesystem.read_text_file({.path = kVolatile});  // use: filesystem.read_text_file {"path": "?"}
  rt.filesystem.read_text_file({.path = reference});  // use: filesystem.read_text_file {"path": "?"}
  rt.filesystem.read_text_file({.path = pointer});  // use: filesystem.read_text_file {"path": "?"}
  rt.filesystem.read_text_file({.path = sly.text});  // use: filesystem.read_text_file {"path": "?"}
  char buffer[8] = "a";
  const char* const view = buffer;
  std::strcpy(buffer, "other");
  rt.filesystem.read_text_file({.path = view});  // use: filesystem.read_text_file {"path": "?"}
  const std::string_view part = std::string_view("abc").substr(1);
  rt.filesystem.read_text_file({.path = part});  // use: filesystem.read_text_file {"path": "?"}
  const std::string cut("abc", 2);
  rt.filesystem.read_text_file({.path = cut});  // use: filesystem.read_text_file {"path": "?"}
  const std::string repeated(3, 'a');
  rt.filesystem.read_text_file({.path = repeated});  // use: filesystem.read_text_file {"path": "?"}
  const std::string from_the_run = rt.permissions().front();
  rt.filesystem.read_text_file({.path = from_the_run});  // use: filesystem.read_text_file {"path": "?"}
  const std::string traits(kTraits.data());
  rt.filesystem.read_text_file({.path = traits});  // use: filesystem.read_text_file {"path": "?"}
  rt.filesystem.read_text_file({.path = &"abc"[1]});  // use: filesystem.read_text_file {"path": "?"}
  rt.filesystem.read_text_file({.path = "abc" + 1});  // use: filesystem.read_text_file {"path": "?"}
  rt.filesystem.read_text_file({.path = ("a", "b")});  // use: filesystem.read_text_file {"path": "?"}
  const int n = static_cast<int>(rt.permissions().size());
  rt.filesystem.read_text_file({.path = "n", .head = n});  // use: filesystem.read_text_file {"head": "?", "path": "n"}
  return 0;
}
