#include <mcpac.hpp>
#include <memory>
using R = mcpac::Requires<mcp::filesystem::read_text_file>;
struct Step {
  virtual ~Step() = default;
  virtual std::string run(R rt) = 0;
};
struct ReadStep : Step {
  std::string run(R rt) override { return rt.filesystem.read_text_file({.path = "v"}).text(); }  // use: filesystem.read_text_file {"path": "v"}
};
int agent_main(R rt) {  // declared: filesystem.read_text_file
  const std::unique_ptr<Step> step = std::make_unique<ReadStep>();
  return step->run(rt).empty() ? 1 : 0;
}
