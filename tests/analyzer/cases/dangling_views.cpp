// What looks at a temporary prints freed memory, with exit code 0.
#include <mcpac.hpp>
#include <map>
#include <memory>
#include <span>
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
  // Temporaries in the head of a loop live as long as the loop; those of a call as long as the call.
  for (const char c : std::string_view(text_of(rt))) view = c == 'x' ? "x" : "y";
  for (const auto& line : lines_of(rt)) view = line.empty() ? "" : "z";
  const std::string kept = text_of(rt);
  view = kept;
  views.push_back(given(kept));
  const auto size = given(text_of(rt)).size() + counts.count(text_of(rt)) + in_template(rt);
  const auto shown = std::string(text_of(rt).substr(1)) + std::string(std::string_view(text_of(rt)).substr(1));
  (void)returned(rt), (void)local(), (void)captured(), (void)Keeps(kept);
  return size + shown.size() + span.size() + first.size() + narrowed.size() + member.text.size() > 9 &&
                 pointer != nullptr && at->empty() && number == 3
             ? 1
             : 0;
}
