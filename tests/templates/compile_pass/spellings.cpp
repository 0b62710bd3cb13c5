// Every way of writing arguments and of passing capabilities that docs/agents.md promises.
#include <list>
#include <set>

#include <mcpac.hpp>
using namespace mcp;
constexpr std::string_view kPath = "x";
using A = forms::everything::Args;
struct only_data : mcpac::Narrow<filesystem::read_text_file> {
  static constexpr char where[] = "path within ./data";
};
struct only_logs : mcpac::Narrow<filesystem::read_text_file> {
  static constexpr char where[] = "path within ./logs";
};
void forms_of(mcpac::Requires<forms::everything, forms::free_form, forms::relaxed> rt) {
  std::string s = "q";
  std::vector<std::string> v{"z"};
  int i = 3;
  std::size_t n = v.size();
  const char* c = "c";
  float f = 1;
  mcpac::Json j = 5;
  std::optional<std::string> so;
  std::set<std::string> set{"a"};
  rt.forms.everything({.path = kPath,
                       .paths = {"a", "b"},
                       .entities = {{.street = "x"}, {.street = s, .no = 5}},
                       .address = {.street = "s"},
                       .mode = A::Mode::fast,
                       .count = 5,
                       .note = nullptr,
                       .labels = {"bug"},
                       .ratio = 5,
                       .dry = true,
                       .big = n,
                       .extra = {{"a", 1}, {"b", {1, 2}}},
                       .milestone = nullptr,
                       .headers = {{"a", "b"}},
                       .point = {1, 2.5},
                       .either = "x",
                       .filter = A::Filter{.state = "x"},
                       .modes = {A::Mode::fast, A::Mode::plus_1},
                       .level = A::Level::_2,
                       .mixed = A::Mixed::any,
                       .shape = A::Circle{.radius = 2},
                       .tree = A::Node{.label = "x"},
                       .options = {.name = "n", .inner = {.x = 3}}});
  rt.forms.everything(
      {.path = s,
       .paths = v,
       .entities = mcpac::empty,
       .address = {.street = s, .no = i},
       .mode = A::Mode::plus_1,
       .count = i,
       .note = "n",
       .labels = v,
       .ratio = f,
       .dry = false,
       .big = 3,
       .extra = 3,
       .milestone = 3,
       .either = 3,
       .level = 2,
       .shape = A::Square{.type = "square", .side = 1, .extra = {{"n", 1}}},
       .tree = A::Node{.label = "x", .next = A::Node{.label = "y"}, .children = {{.label = "z"}}}});
  rt.forms.everything({.path = c,
                       .paths = {s},
                       .entities = {{.street = kPath}},
                       .address = {.street = s},
                       .mode = A::Mode::plus_1,
                       .count = n,
                       .note = so,
                       .labels = set,
                       .ratio = 2.5,
                       .extra = "str",
                       .milestone = std::nullopt,
                       .either = 2.5,
                       .options = A::Options{.name = s, .inner = {.x = 1}, .limit = 4}});
  rt.forms.everything({.path = j,
                       .paths = j,
                       .entities = std::vector<A::Address>{},
                       .address = {.street = std::string("a") + "b"},
                       .mode = A::Mode::plus_1,
                       .count = j,
                       .note = j,
                       .labels = {},
                       .ratio = {},
                       .extra = j});
  rt.forms.free_form({{"a", 1}, {"b", "c"}});
  rt.forms.free_form();
  rt.forms.free_form(mcpac::Json{{"a", 1}});
  rt.forms.free_form({});
  rt.forms.relaxed();
  rt.forms.relaxed({});
  rt.forms.relaxed({.query = s});
  (void)rt.forms.relaxed.async();
  (void)rt.forms.relaxed.try_call();
  auto r = rt.forms.everything.try_call({.path = s,
                                         .paths = v,
                                         .entities = mcpac::empty,
                                         .address = {.street = s},
                                         .mode = A::Mode::plus_1,
                                         .count = 1,
                                         .note = s});
  if (r && r->ratio) {
    std::string t = r->text_ + r->text();
    double d = *r->ratio;
    (void)t;
    (void)d;
    for (auto& [k, x] : r->totals) {
      (void)k;
      (void)x;
    }
    to_string(r->state);
  } else {
    (void)r.error().what();
    (void)r.error().code();
  }
  A args{.path = s,
         .paths = v,
         .entities = mcpac::empty,
         .address = {.street = s},
         .mode = A::Mode::plus_1,
         .count = 1,
         .note = s};
  args.ratio = 5;
  args.labels = {"a"};
  args.path = "other";
  args.count = *args.count + 1;
  std::string back = args.path;
  (void)to_string(args.mode.value);
}
void memory_of(mcpac::Requires<memory::create_entities, memory::read_graph> rt) {
  rt.memory.create_entities(
      {.entities = {{.name = "x", .entityType = "t", .observations = {"a"}},
                    {.name = "y", .entityType = "t", .observations = mcpac::empty}}});
  for (const auto& e : rt.memory.read_graph().entities) {
    std::string x = e.name + e.entityType;
  }
  std::vector<memory::create_entities::Args::Entities> list;
  list.push_back({.name = "x", .entityType = "t", .observations = {"a"}});
  rt.memory.create_entities({.entities = list});
  rt.memory.create_entities({.entities = std::move(list)});
  rt.memory.create_entities({.entities = {{"x", "t", {"a", "b"}}}});
}
using Whole =
    mcpac::Requires<filesystem::read_text_file, filesystem::write_file, memory::read_graph>;
using Part = mcpac::Requires<memory::read_graph, filesystem::read_text_file>;
using Thin = mcpac::Requires<only_data>;
static_assert(std::is_convertible_v<Whole, Part> && std::is_convertible_v<Whole, Thin> &&
              std::is_convertible_v<Part, Thin>);
static_assert(!std::is_convertible_v<Part, Whole> && !std::is_constructible_v<Whole, Part> &&
              !std::is_constructible_v<mcpac::Requires<filesystem::read_text_file>, Thin>);
static_assert(!std::is_convertible_v<mcpac::Requires<only_logs>, Thin>);
static_assert(std::is_convertible_v<mcpac::Requires<only_logs, only_data>, Thin>);
static_assert(!std::is_default_constructible_v<Whole> && std::is_copy_assignable_v<Whole> &&
              std::is_nothrow_move_constructible_v<Whole> && std::is_trivially_copyable_v<Whole>);
static_assert(std::is_convertible_v<Whole, mcpac::Requires<>>);
static_assert(Whole::has<only_data>() && !Thin::has<filesystem::read_text_file>());
static_assert(
    std::is_convertible_v<mcpac::Requires<filesystem::read_text_file>,
                          mcpac::Requires<filesystem::read_text_file, filesystem::read_text_file>>);
void twice(mcpac::Requires<filesystem::read_text_file, filesystem::read_text_file> rt,
           mcpac::Requires<only_data, filesystem::read_text_file, memory::read_graph,
                           filesystem::write_file>
               both,
           mcpac::Requires<only_data, only_logs> two) {
  rt.filesystem.read_text_file({.path = "x"});
  both.filesystem.read_text_file({.path = "x"});
  two.filesystem.read_text_file({.path = "x"});
  static_assert(std::is_same_v<decltype(both.filesystem.read_text_file),
                               mcpac::Method<filesystem::read_text_file>>);
  static_assert(std::is_same_v<decltype(two.filesystem.read_text_file), mcpac::Method<only_data>>);
  std::vector<Thin> store{rt, both};
  store[0] = both;
  Thin t = store[0];
  t = rt;
  auto f = rt.filesystem.read_text_file.async({.path = "y"});
  if (!f.ready()) f.wait();
  (void)f.get().text();
}
void habits_of(mcpac::Requires<forms::everything, memory::create_entities> rt) {
  static_assert(std::is_same_v<forms::everything::Mode, A::Mode> &&
                std::is_same_v<forms::everything::State, forms::everything::Result::State>);
  const std::list<int> numbers{1};
  const std::set<std::string> names{"a"};
  A args;
  args.path = "x";
  args.paths = {names.begin(), names.end()};
  args.entities.push_back({.street = "s", .no = numbers.front()});
  args.address = {.street = "s"};
  args.mode = "fast";
  args.count = 1;
  args.note = nullptr;
  args.labels = {names.begin(), names.end()};
  args.modes = {"+1", A::Mode::fast};
  args.options.limit = 3;
  args.options.name = "n";
  args.options.inner = {.x = 1};
  rt.forms.everything(args);
  rt.memory.create_entities({.entities = {}});
  std::vector<memory::create_entities::Entities> list{
      {.name = "x", .entityType = "t", .observations = {names.begin(), names.end()}}};
  for (auto& one : list[0].observations) one += "!";
  rt.memory.create_entities({.entities = {list.begin(), list.end()}});
  std::size_t size = list[0].name.size() + args.paths.size();
  const std::string& name = list[0].name;
  (void)(name == list[0].name && size > 0 && args.count > 0 && args.mode == A::Mode::fast);
}
