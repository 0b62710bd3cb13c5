// What the library keeps is called where no call is seen; so is what initialisers of a template call.
#include <mcpac.hpp>
#include <array>
#include <functional>
#include <memory>
#include <optional>
using R = mcpac::Requires<mcp::filesystem::read_text_file>;
template <class F> struct Row {
  std::array<const F*, 1> all;
};
template <class F>
struct Eager {
  const F& read;
  std::string text = read({.path = "unseen"}).text();
  explicit Eager(const F& f) : read(f) {}
};
int agent_main(R rt) {  // declared: filesystem.read_text_file
  const auto& read = rt.filesystem.read_text_file;
  auto ref = std::ref(read);  // use: filesystem.read_text_file {"path": "?", "head": "?", "tail": "?"}
  auto bound = std::bind_front(read);  // use: filesystem.read_text_file {"path": "?", "head": "?", "tail": "?"}
  auto kept = std::optional(read);  // use: filesystem.read_text_file {"path": "?", "head": "?", "tail": "?"}
  const Row<std::remove_cvref_t<decltype(read)>> row{{&read}};  // use: filesystem.read_text_file {"path": "?", "head": "?", "tail": "?"}
  const Eager eager(read);  // use: filesystem.read_text_file {"path": "?", "head": "?", "tail": "?"}
  (void)bound, (void)eager;
  return ref.get()({.path = "a"}).text().empty() || !kept || row.all.empty() ? 1 : 0;  // use: filesystem.read_text_file {"path": "a"}
}
