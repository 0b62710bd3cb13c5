// A base that casts itself to what derives from it, where something else may be behind it.
#include <mcpac.hpp>
#include <any>
#include <memory>
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
struct Captured {
  std::string run() { return static_cast<D*>(this)->go(); }  // expect: refuses capability-cast // message: object of this base alone
};
struct F : Captured<F> {
  R rt;
  std::string go() { return rt.filesystem.read_text_file({.path = "F"}).text(); }  // use: filesystem.read_text_file {"path": "F"}
};
template <class D>
struct Named {
  std::string run() { return static_cast<D*>(this)->go(); }  // expect: refuses capability-cast // message: object of this base alone
};
struct G : Named<G> {
  R rt;
  std::string go() { return rt.filesystem.read_text_file({.path = "G"}).text(); }  // use: filesystem.read_text_file {"path": "G"}
};
template <class D>
struct Erased {
  std::string run() { return static_cast<D*>(this)->go(); }  // expect: refuses capability-cast // message: object of this base alone
};
struct H : Erased<H> {
  R rt;
  std::string go() { return rt.filesystem.read_text_file({.path = "H"}).text(); }  // use: filesystem.read_text_file {"path": "H"}
};
template <class D>
struct Emplaced {
  std::string run() { return static_cast<D*>(this)->go(); }  // expect: refuses capability-cast // message: object of this base alone
};
struct I : Emplaced<I> {
  R rt;
  std::string go() { return rt.filesystem.read_text_file({.path = "I"}).text(); }  // use: filesystem.read_text_file {"path": "I"}
};
template <class D>
struct Shared {
  std::string run() { return static_cast<D*>(this)->go(); }  // expect: refuses capability-cast // message: object of this base alone
};
struct J : Shared<J> {
  R rt;
  std::string go() { return rt.filesystem.read_text_file({.path = "J"}).text(); }  // use: filesystem.read_text_file {"path": "J"}
};
// A friend has no object of its own.
template <class D>
struct Befriended {
  friend bool operator==(const Befriended& left, const Befriended& right) {
    return static_cast<const D&>(left).number == static_cast<const D&>(right).number;  // expect: refuses capability-cast // fix: this const auto& self // expect: refuses capability-cast
  }
};
struct K : Befriended<K> {
  R rt;
  int number = 0;
};
template <class T>
T& of(T& given) { return given; }
template <class D>
struct Sliced {
  int count = 0;
  std::string run() { return static_cast<D*>(this)->go(); }  // expect: refuses capability-cast // message: object of this base alone
  std::string slice() {
    auto copy = *this;
    return copy.count == 0 ? copy.run() : "";
  }
};
struct L : Sliced<L> {
  R rt;
  std::string go() { return rt.filesystem.read_text_file({.path = "L"}).text(); }  // use: filesystem.read_text_file {"path": "L"}
};
template <class D>
struct Handed {
  std::string run() { return static_cast<D*>(this)->go(); }  // expect: refuses capability-cast // message: object of this base alone
  Handed handed() {
    const Handed copy(*this);
    return copy;
  }
};
struct M : Handed<M> {
  R rt;
  std::string go() { return rt.filesystem.read_text_file({.path = "M"}).text(); }  // use: filesystem.read_text_file {"path": "M"}
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
  std::vector<Many<B>> many(3);
  Instantiated<C> late;
  Mixin<Mixed<D>> mixed;
  F f{{}, rt};
  G g{{}, rt};
  H h{{}, rt};
  I i{{}, rt};
  J j{{}, rt};
  K k{{}, rt};
  L l{{}, rt};
  M m{{}, rt};
  auto init = [c = of<Captured<F>>(f)]() mutable { return c.run(); };
  auto& part = of<Named<G>>(g);
  auto simple = [part]() mutable { return part.run(); };
  std::any any = of<Erased<H>>(h);
  std::any other;
  other.emplace<Emplaced<I>>(i);
  auto shared = std::make_shared<Shared<J>>(j);
  if (k == k) init(), simple(), h.run(), i.run(), shared->run();
  std::string all = a.run() + b.run() + c.run() + d.run() + e.run() + l.slice() + m.handed().run();
  all += many[0].run() + late.run() + mixed.run();
  return all.size() > 1 ? 1 : 0;
}
