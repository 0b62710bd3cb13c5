#include <mcpac.hpp>
#include <functional>
#include <map>
using Read = mcp::filesystem::read_text_file;
struct Job {
  std::function<Read::Result(const Read::Args&)> run;
};
int agent_main(mcpac::Requires<Read> rt) {  // declared: filesystem.read_text_file
  std::map<std::string, Job> jobs;
  jobs["read"] = Job{rt.filesystem.read_text_file};  // use: filesystem.read_text_file {"head": "?", "path": "?", "tail": "?"}
  return jobs["read"].run({.path = "f"}).text().empty() ? 1 : 0;
}
