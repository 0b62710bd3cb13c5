#include <doctest/doctest.h>

#include <set>

#include "core/printable.h"
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

TEST_CASE("what nobody sees is printed by its number, and reads back as the very value") {
  const std::string zwnj = "a\u200cb";
  const std::string blank = "\u2800";
  const std::string tag = "x\U000e0041";
  for (const std::string& value :
       {zwnj, blank, tag, std::string("\u2764\ufe0f"), std::string("\x7f"),
        std::string("\u00a0/etc"), std::string("\\u200c")}) {
    const std::string text = "kv.get(key == " + to_text(Json(value)) + ", path within " +
                             to_text(Json("./" + value)) + ")";
    const auto rule = parse_rule({"--grant", text}, Effect::kAllow);
    REQUIRE_MESSAGE(rule.has_value(), text);
    const std::string shown = print_body(*rule);
    CAPTURE(shown);
    CHECK(mcpac::printable(shown) == shown);  // nothing is left to hide
    const auto again = parse_rule({"--grant", shown}, Effect::kAllow);
    REQUIRE(again.has_value());
    const auto& args = again->targets.front().brackets->args;
    CHECK(std::get<std::string>(
              std::get<ast::EqualTest>(args[0].tests.front().body).literal.value) == value);
    CHECK(std::get<ast::PathTest>(args[1].tests.front().body).path == "./" + value);
  }
  // A bare path is quoted then, and an expression has RE2's escape.
  const auto bare = parse_rule({"--grant", "fs.read(path within ./a\u200cb)"}, Effect::kAllow);
  REQUIRE(bare.has_value());
  CHECK(print_body(*bare) == R"(fs.read(path within "./a\u200cb"))");
  const auto expression = parse_rule({"--grant", "kv.get(key re /a\u200c\\\\b/)"}, Effect::kAllow);
  REQUIRE(expression.has_value());
  CHECK(print_body(*expression) == R"(kv.get(key re /a\x{200c}\\b/))");
}

}  // namespace mcpac::policy::testing
