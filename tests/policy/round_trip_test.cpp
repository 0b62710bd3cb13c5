#include <doctest/doctest.h>

#include <set>

#include "policy/support_world.h"
#include "policy/text/parser.h"
#include "policy/text/printer.h"

namespace mcpac::policy::testing {
namespace {

std::set<std::string> texts(const std::vector<const char*>& members) {
  std::set<std::string> found;
  for (const Json& line : vectors()) {
    for (const char* member : members) {
      const Json* value = find_member(line, member);
      if (value == nullptr) continue;
      if (value->is_string()) found.insert(*value);
      if (value->is_array()) {
        for (const auto& text : *value) found.insert(text);
      }
    }
  }
  return found;
}

std::string printed(const ast::Rule& rule) {
  return print_body(rule);
}
std::string printed(const ast::File& file) {
  return print(file);
}

// Prints what parses, and checks that it parses back to what prints the same.
template <class Parse>
std::size_t check_round_trips(const std::set<std::string>& all, Parse parse) {
  std::size_t parsed = 0;
  for (const auto& text : all) {
    const auto first = parse(text);
    if (!first) continue;
    ++parsed;
    const std::string once = printed(*first);
    const auto second = parse(once);
    REQUIRE_MESSAGE(second.has_value(), text << " prints as " << once);
    CHECK(printed(*second) == once);
  }
  return parsed;
}

}  // namespace

TEST_CASE("every rule of the vectors prints to a text that parses back to the same print") {
  const auto rule = [](const std::string& text) {
    return parse_rule({"--grant", text}, Effect::kAllow);
  };
  CHECK(check_round_trips(texts({"grants", "asks", "denies"}), rule) > 100);
  const auto file = [](const std::string& text) { return parse_file({"policy", text}); };
  CHECK(check_round_trips(texts({"policy", "ceilings"}), file) > 10);
}

TEST_CASE("a canonical text prints as it stands") {
  for (const char* text :
       {"filesystem.read_text_file(path within ./data, ?head 1..1000)",
        "\"odd server\".\"read/file\"",
        "gateway.invoke_tool(arguments.\"a.b\"[*].c == null, name in {\"a\", 1, true}, ..)",
        "kv.get(key like \"a*\" starts \"a\" ends \"b\" len 0..5 one-line re /a\\/b [,)]+/ except "
        "{\"ab\"})",
        "http.get(url scheme https host {*.example.com, b.example} port {443, 8443})",
        "http.get(url ip in {10.0.0.0/8, ::1/128} except {10.1.0.0/16})",
        "fs.read(path within \"./my data\" except {./x, \"./a,b\"})",
        "kv.get, kv.set(value size 1..3, key != \"x\") calls <= 3 rate 2/min for 15m until "
        "2026-06-01T12:00:00Z because \"why # not\"",
        "kv.get(tail absent, b any, n > -1.5e3 <= 2)"}) {
    const auto rule = parse_rule({"--grant", text}, Effect::kAllow);
    REQUIRE_MESSAGE(rule.has_value(), text);
    CHECK(print_body(*rule) == text);
  }
}

}  // namespace mcpac::policy::testing
