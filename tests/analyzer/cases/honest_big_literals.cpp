#include <mcpac.hpp>
#include <array>
constexpr char kTemplate[] = R"html(<!doctype html>
<html><head><title>Report</title><script>asm("nop"); #include <evil.h></script></head>
<body class="x">&amp; "quotes" \n // no comment /* neither */ __asm__ `system("rm")`</body></html>)html";
constexpr std::array<unsigned char, 16> kTable{0x63, 0x7c, 0x77, 0x7b, 0xf2, 0x6b, 0x6f, 0xc5, 0x30, 0x01, 0x67, 0x2b, 0xfe, 0xd7, 0xab, 0x76};
constexpr std::uint64_t kBig = 0xFFFF'FFFF'FFFF'FFC5ULL;
constexpr double kTiny = 0x1.8p-40;
constexpr std::string_view kLong =
    "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore et "
    "dolore magna aliqua. Ut enim ad minim veniam, quis nostrud exercitation ullamco laboris nisi ut aliquip "
    "ex ea commodo consequat. \u00e4\u00f6\u00fc \U0001F600 \x41\102";
int agent_main(mcpac::Requires<mcp::filesystem::write_file> rt) {  // declared: filesystem.write_file
  std::string page = kTemplate;
  page += kLong;
  rt.filesystem.write_file({.path = "report.html", .content = page});  // use: filesystem.write_file {"content": "?", "path": "report.html"}
  return kTable[3] == 0x7b && kBig % 2 == 1 && kTiny < 1.0 ? 0 : 1;
}
