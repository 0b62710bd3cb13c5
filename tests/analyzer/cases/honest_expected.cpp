#include <mcpac.hpp>
#include <charconv>
#include <expected>
#include <print>
enum class Problem { empty, no_number, too_large };
std::expected<int, Problem> parse(std::string_view text) {
  if (text.empty()) return std::unexpected(Problem::empty);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::unexpected(Problem::no_number);
  return value;
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  const auto text = rt.filesystem.read_text_file.try_call({.path = "port.txt"});  // use: filesystem.read_text_file {"path": "port.txt"}
  if (!text) return text.error().code() == 0 ? 2 : 3;
  const auto port = parse(text->text()).and_then([](int n) -> std::expected<int, Problem> {
    if (n > 65535) return std::unexpected(Problem::too_large);
    return n;
  });
  std::println("{}", port.value_or(-1));
  return port ? 0 : static_cast<int>(port.error());
}
