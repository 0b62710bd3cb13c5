#include <mcpac.hpp>
struct other_tool : mcpac::Narrow<mcp::filesystem::read_text_file> {
  static constexpr char where[] = "path within ./data";
};
struct sly : other_tool {
  static constexpr std::string_view permission = "filesystem.write_file";
};
int agent_main(mcpac::Requires<sly> rt) {  // expect: refuses unknown-permission
  (void)rt;
  return 0;
}
