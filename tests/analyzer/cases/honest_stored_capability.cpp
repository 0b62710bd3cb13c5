#include <mcpac.hpp>
class Reader {
 public:
  explicit Reader(mcpac::Requires<mcp::filesystem::read_text_file> rt) : rt_(rt) {}
  std::string read() const {
    return rt_.filesystem.read_text_file({.path = "s"}).text();  // use: filesystem.read_text_file {"path": "s"}
  }

 private:
  mcpac::Requires<mcp::filesystem::read_text_file> rt_;
};
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  const auto reader = std::make_unique<Reader>(rt);
  reader->read();
  return 0;
}
