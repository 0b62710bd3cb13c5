// What looks at a temporary prints freed memory, with exit code 0.
#include <mcpac.hpp>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
using Read = mcp::filesystem::read_text_file;
using R = mcpac::Requires<Read>;
std::string text_of(R rt) { return rt.filesystem.read_text_file({.path = "a"}).text(); }  // use: filesystem.read_text_file {"path": "a"}
std::vector<std::string> lines_of(R rt) { return rt.filesystem.read_text_file({.path = "a"}).lines(); }  // use: filesystem.read_text_file {"path": "a"}
std::string_view returned(R rt) { return rt.filesystem.read_text_file({.path = "b"}).text(); }  // expect: refuses dangling // message: ends with the function // use: filesystem.read_text_file {"path": "b"}
const std::string& local() {
  std::string text = "x";
  return text;  // expect: refuses dangling // fix: return the value itself
}
auto captured() {
  int number = 1;
  return [&number] { return number; };  // expect: refuses dangling
}
struct View {
  std::string_view text;
};
struct Keeps {
  std::string_view text;
  explicit Keeps(const std::string& of) : text(of) {}
};
struct Row {
  Row(std::string owned, std::string_view literal) : text(literal), kept(std::move(owned)) {}
  std::string_view text;
  std::string kept;
};
// What a class of the program hands out may stand anywhere.
class Keeper {
 public:
  const std::string& text() const { return *text_; }

 private:
  const std::string* text_ = nullptr;
};
Keeper keeper() { return {}; }
mcpac::Json json_of(R rt) { return rt.filesystem.read_text_file({.path = "a"}).json(); }  // use: filesystem.read_text_file {"path": "a"}
const std::string& inside(R rt) {
  return json_of(rt)["a"].get_ref<const std::string&>();  // expect: refuses dangling // message: ends with the function
}
std::string_view given(std::string_view text) { return text; }
template <class T>
std::size_t in_template(T& rt) {
  std::string_view text = text_of(rt);  // expect: refuses dangling
  return text.size();
}
int agent_main(R rt) {  // declared: filesystem.read_text_file
  std::string_view view = rt.filesystem.read_text_file({.path = "c"}).text();  // expect: refuses dangling // message: gone at the end of the line // fix: keep the value // use: filesystem.read_text_file {"path": "c"}
  view = text_of(rt);  // expect: refuses dangling
  const char* pointer = text_of(rt).c_str();  // expect: refuses dangling
  pointer = text_of(rt).data();  // expect: refuses dangling
  const auto at = lines_of(rt).begin();  // expect: refuses dangling
  const std::span<const std::string> span = lines_of(rt);  // expect: refuses dangling
  const View member{text_of(rt)};  // expect: refuses dangling
  const auto narrowed = std::string_view(text_of(rt)).substr(1);  // expect: refuses dangling
  const auto& first = lines_of(rt).front();  // expect: refuses dangling
  const int& number = *std::make_unique<int>(3);  // expect: refuses dangling
  std::vector<std::string_view> views;
  views.push_back(text_of(rt));  // expect: refuses dangling
  views.emplace_back(text_of(rt));  // expect: refuses dangling
  std::map<std::string_view, int> counts;
  ++counts[text_of(rt)];  // expect: refuses dangling
  const auto& tags = rt.filesystem.read_text_file({.path = "d"}).json()[0]["tags"];  // expect: refuses dangling // fix: const auto tags = …; without & // use: filesystem.read_text_file {"path": "d"}
  const auto& structured = rt.filesystem.read_text_file.try_call({.path = "d"})->structured();  // expect: refuses dangling // use: filesystem.read_text_file {"path": "d"}
  const auto& message = rt.filesystem.read_text_file.try_call({.path = "d"}).error().message();  // expect: refuses dangling // use: filesystem.read_text_file {"path": "d"}
  const std::string& ref = json_of(rt).at("a").get_ref<const std::string&>();  // expect: refuses dangling
  const auto entry = json_of(rt).begin();  // expect: refuses dangling
  const std::string_view field = rt.filesystem.read_text_file({.path = "d"}).content_;  // expect: refuses dangling // use: filesystem.read_text_file {"path": "d"}
  view = lines_of(rt)[0];  // expect: refuses dangling
  std::optional<std::string_view> maybe = text_of(rt);  // expect: refuses dangling
  maybe = text_of(rt);  // expect: refuses dangling
  const std::pair<std::string_view, int> pair{text_of(rt), 1};  // expect: refuses dangling
  const std::tuple<int, std::string_view> tuple(1, text_of(rt));  // expect: refuses dangling
  const std::vector<std::string_view> list{"a", text_of(rt)};  // expect: refuses dangling
  std::vector<View> members;
  members.push_back({text_of(rt)});  // expect: refuses dangling
  members.push_back({.text = text_of(rt)});  // expect: refuses dangling
  std::map<std::string, std::string_view> named;
  named.emplace("a", text_of(rt));  // expect: refuses dangling
  named["a"] = text_of(rt);  // expect: refuses dangling
  const auto& larger = std::max(text_of(rt), text_of(rt));  // expect: refuses dangling // message: gone at the end of the line
  std::string_view best;
  for (const auto& line : lines_of(rt)) {
    if (line.size() > best.size()) best = line;  // expect: refuses dangling // message: `best` looks at `line` here, which ends with its block
  }
  std::string_view last;
  for (int i = 0; i < 3; ++i) {
    const std::string line = text_of(rt);
    if (line == last) break;
    last = line;  // expect: refuses dangling // fix: let `last` hold std::string
  }
  std::vector<std::string_view> words;
  {
    const std::string inner = text_of(rt);
    words.push_back(inner);  // expect: refuses dangling
  }
  for (const auto& word : words) view = word;
  // What is copied, extended, or read before it ends, and maps that own their values.
  const auto copied = json_of(rt)["a"][0];
  const std::string& extended = rt.filesystem.read_text_file({.path = "d"}).content_;  // use: filesystem.read_text_file {"path": "d"}
  const auto& made = json_of(rt).value("a", "b");
  std::map<std::string_view, std::string> files;
  for (const std::string_view path : {"a", "b"}) files.emplace(path, text_of(rt));
  files.try_emplace("k", text_of(rt));
  std::map<std::string_view, std::vector<std::string>> lists;
  lists.try_emplace("k", lines_of(rt));
  std::vector<std::pair<std::string_view, std::string>> pairs;
  pairs.emplace_back("k", text_of(rt));
  std::vector<Row> table;
  table.emplace_back(text_of(rt), "k");
  const auto result = rt.filesystem.read_text_file.try_call({.path = "d"});  // use: filesystem.read_text_file {"path": "d"}
  const auto& kept_result = result->structured();
  const auto& of_program = keeper().text();
  std::string_view now;
  for (const auto& line : lines_of(rt)) {
    now = line;
    if (now == "x") return 3;
  }
  const std::string outer = text_of(rt);
  for (const auto& line : lines_of(rt)) {
    now = outer;
    if (line == now) break;
  }
  if (now == outer) {
    const std::string inner = text_of(rt);
    now = inner;
    return now == "x" ? 4 : 5;
  }
  for (auto& [key, value] : json_of(rt).items()) view = value.is_null() ? "" : "z";
  const bool all = tags.empty() && structured.empty() && message.empty() && ref.empty() && entry->empty() && field.empty() && maybe && pair.second && std::get<0>(tuple) && list.empty() && larger.empty() && copied.empty() && extended.empty() && made.empty() && kept_result.empty() && of_program.empty() && best == "";
  // Temporaries in the head of a loop live as long as the loop; those of a call as long as the call.
  for (const char c : std::string_view(text_of(rt))) view = c == 'x' ? "x" : "y";
  for (const auto& line : lines_of(rt)) view = line.empty() ? "" : "z";
  const std::string kept = text_of(rt);
  view = kept;
  views.push_back(given(kept));
  const auto size = given(text_of(rt)).size() + counts.count(text_of(rt)) + in_template(rt);
  const auto shown = std::string(text_of(rt).substr(1)) + std::string(std::string_view(text_of(rt)).substr(1));
  (void)returned(rt), (void)local(), (void)inside(rt), (void)captured(), (void)Keeps(kept);
  return size + shown.size() + span.size() + first.size() + narrowed.size() + member.text.size() > 9 &&
                 pointer != nullptr && at->empty() && number == 3 && all
             ? 1
             : 0;
}
