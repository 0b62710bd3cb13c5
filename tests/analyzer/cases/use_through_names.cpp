// A callable that only gets another name is used where that name is.
#include <mcpac.hpp>
using R = mcpac::Requires<mcp::filesystem::read_text_file>;
std::string given(const auto& read) { return read({.path = "parameter"}).text(); }  // use: filesystem.read_text_file {"path": "parameter"}
std::string pointed(auto* read) { return (*read)({.path = "pointer"}).text(); }  // use: filesystem.read_text_file {"path": "pointer"}
struct Reader {
  R rt;
  template <class F> auto with(F f) const { return f(rt.filesystem.read_text_file); }
  template <auto M> std::string by() const { return (rt.filesystem.*M)({.path = "argument"}).text(); }  // use: filesystem.read_text_file {"path": "argument"}
  template <class M> std::string to(M m) const { return (rt.filesystem.*m)({.path = "member"}).text(); }  // use: filesystem.read_text_file {"path": "member"}
};
template <auto M> struct ByMember {
  static std::string go(const auto& files) { return (files.*M)({.path = "class"}).text(); }  // use: filesystem.read_text_file {"path": "class"}
};
template <class F> struct Holder {
  const F& read;
  explicit Holder(const F& f) : read(f) {}
  std::string go() const { return read({.path = "holder"}).text(); }  // use: filesystem.read_text_file {"path": "holder"}
};
int agent_main(R rt) {  // declared: filesystem.read_text_file
  given(rt.filesystem.read_text_file);
  pointed(&rt.filesystem.read_text_file);
  const auto& files = rt.filesystem;
  auto copy = files.read_text_file;
  copy.async({.path = "copy"}).get();  // use: filesystem.read_text_file {"path": "copy"}
  const auto* read = &rt.filesystem.read_text_file;
  read = &copy;
  (void)read->try_call({.path = "arrow"});  // use: filesystem.read_text_file {"path": "arrow"}
  (void)[&read = rt.filesystem.read_text_file] { return read({.path = "captured"}).text(); }();  // use: filesystem.read_text_file {"path": "captured"}
  using Files = std::remove_cvref_t<decltype(rt.filesystem)>;
  const Reader reader{rt};
  reader.with([](const auto& read) { return read({.path = "lambda"}).text(); });  // use: filesystem.read_text_file {"path": "lambda"}
  reader.by<&Files::read_text_file>();
  reader.to(&Files::read_text_file);
  ByMember<&Files::read_text_file>::go(rt.filesystem);
  return Holder(rt.filesystem.read_text_file).go().empty() ? 1 : 0;
}
