#include <mcpac.hpp>
#include <array>
enum class State : unsigned char { start, word, quoted, done };
constexpr std::array<std::string_view, 4> kNames{"start", "word", "quoted", "done"};
using enum State;
struct Tokens {
  std::vector<std::string> list;
  std::string now;
  void end() {
    if (!now.empty()) list.push_back(std::exchange(now, {}));
  }
};
State step(State state, char c, Tokens& tokens) {
  switch (state) {
    case start:
      if (c == '"') return quoted;
      if (c == ' ') return start;
      tokens.now += c;
      return word;
    case word:
      if (c == ' ') {
        tokens.end();
        return start;
      }
      tokens.now += c;
      return word;
    case quoted:
      if (c == '"') {
        tokens.end();
        return start;
      }
      tokens.now += c;
      return quoted;
    case done: break;
  }
  return done;
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  Tokens tokens;
  State state = start;
  for (const char c : rt.filesystem.read_text_file({.path = "command.txt"}).text()) state = step(state, c, tokens);  // use: filesystem.read_text_file {"path": "command.txt"}
  tokens.end();
  return kNames[static_cast<std::size_t>(state)] == "start" ? static_cast<int>(tokens.list.size()) : 1;
}
