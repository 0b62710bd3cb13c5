#include <mcpac.hpp>
class Notes {
 public:
  Notes(mcpac::Requires<mcp::filesystem::read_text_file, mcp::filesystem::write_file> rt, std::string path) : rt_(rt), path_(std::move(path)), text_(rt_.filesystem.read_text_file({.path = path_}).text()) {}  // use: filesystem.read_text_file {"path": "?"}
  ~Notes() {
    (void)rt_.filesystem.write_file.try_call({.path = path_, .content = text_});  // use: filesystem.write_file {"content": "?", "path": "?"}
  }
  void add(const std::string& line) { text_ += line + "\n"; }

 private:
  mcpac::Requires<mcp::filesystem::read_text_file, mcp::filesystem::write_file> rt_;
  std::string path_;
  std::string text_;
};
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file, mcp::filesystem::write_file> rt) {  // declared: filesystem.read_text_file // declared: filesystem.write_file
  Notes notes(rt, "notes.txt");
  notes.add("one");
  return 0;
}
