#include <mcpac.hpp>
struct read_data : mcpac::Narrow<mcp::filesystem::read_text_file> {
  static constexpr char where[] = "path within ./data";
  static constexpr std::string_view permission = "filesystem.write_file";
};
int agent_main(mcpac::Requires<read_data>) {  // expect: refuses forged-type
  return 0;
}
