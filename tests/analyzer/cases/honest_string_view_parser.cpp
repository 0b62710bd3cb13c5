#include <mcpac.hpp>
#include <cctype>
#include <optional>
class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}
  std::optional<std::pair<std::string, std::string>> next() {
    while (!rest_.empty()) {
      std::string_view line = rest_.substr(0, rest_.find('\n'));
      rest_.remove_prefix(std::min(rest_.size(), line.size() + 1));
      line = trim(line);
      if (line.empty() || line.front() == '#') continue;
      const auto equals = line.find('=');
      if (equals == std::string_view::npos) continue;
      return std::pair(std::string(trim(line.substr(0, equals))), std::string(trim(line.substr(equals + 1))));
    }
    return std::nullopt;
  }

 private:
  static std::string_view trim(std::string_view text) {
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
    return text;
  }
  std::string_view rest_;
};
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  const std::string text = rt.filesystem.read_text_file({.path = "app.ini"}).text();  // use: filesystem.read_text_file {"path": "app.ini"}
  Parser parser(text);
  int count = 0;
  while (const auto entry = parser.next()) count += entry->first.empty() ? 0 : 1;
  return count;
}
