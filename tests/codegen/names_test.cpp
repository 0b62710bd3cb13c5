#include "codegen/names.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "codegen/enumerators.h"
#include "support_codegen.h"

using namespace mcpac;
using namespace mcpac::codegen;
using namespace mcpac::codegen::testing;
using Names = std::vector<std::string>;

namespace {

using Pins = std::map<std::string, std::string>;

// One step in the life of a lock: these originals are offered now, `pins` is what the lock has.
Pins step(const Pins& pins, const Names& originals) {
  const Names names = assign_names_in({.own_words = {}, .pinned = pins}, originals);
  Pins next;
  for (std::size_t i = 0; i < names.size(); ++i) next.emplace(originals[i], names[i]);
  return next;
}

ServerListing tools_called(const std::string& server, const Names& originals) {
  OrderedJson tools = OrderedJson::array();
  for (const std::string& name : originals)
    tools.push_back({{"name", name}, {"inputSchema", {{"type", "object"}}}});
  return listing(server, tools.dump());
}

Output generated(const std::vector<ServerListing>& servers, const Lock& known = {}) {
  auto output = generate(servers, known);
  REQUIRE(output);
  return std::move(*output);
}

}  // namespace

TEST_SUITE("codegen/names") {
  TEST_CASE("every illegal character becomes one underscore, also one of several bytes") {
    CHECK(to_identifier("read-text.file/x") == "read_text_file_x");
    CHECK(to_identifier("π") == "_");
    CHECK(to_identifier("emoji😀") == "emoji_");
    CHECK(to_identifier("a\nb\"*/") == "a_b___");
    CHECK(to_identifier("\xff\xfe") == "__");
  }

  TEST_CASE("a leading digit gets an underscore before it, an empty name is one") {
    CHECK(to_identifier("3d-render") == "_3d_render");
    CHECK(to_identifier("") == "_");
  }

  TEST_CASE("a very long name is cut, not refused") {
    CHECK(to_identifier(std::string(5000, 'x')).size() == 200);
  }

  TEST_CASE("keywords, alternative tokens and macros get an underscore after them") {
    CHECK(assign_names({"class", "and", "errno", "NULL", "std", "mcpac", "linux"}) ==
          Names{"class_", "and_", "errno_", "NULL_", "std_", "mcpac_", "linux_"});
  }

  TEST_CASE("what an underscore does not free gets x_ before it, and single underscores") {
    CHECK(assign_names({"--FILE-", "__LINE__", "_Bool", "LC_ALL", "搜索", "___a__b"}) ==
          Names{"x_FILE_", "x_LINE_", "x_Bool", "x_LC_ALL", "x_", "x_a_b"});
    CHECK(assign_names({"--FILE-", "-_FILE_", "x_FILE_"}) ==
          Names{"x_FILE__2", "x_FILE__3", "x_FILE_"});
    CHECK(is_name_of("x_LC_ALL", "LC_ALL"));
    CHECK(is_name_of("x_LC_ALL_2", "LC.ALL"));
    CHECK_FALSE(is_name_of("x_LC_ALL", "ALL"));
    CHECK(to_pascal_case("PRId thing") == "XPRIdThing");
  }

  TEST_CASE("no name of any rule is ever a reserved word") {
    const std::vector<std::string> parts{"_",   "-",    "<",     "__",  "FILE",  "LINE",  "LC",
                                         "ALL", "M",    "PRId",  "2",   "class", "errno", "EOF",
                                         "é",   "JSON", "linux", "and", "x_",    "Bool",  "a"};
    std::mt19937 random(11);  // NOLINT: the same names in every run
    for (int round = 0; round < 3'000; ++round) {
      std::set<std::string> originals;
      for (int count = static_cast<int>(random() % 6) + 1; count > 0; --count) {
        std::string name;
        for (int length = static_cast<int>(random() % 5); length > 0; --length)
          name += parts[random() % parts.size()];
        originals.insert(name);
      }
      const Names list(originals.begin(), originals.end());
      const Names names = assign_names(list, {"Args", "x_FILE_"});
      CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size());
      std::vector<OrderedJson> values(list.begin(), list.end());
      const auto enumerators = enumerators_of(values);
      for (std::size_t i = 0; i < list.size(); ++i) {
        INFO(list[i], " is ", names[i], " and ", enumerators[i].cpp_name);
        CHECK_FALSE(is_reserved_word(names[i]));
        CHECK_FALSE(names[i] == "x_FILE_");
        CHECK_FALSE(is_reserved_word(enumerators[i].cpp_name));
        CHECK_FALSE(is_reserved_word(to_pascal_case(list[i])));
        CHECK(is_name_of(names[i], list[i]));
        // So a lock that has the name keeps it.
        CHECK(assign_names_in({.own_words = {}, .pinned = {{list[i], names[i]}}}, {list[i]}) ==
              Names{names[i]});
      }
    }
  }

  TEST_CASE("words that only look like macros stay as they are") {
    CHECK(assign_names({"PRIVATE", "SIGNED", "ERROR", "Primary", "is_open"}) ==
          Names{"PRIVATE", "SIGNED", "ERROR", "Primary", "is_open"});
  }

  TEST_CASE(
      "of colliding names the legal one keeps its name, the others count in the order of "
      "originals") {
    CHECK(assign_names({"a.b", "a-b", "a_b"}) == Names{"a_b_3", "a_b_2", "a_b"});
    CHECK(assign_names({"+1", "-1"}) == Names{"_1", "_1_2"});
    CHECK(assign_names({"a-b", "a_b", "a_b_2"}) == Names{"a_b_3", "a_b", "a_b_2"});
  }

  TEST_CASE("a name depends on the other names, never on their order") {
    Names originals{"a.b", "a-b", "a_b", "class", "class_", "搜索", "Args", "", "_"};
    std::ranges::sort(originals);
    const Names first = assign_names(originals, {"Args"});
    Names shuffled(originals.rbegin(), originals.rend());
    Names second = assign_names(shuffled, {"Args"});
    std::ranges::reverse(second);
    CHECK(first == second);
  }

  TEST_CASE("words of the scope are taken") {
    CHECK(assign_names({"Args", "args"}, {"Args"}) == Names{"Args_", "args"});
  }

  TEST_CASE("ten thousand names that all map to one are told apart quickly") {
    Names originals;
    for (int i = 0; i < 10'000; ++i)
      originals.push_back("搜" + std::string(1, static_cast<char>('!' + i % 14)) +
                          std::string(static_cast<std::size_t>(i / 14 % 3), '-') + "é" +
                          std::to_string(i));
    Names names = assign_names(originals);
    std::ranges::sort(names);
    CHECK(std::ranges::adjacent_find(names) == names.end());
  }

  TEST_CASE("type names are PascalCase") {
    CHECK(to_pascal_case("due_date") == "DueDate");
    CHECK(to_pascal_case("createdBy") == "CreatedBy");
    CHECK(to_pascal_case("3d model") == "N3dModel");
    CHECK(to_pascal_case("搜索").empty());
    CHECK(to_pascal_case("EOF") == "EOF_");
  }

  TEST_CASE("whoever comes and goes, in every order, who stays keeps his name") {
    const Names all{"a-b", "a.b", "a_b", "a b"};
    // Every walk of five steps over the sets of tools that may be offered.
    std::size_t walks = 0;
    const auto walk = [&](const auto& self, const Pins& pins, int depth) -> void {
      if (depth == 0) return void(++walks);
      for (unsigned set = 0; set < 16; ++set) {
        Names offered;
        for (std::size_t i = 0; i < all.size(); ++i) {
          if ((set >> i & 1U) != 0) offered.push_back(all[i]);
        }
        const Pins next = step(pins, offered);
        std::set<std::string> distinct;
        for (const auto& [original, name] : next) {
          distinct.insert(name);
          const auto before = pins.find(original);
          REQUIRE((before == pins.end() || before->second == name));
          REQUIRE(is_name_of(name, original));
        }
        REQUIRE(distinct.size() == offered.size());
        self(self, next, depth - 1);
      }
    };
    walk(walk, {}, 4);
    CHECK(walks == 16 * 16 * 16 * 16);
  }

  TEST_CASE("without a lock the legal name wins, with one the owner does") {
    CHECK(step({}, {"a-b", "a_b"}) == Pins{{"a-b", "a_b_2"}, {"a_b", "a_b"}});
    CHECK(step({{"a-b", "a_b"}}, {"a-b", "a_b"}) == Pins{{"a-b", "a_b"}, {"a_b", "a_b_2"}});
    CHECK(step({{"a-b", "a_b_2"}}, {"a-b"}) == Pins{{"a-b", "a_b_2"}});
  }

  TEST_CASE("a pinned name that says something else, or is a reserved word, is given up") {
    CHECK(step({{"read", "write"}}, {"read"}) == Pins{{"read", "read"}});
    CHECK(step({{"class", "class"}}, {"class"}) == Pins{{"class", "class_"}});
    CHECK(assign_names_in({.own_words = {"Args"}, .pinned = {{"Args", "Args"}}}, {"Args"}) ==
          Names{"Args_"});
  }

  TEST_CASE("the names that the rule can give are known again, and no others") {
    CHECK(is_name_of("a_b", "a-b"));
    CHECK(is_name_of("a_b_2", "a-b"));
    CHECK(is_name_of("class_", "class"));
    CHECK(is_name_of("class__12", "class"));
    for (const char* name : {"a_b_1", "a_b_0", "a_b_02", "a_b2", "a_bx", "a_b_", "a_b__", "a_b_x",
                             "a-b", "a_b_2_3", "", "b", "a_b_12345678"}) {
      INFO(name);
      CHECK(is_name_of(name, "a-b") == (std::string(name) == "a_b_"));
    }
  }

  TEST_CASE("servers whose names differ only in case do not meet in one file") {
    const auto output = generated({tools_called("GitHub", {}), tools_called("github", {}),
                                   tools_called("MCPAC", {}), tools_called("Mcpac", {})});
    std::set<std::string> files;
    for (const auto& entry : output.files) {
      std::string file = entry.first;
      for (char& c : file) c = static_cast<char>(std::tolower(c));
      CHECK_MESSAGE(files.insert(file).second, file);
    }
    // Tools are no files: they may.
    const auto tools = generated({tools_called("s", {"Read", "read"})});
    CHECK(tools.lock.find_tool("s", "Read")->cpp_name == "mcp::s::Read");
    CHECK(tools.lock.find_tool("s", "read")->cpp_name == "mcp::s::read");
  }

  TEST_CASE("composed and decomposed letters are two names, each with its own original") {
    const std::string composed = "caf\xc3\xa9";
    const std::string decomposed = "cafe\xcc\x81";
    const auto output = generated({tools_called("s", {composed, decomposed})});
    const auto* one = output.lock.find_tool("s", composed);
    const auto* two = output.lock.find_tool("s", decomposed);
    REQUIRE(one != nullptr);
    REQUIRE(two != nullptr);
    CHECK(one->cpp_name != two->cpp_name);
    CHECK(output.files.at("s.hpp").find("caf\\303\\251") != std::string::npos);
  }

  TEST_CASE("names cut at their length are told apart, and the lock reads back") {
    const std::string base(240, 'x');
    const auto output = generated({tools_called("s", {base + "1", base + "2", base + "3"})});
    CHECK(output.lock.servers[0].tools.size() == 3);
    CHECK(parse_lock(to_text(output.lock), "mcpac.lock"));
  }

  TEST_CASE("the same lock gives the same bytes, whatever order it came about in") {
    Lock lock;
    const std::vector<Names> days{{"a-b"}, {"a.b", "a-b"}, {"a_b", "a-b", "a.b"}, {"a_b", "a.b"}};
    for (const Names& offered : days) {
      const Output today = generated({tools_called("my-server", offered)}, lock);
      const Output again = generated({listing_of(today.lock.servers[0])}, today.lock);
      CHECK(again.files == today.files);
      CHECK(to_text(again.lock) == to_text(today.lock));
      lock = today.lock;
    }
    CHECK(lock.find_tool("my-server", "a_b")->cpp_name == "mcp::my_server::a_b_3");
    CHECK(lock.find_tool("my-server", "a.b")->cpp_name == "mcp::my_server::a_b_2");
  }

  TEST_CASE("a name that nobody would guess is noted once, when it enters the lock") {
    const Output first = generated({tools_called("s", {"a-b", "a_b"})});
    REQUIRE(first.notes.size() == 1);
    CHECK(first.notes[0].permission == "s.a-b");
    CHECK(first.notes[0].message == "is a_b_2 in C++; a_b is another one's name");
    CHECK(generated({tools_called("s", {"a-b", "a_b"})}, first.lock).notes.empty());
  }

  TEST_CASE("names that meet the generated code's own compile") {
    std::vector<ServerListing> servers;
    for (const char* name : {"std", "MCPAC", "mcp", "posix", "F", "P", "Member", "server_tag",
                             "has", "errno", "3d", "-", "int", "server", "name", "lock"}) {
      servers.push_back(tools_called(
          name,
          {name, "P", "F", "Member", "name", "server", "server_tag", "permission", "3d", "+", "",
           "errno", "class", "std", "mcp", "mcpac", "\xe6\x90\x9c", std::string(300, 'y')}));
      servers.back().tools.push_back(
          {"own", OrderedJson::parse(R"({"name": "own", "inputSchema": {"type": "object",
            "properties": {"Own": {"type": "object", "title": "Own", "properties": {"Own":
            {"type": "object", "properties": {"Own": {"type": "string"}}}}}, "own": {"type":
            "string"}, "Args": {"type": "string"}}, "required": ["Own", "own"]}})")});
    }
    const Output output = generated(servers);
    const auto folder = temporary_folder();
    write_headers(output, folder.path());
    const auto source = folder.path() / "all.cpp";
    REQUIRE(write_file_atomic(source, "#include \"mcpac.hpp\"\nint main() {}\n"));
    for (const Compiler& compiler : compilers())
      CHECK_MESSAGE(check_syntax(compiler, source, folder.path()).empty(), compiler.name, ": ",
                    check_syntax(compiler, source, folder.path()));
  }

  TEST_CASE("a header that is older than the lock does not compile, and says what to run") {
    const Output old = generated({tools_called("s", {"read"}), tools_called("t", {"x"})});
    const Output fresh =
        generated({tools_called("s", {"read", "write"}), tools_called("t", {"x"})}, old.lock);
    const auto folder = temporary_folder();
    write_headers(fresh, folder.path());
    REQUIRE(write_file_atomic(folder.path() / "s.hpp", old.files.at("s.hpp")));
    const auto of_s = folder.path() / "of_s.cpp";
    const auto of_t = folder.path() / "of_t.cpp";
    REQUIRE(write_file_atomic(of_s, "#include \"s.hpp\"\nint main() {}\n"));
    REQUIRE(write_file_atomic(of_t, "#include \"t.hpp\"\nint main() {}\n"));
    for (const Compiler& compiler : compilers()) {
      CHECK(check_syntax(compiler, of_t, folder.path()).empty());
      const std::string words = check_syntax(compiler, of_s, folder.path());
      CHECK_MESSAGE(
          words.find("s.hpp is older than mcpac.lock: run `mcpac generate`") != std::string::npos,
          compiler.name, ": ", words);
    }
  }
}
