// A base that casts itself to what derives from it, where something else may be behind it.
#include <mcpac.hpp>
#include <vector>
using R = mcpac::Requires<mcp::filesystem::read_text_file>;
template <class D>
struct Two {
  std::string run() { return static_cast<D*>(this)->go(); }  // expect: refuses capability-cast // message: another class derives from this base
};
struct A : Two<A> {
  R rt;
  std::string go() { return rt.filesystem.read_text_file({.path = "A"}).text(); }  // use: filesystem.read_text_file {"path": "A"}
};
template <class D>
struct Many {
  std::string run() { return static_cast<D&>(*this).go(); }  // expect: refuses capability-cast // message: object of this base alone
};
struct B : Many<B> {
  R rt;
  std::string go() { return rt.filesystem.read_text_file({.path = "B"}).text(); }  // use: filesystem.read_text_file {"path": "B"}
};
template <class D>
struct Late {
  std::string run() { return static_cast<D*>(this)->go(); }  // expect: refuses capability-cast // message: another class
};
struct C : Late<C> {
  R rt;
  std::string go() { return rt.filesystem.read_text_file({.path = "C"}).text(); }  // use: filesystem.read_text_file {"path": "C"}
};
template <class D>
struct Mixed {
  std::string run() { return static_cast<D&>(*this).go(); }  // expect: refuses capability-cast // message: object of this base alone
};
struct D : Mixed<D> {
  R rt;
  std::string go() { return rt.filesystem.read_text_file({.path = "D"}).text(); }  // use: filesystem.read_text_file {"path": "D"}
};
template <class D>
struct Copied {
  std::string run() { return [*this]() mutable { return static_cast<D*>(this)->go(); }(); }  // expect: refuses capability-cast // message: object of this base alone
};
struct E : Copied<E> {
  R rt;
  std::string go() { return rt.filesystem.read_text_file({.path = "E"}).text(); }  // use: filesystem.read_text_file {"path": "E"}
};
template <class D>
struct Sliced {
  int count = 0;
  std::string run() { return static_cast<D*>(this)->go(); }  // expect: refuses capability-cast // message: object of this base alone
  std::string slice() {
    auto copy = *this;
    return copy.count == 0 ? copy.run() : "";
  }
};
struct F : Sliced<F> {
  R rt;
  std::string go() { return rt.filesystem.read_text_file({.path = "F"}).text(); }  // use: filesystem.read_text_file {"path": "F"}
};
template <class D>
struct Handed {
  std::string run() { return static_cast<D*>(this)->go(); }  // expect: refuses capability-cast // message: object of this base alone
  Handed handed() {
    const Handed copy(*this);
    return copy;
  }
};
struct G : Handed<G> {
  R rt;
  std::string go() { return rt.filesystem.read_text_file({.path = "G"}).text(); }  // use: filesystem.read_text_file {"path": "G"}
};
struct Another : Two<A> {
  char bytes[400];
};
template <class T>
struct Instantiated : Late<T> {
  char bytes[400];
};
template <class T>
struct Mixin : T {
  char bytes[400];
};
// No base of its own kind: whatever lies behind it is taken for the other.
struct Plain {
  char bytes[400];
  R& forged();
};
struct Full : Plain {
  R rt;
};
R& Plain::forged() { return static_cast<Full*>(this)->rt; }  // expect: refuses capability-cast
int agent_main(R rt) {  // declared: filesystem.read_text_file
  A a{{}, rt};
  B b{{}, rt};
  C c{{}, rt};
  D d{{}, rt};
  E e{{}, rt};
  F f{{}, rt};
  G g{{}, rt};
  std::vector<Many<B>> many(3);
  Instantiated<C> late;
  Mixin<Mixed<D>> mixed;
  std::string all = a.run() + b.run() + c.run() + d.run() + e.run() + f.slice() + g.handed().run();
  all += many[0].run() + late.run() + mixed.run();
  return all.size() > 1 ? 1 : 0;
}
