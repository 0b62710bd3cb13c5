#include <mcpac.hpp>
namespace build {
template <class... Features>
struct Requires {
  static constexpr std::size_t count = sizeof...(Features);
};
struct Threads {};
class Narrow {
 public:
  explicit Narrow(int width) : width_(width) {}
  int width() const { return width_; }

 private:
  int width_;
};
struct Method {
  std::string name;
};
}  // namespace build
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  const build::Method method{"get"};
  const build::Narrow narrow(build::Requires<build::Threads, int>::count);
  const auto text = rt.filesystem.read_text_file({.path = "notes.txt"}).text();  // use: filesystem.read_text_file {"path": "notes.txt"}
  return narrow.width() + static_cast<int>(text.size() + method.name.size());
}
