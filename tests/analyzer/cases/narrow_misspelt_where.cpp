#include <mcpac.hpp>
struct read_data : mcpac::Narrow<mcp::filesystem::read_text_file> {
  static constexpr char when[] = "path within ./data";
};
int agent_main(mcpac::Requires<read_data>) {  // expect: refuses forged-type // fix: did you mean `where`?
  return 0;
}
