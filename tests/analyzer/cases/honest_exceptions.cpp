#include <mcpac.hpp>
#include <exception>
#include <print>
#include <stdexcept>
class ConfigError : public std::runtime_error {
 public:
  ConfigError(const std::string& what, int line) : std::runtime_error(what), line_(line) {}
  int line() const noexcept { return line_; }

 private:
  int line_;
};
struct Guard {
  explicit Guard(int& depth) : depth_(depth) { ++depth_; }
  ~Guard() { --depth_; }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  int& depth_;
};
int parse(const std::vector<std::string>& lines, int& depth) try {
  const Guard guard(depth);
  int number = 0;
  for (const auto& line : lines) {
    ++number;
    if (line.find('=') == std::string::npos) throw ConfigError("no =", number);
  }
  return number;
} catch (const std::out_of_range&) {
  std::throw_with_nested(std::logic_error("impossible"));
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  int depth = 0;
  try {
    return parse(rt.filesystem.read_text_file({.path = "settings.ini"}).lines(), depth);  // use: filesystem.read_text_file {"path": "settings.ini"}
  } catch (const ConfigError& error) {
    std::println("line {}: {}", error.line(), error.what());
  } catch (const mcpac::ToolError& error) {
    std::println("{}", error.what());
  } catch (...) {
    const std::exception_ptr kept = std::current_exception();
    if (kept) std::rethrow_exception(kept);
  }
  return depth;
}
