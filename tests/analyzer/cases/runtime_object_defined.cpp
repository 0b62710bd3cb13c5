#include <mcpac.hpp>
mcpac::Requires<mcp::filesystem::read_text_file> made();
mcpac::Requires<mcp::filesystem::read_text_file> runtime = made();  // expect: refuses entry-form // expect: note early-code // declared: filesystem.read_text_file // expect: refuses undefined-function
int main() { return 0; }
// unused: filesystem.read_text_file
