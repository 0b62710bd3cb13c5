#include <mcpac.hpp>
using R = mcpac::Requires<mcp::memory::read_graph>;
std::string elsewhere(R rt);
struct Store {
  explicit Store(R rt) : rt_(rt) {}
  void save() const;
  virtual void load() = 0;
  bool operator==(const Store&) const = default;
  R rt_;
};
struct Real : Store {
  using Store::Store;
  void load() override {}
};
template <class T>
T made();  // never run
template <class T>
struct Box {
  T value;
  T get() const;
};
template <class T>
T Box<T>::get() const {
  return value;
}
static int later(int n);
int agent_main(R rt) {  // declared: memory.read_graph
  elsewhere(rt);  // expect: refuses undefined-function // message: `elsewhere` is declared, but defined in none
  Real store(rt);
  store.save();  // expect: refuses undefined-function // message: `Store::save`
  Store& base = store;
  base.load();
  using Made = decltype(made<int>());
  rt.memory.read_graph();  // use: memory.read_graph {}
  return later(Box<Made>{sizeof(elsewhere(rt)) > 0 ? 1 : 2}.get());
}
static int later(int n) {
  return n;
}
