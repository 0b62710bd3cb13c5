#include <mcpac.hpp>
#include <format>
#include <print>
struct Money {
  long cents = 0;
};
template <>
struct std::formatter<Money> : std::formatter<std::string> {
  auto format(const Money& money, std::format_context& context) const {
    return std::formatter<std::string>::format(std::format("{}.{:02} EUR", money.cents / 100, money.cents % 100), context);
  }
};
int agent_main(mcpac::Requires<mcp::filesystem::write_file> rt) {  // declared: filesystem.write_file
  const Money total{12345};
  const std::string report = std::format("{:>20}|{:#x}|{:+.3f}|{:^9}|", total, 255, 3.14159, "mid");
  rt.filesystem.write_file({.path = "report.txt", .content = report});  // use: filesystem.write_file {"content": "?", "path": "report.txt"}
  std::print("{}\n", report);
  return 0;
}
