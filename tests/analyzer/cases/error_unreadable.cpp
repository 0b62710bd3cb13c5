// verdict: compile_error
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <mcpac.hpp>
struct Made {
  explicit Made(int first) : x(first) {}
  int x;
};
struct Holds {
  std::string name;
  Made made;
};
namespace mine {
struct Item {
  int n;
  std::function<int()> make;
};
struct Shelf {
  std::string name;
  std::map<std::string, mine::Item> items;
};
}  // namespace mine
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {
  const auto result = rt.filesystem.read_text_file({.path = "a"});
  (void)result.as<std::vector<Made>>();  // expect: refuses compile-error // message: `std::vector<Made>` cannot be read from JSON // fix: at most 32 public members
  (void)result.as<std::vector<mine::Item>>();  // expect: refuses compile-error // message: its member `make` is a `std::function<int ()>` // fix: give that member a type that JSON has
  (void)result.as<mine::Shelf>();  // expect: refuses compile-error // message: of `items` its member `make` is a
  (void)mcpac::arguments<Holds>();  // expect: refuses compile-error // message: `Holds` cannot be read from JSON
  return 0;
}
