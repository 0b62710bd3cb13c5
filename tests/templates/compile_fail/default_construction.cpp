// expect-error: (no matching constructor|no matching function|no default constructor)
#include <mcpac.hpp>
using namespace mcp;
int main() { mcpac::Requires<filesystem::read_text_file> forged; }
