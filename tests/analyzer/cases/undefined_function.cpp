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
struct Made {
  Made(int n);
  Made(const Made&) = default;
  Made() = default;
  operator bool() const;
};
struct Inherits : Made {
  using Made::Made;
};
struct Holds {
  Made made{2};  // expect: refuses undefined-function // message: `Made::Made`
};
struct Keeps {
  Keeps();
  int n;
};
Keeps::Keeps() : n(1) {}
int agent_main(R rt) {  // declared: memory.read_graph
  elsewhere(rt);  // expect: refuses undefined-function // message: `elsewhere` is declared, but defined in none
  Real store(rt);
  store.save();  // expect: refuses undefined-function // message: `Store::save`
  Store& base = store;
  base.load();
  const Made one;
  const Made copy(one);
  const Keeps keeps;
  const Inherits all[] = {1, 2};
  if (copy) return keeps.n;  // expect: refuses undefined-function // message: `Made::operator bool`
  using Result = decltype(made<int>());
  rt.memory.read_graph();  // use: memory.read_graph {}
  return later(Box<Result>{sizeof(elsewhere(rt)) > 0 ? 1 : 2}.get());
}
static int later(int n) {
  return n;
}
