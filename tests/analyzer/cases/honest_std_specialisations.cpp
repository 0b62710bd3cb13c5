#include <mcpac.hpp>
#include <format>
#include <ranges>
#include <unordered_set>
struct Key {
  int id = 0;
  bool operator==(const Key&) const = default;
};
template <>
struct std::hash<Key> {
  std::size_t operator()(const Key& key) const { return std::hash<int>()(key.id); }
};
template <>
struct std::formatter<Key> : std::formatter<int> {
  auto format(const Key& key, auto& context) const {
    return std::formatter<int>::format(key.id, context);
  }
};
namespace std {
template <>
struct tuple_size<Key> : integral_constant<size_t, 1> {};
}
struct View {};
template <>
inline constexpr bool std::ranges::enable_view<View> = true;
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
