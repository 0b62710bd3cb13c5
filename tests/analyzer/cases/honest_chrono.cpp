#include <mcpac.hpp>
#include <chrono>
#include <format>
int agent_main(mcpac::Requires<mcp::filesystem::write_file> rt) {  // declared: filesystem.write_file
  using namespace std::chrono;
  using namespace std::chrono_literals;
  const auto start = steady_clock::now();
  const year_month_day day = 2026y / November / 21d;
  const sys_days next = sys_days{day} + days{30};
  const auto elapsed = duration_cast<microseconds>(steady_clock::now() - start);
  const std::string text = std::format("{:%F} {}", next, elapsed.count() >= 0 ? "ok" : "clock went back");
  rt.filesystem.write_file({.path = "due.txt", .content = text});  // use: filesystem.write_file {"content": "?", "path": "due.txt"}
  return elapsed < 1h ? 0 : 1;
}
