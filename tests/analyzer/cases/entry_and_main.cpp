#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file>) { return 0; }
int main() { return 0; }  // expect: refuses two-entries
