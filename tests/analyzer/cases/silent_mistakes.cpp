// What compiles and means something else: two literals as the ends of one text, a copied error.
#include <mcpac.hpp>
#include <deque>
#include <list>
#include <map>
#include <set>
#include <unordered_set>
using R = mcpac::Requires<mcp::filesystem::read_multiple_files>;
struct Named {
  std::string name;
};
void take(const std::vector<std::string>&) {}
bool by_value(mcpac::Error error) { return dynamic_cast<mcpac::Denied*>(&error) != nullptr; }  // expect: refuses sliced-error
bool by_reference(const mcpac::Error& error) { return dynamic_cast<const mcpac::Denied*>(&error) != nullptr; }
template <class T>
std::size_t in_template(const T& more) {
  const std::vector<T> words{{"a", "b"}};  // expect: refuses text-range
  return words.size() + more.size();
}
int agent_main(R rt) {  // declared: filesystem.read_multiple_files
  std::vector<std::string> vector{{"a", "b"}};  // expect: refuses text-range // message: "a" and "b" are taken for the beginning and the end of one text // fix: {"a", "b"}
  std::set<std::string> set{{"a", "b"}};  // expect: refuses text-range
  std::unordered_set<std::string> unordered = {{"a", "b"}};  // expect: refuses text-range
  std::list<std::string> list{{"a", "b"}};  // expect: refuses text-range
  std::deque<std::string_view> deque{{"a", "b"}};  // expect: refuses text-range
  std::string text{"a", "b"};  // expect: refuses text-range
  text = {"a", "b"};  // expect: refuses text-range
  const std::string_view view("a", "b");  // expect: refuses text-range
  std::vector<char> letters("a", "b");  // expect: refuses text-range
  const std::map<std::string, std::vector<std::string>> map{{"k", {{"a", "b"}}}};  // expect: refuses text-range
  const Named named{{"a", "b"}};  // expect: refuses text-range
  take({{"a", "b"}});  // expect: refuses text-range
  // One pair of braces, pairs, and what our own types take as it is meant.
  const std::vector<std::string> good{"a", "b"};
  const std::map<std::string, std::string> pairs{{"a", "b"}, {"c", "d"}};
  const std::vector<std::pair<const char*, const char*>> literals{{"a", "b"}};
  const std::vector<std::vector<std::string>> nested{{"a", "b"}};
  const std::string part("abc", 2), twice(2, 'x');
  take({"a", "b"});
  const auto result = rt.filesystem.read_multiple_files.try_call({.paths = {{"a", "b"}}});  // use: filesystem.read_multiple_files {"paths": "?"}
  if (!result) {
    const auto copy = result.error();
    const auto& error = result.error();
    if (dynamic_cast<const mcpac::Denied*>(&copy) != nullptr) return 2;  // expect: refuses sliced-error // message: `copy` is a copy and so a mcpac::Error alone // fix: copy.kind()
    if (dynamic_cast<const mcpac::Denied*>(&error) != nullptr) return 3;
    if (dynamic_cast<const mcpac::ToolError*>(&result.error()) != nullptr) return 4;
  }
  try {
    result.value();
  } catch (mcpac::Error error) {
    if (dynamic_cast<mcpac::Timeout*>(&error) != nullptr) return 5;  // expect: refuses sliced-error
  } catch (const std::exception& error) {
    if (dynamic_cast<const mcpac::Error*>(&error) != nullptr) return 6;
  }
  return vector.size() + set.size() + unordered.size() + list.size() + deque.size() + view.size() + letters.size() +
                     map.size() + named.name.size() + good.size() + pairs.size() + literals.size() + nested.size() +
                     part.size() + twice.size() + in_template(text) >
                 9 || by_value(mcpac::Denied(mcpac::Error::Details{})) || by_reference(mcpac::Denied(mcpac::Error::Details{}))
             ? 1
             : 0;
}
