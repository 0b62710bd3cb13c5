#include <mcpac.hpp>
#include <functional>
#include <memory>
class Store {
 public:
  virtual ~Store() = default;
  virtual std::string load(const std::string& name) = 0;
  virtual void save(const std::string& name, const std::string& text) = 0;
};
class Files final : public Store {
 public:
  using Capability = mcpac::Requires<mcp::filesystem::read_text_file, mcp::filesystem::write_file>;
  Files(Capability rt, std::string folder) : rt_(rt), folder_(std::move(folder)) {}
  std::string load(const std::string& name) override { return rt_.filesystem.read_text_file({.path = folder_ + "/" + name}).text(); }  // use: filesystem.read_text_file {"path": "?"}
  void save(const std::string& name, const std::string& text) override { rt_.filesystem.write_file({.path = folder_ + "/" + name, .content = text}); }  // use: filesystem.write_file {"content": "?", "path": "?"}

 private:
  Capability rt_;
  std::string folder_;
};
class Memory final : public Store {
 public:
  std::string load(const std::string& name) override { return texts_[name]; }
  void save(const std::string& name, const std::string& text) override { texts_[name] = text; }

 private:
  std::map<std::string, std::string> texts_;
};
void copy(Store& from, Store& to, const std::string& name) { to.save(name, from.load(name)); }
int agent_main(Files::Capability rt) {  // declared: filesystem.read_text_file // declared: filesystem.write_file
  Files files(rt, "data");
  const std::unique_ptr<Store> cache = std::make_unique<Memory>();
  copy(files, *cache, "a.txt");
  copy(*cache, files, "b.txt");
  return cache->load("a.txt").empty() ? 1 : 0;
}
