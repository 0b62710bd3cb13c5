// Definitions that try to get out of the place they are put in: everything stays data, everything
// is bounded.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "codegen/describe.h"
#include "support_codegen.h"

using namespace mcpac;
using namespace mcpac::codegen;
using namespace mcpac::codegen::testing;

namespace {

const std::string& header(const Output& output) {
  return output.files.at("s.hpp");
}

bool has_note(const Output& output, std::string_view permission, std::string_view part) {
  for (const Note& note : output.notes) {
    if (note.permission == permission && note.message.find(part) != std::string::npos) return true;
  }
  return false;
}

// One tool whose every text is `text`.
ServerListing saying(const std::string& text) {
  OrderedJson property = {{"type", "string"},
                          {"description", text},
                          {"title", text},
                          {"default", text},
                          {"pattern", text}};
  OrderedJson tool = {{"name", "t"}, {"title", text}, {"description", text}};
  tool["inputSchema"] = {{"type", "object"}};
  tool["inputSchema"]["properties"][text] = property;
  tool["inputSchema"]["properties"]["e"] = {{"enum", OrderedJson::array({text, "x"})},
                                            {"description", text}};
  tool["inputSchema"]["properties"]["o"] = {{"title", text}, {"type", "object"}};
  tool["inputSchema"]["properties"]["o"]["properties"][text] = property;
  tool["outputSchema"] = tool["inputSchema"];
  return {.server = "s",
          .identity = text,
          .implementation = text,
          .protocol_version = text,
          .tools = {{.name = "t", .definition = tool}}};
}

std::string compile_all(const Output& output) {
  const TemporaryFolder folder = temporary_folder();
  write_headers(output, folder.path());
  REQUIRE(write_file_atomic(folder.path() / "all.cpp",
                            "#include \"mcpac.hpp\"\nint main() { return 0; }\n"));
  return check_syntax(clang19(), folder.path() / "all.cpp", folder.path());
}

}  // namespace

TEST_SUITE("codegen/hostile") {
  TEST_CASE("no text of a server becomes code, whatever it holds") {
    const std::string texts[] = {"*/ #include </etc/passwd> /*",  "\n#error got out\n",
                                 "what?\?/\n#error trigraph",     "ends in \\",
                                 "ends in \\\n#error joined",     "R\"(raw)\" \"quoted\"",
                                 "}; #error } namespace evil {",  "\u202E evil \u2066",
                                 "`mcpac generate` $body$ {fmt}", "\r#error carriage return",
                                 "\u2028#error separator"};
    std::vector<ServerListing> listings;
    for (const std::string& text : texts) {
      listings.push_back(saying(text));
      listings.back().server = fmt::format("s{}", listings.size());
    }
    const auto output = generate(listings);
    REQUIRE(output);
    for (const auto& server : listings) {
      const std::string& text = output->files.at(server.server + ".hpp");
      CHECK(text.find("\n#error got") == std::string::npos);
      CHECK(text.find('\r') == std::string::npos);
      CHECK(text.find("\u202E") == std::string::npos);
      for (std::size_t at = text.find("///"); at != std::string::npos; at = text.find("///", at)) {
        const auto end = text.find('\n', at);
        CHECK(text.substr(at, end - at).find("*/") == std::string::npos);
        CHECK(text[end - 1] != '\\');
        at = end;
      }
    }
    const std::string words = compile_all(*output);
    CHECK_MESSAGE(words.empty(), words);
    CHECK(parse_lock(to_text(output->lock), "mcpac.lock"));
  }

  TEST_CASE("what a terminal is shown holds no control characters") {
    const auto output = generate({saying("\x1b]0;evil\x07 \x1b[2J")});
    REQUIRE(output);
    const LockedServer& server = output->lock.servers[0];
    CHECK(describe_tool(server, server.tools[0]).find('\x1b') == std::string::npos);
    CHECK(to_text(output->lock).find('\x1b') == std::string::npos);
  }

  TEST_CASE("a description of a megabyte is shortened, with a note, and kept whole in the lock") {
    const std::string text(std::size_t{1} << 20U, 'a');
    const auto output = generate({saying(text + "\n")});
    REQUIRE(output);
    CHECK(header(*output).size() < 200'000);
    CHECK(has_note(*output, "s.t", "shortened"));
    CHECK(output->lock.servers[0].tools[0].definition.at("description").get<std::string>().size() >
          text.size());
  }

  TEST_CASE("a hundred thousand properties become one Json, with a note") {
    OrderedJson properties = OrderedJson::object();
    auto& members = static_cast<OrderedJson::object_t::Container&>(
        properties.get_ref<OrderedJson::object_t&>());
    for (int i = 0; i < 100'000; ++i)
      members.emplace_back(fmt::format("p{}", i), OrderedJson::object());
    OrderedJson tool = {{"name", "t"}};
    tool["inputSchema"] = {{"type", "object"}, {"properties", std::move(properties)}};
    const auto output = generate({{.server = "s",
                                   .identity{},
                                   .implementation{},
                                   .protocol_version{},
                                   .tools = {{.name = "t", .definition = tool}}}});
    REQUIRE(output);
    CHECK(header(*output).find("using Args = ::mcpac::Json;") != std::string::npos);
    CHECK(has_note(*output, "s.t", "becomes Json"));
  }

  TEST_CASE("a schema a thousand levels deep is cut, with a note, and the lock reads back") {
    OrderedJson schema = {{"type", "string"}};
    for (int i = 0; i < 500; ++i) {
      OrderedJson outer = {{"type", "object"}};
      outer["properties"]["p"] = std::move(schema);
      schema = std::move(outer);
    }
    OrderedJson tool = {{"name", "t"}, {"inputSchema", std::move(schema)}};
    const auto output = generate({{.server = "s",
                                   .identity{},
                                   .implementation{},
                                   .protocol_version{},
                                   .tools = {{.name = "t", .definition = tool}}}});
    REQUIRE(output);
    CHECK(has_note(*output, "s.t", "nested too deeply"));
    CHECK(parse_lock(to_text(output->lock), "mcpac.lock"));
  }

  TEST_CASE("references that would unfold a small text into a large one are bounded") {
    OrderedJson defs = OrderedJson::object();
    for (int i = 0; i < 40; ++i) {
      const OrderedJson next = {{"$ref", fmt::format("#/$defs/d{}", i + 1)}};
      defs[fmt::format("d{}", i)] = {{"type", "array"},
                                     {"prefixItems", OrderedJson::array({next, next})}};
    }
    defs["d40"] = {{"type", "string"}};
    OrderedJson schema = {{"type", "object"}, {"$defs", defs}};
    schema["properties"]["p"] = {{"$ref", "#/$defs/d0"}};
    const Output output = generate_schema(schema.dump());
    CHECK(header(output).size() < 2'000'000);
    CHECK_FALSE(output.notes.empty());
  }

  TEST_CASE("circles of references are cut, those through objects become boxes") {
    const Output output = generate_schema(R"({"type": "object",
      "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"},
                "l": {"type": "array", "items": {"$ref": "#/$defs/l"}},
                "n": {"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}, "o": {"$ref": "#/$defs/m"}}},
                "m": {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}, "all": {"type": "array", "items": {"$ref": "#/$defs/n"}}}}},
      "properties": {"x": {"$ref": "#/$defs/a"}, "y": {"$ref": "#/$defs/l"}, "z": {"$ref": "#/$defs/n"}, "self": {"$ref": "#"}}})");
    CHECK(header(output).find("::mcpac::Box<N>") != std::string::npos);
    const std::string words = compile_all(output);
    CHECK_MESSAGE(words.empty(), words);
  }

  TEST_CASE("schemas that are no schemas at all generate") {
    std::string tools;
    for (
        const char* schema :
        {"null", "true", "false", "5", "\"x\"", "[]", "{}", R"({"type": 5})", R"({"type": []})",
         R"({"type": "object", "properties": []})",
         R"({"type": "object", "properties": {"a": 1, "b": null, "c": false}})",
         R"({"type": "object", "properties": {"a": {"enum": 5}, "b": {"enum": []}, "c": {"anyOf": {}}, "d": {"items": 1}}})",
         R"({"type": "object", "required": [1, null], "properties": {"a": {"type": ["string", 5]}}})",
         R"({"type": "object", "properties": {"a": {"type": "unheard"}, "b": {"const": {"x": 1}}}})",
         R"({"allOf": [{"allOf": [{"allOf": []}]}], "oneOf": [{}], "type": "object"})"}) {
      tools += fmt::format(R"({}{{"name": "t{}", "inputSchema": {}, "outputSchema": {}}})",
                           tools.empty() ? "" : ", ", tools.size(), schema, schema);
    }
    const auto output = generate({listing("s", "[" + tools + "]")});
    REQUIRE(output);
    CHECK(output->lock.servers[0].tools.size() == 15);
    const std::string words = compile_all(*output);
    CHECK_MESSAGE(words.empty(), words);
  }

  TEST_CASE("a tool that no permission can name is left out, with a note; the others stay") {
    OrderedJson bad_text = {{"name", "u"}, {"description", "\xff"}};
    ServerListing server =
        listing("s", R"([{"name": ""}, {"name": "a\u0000b"}, {"name": "fine"}])");
    server.tools.push_back({.name = "u", .definition = bad_text});
    server.tools.push_back({.name = "one", .definition = {{"name", "other"}}});
    const auto output = generate({server});
    REQUIRE(output);
    CHECK(output->lock.servers[0].tools.size() == 1);
    CHECK(output->notes.size() >= 4);
  }

  TEST_CASE("of two tools with one name one is taken, whatever the order") {
    const auto one = generate({listing(
        "s", R"([{"name": "t", "description": "a"}, {"name": "t", "description": "b"}])")});
    const auto two = generate({listing(
        "s", R"([{"name": "t", "description": "b"}, {"name": "t", "description": "a"}])")});
    REQUIRE(one);
    REQUIRE(two);
    CHECK(one->files == two->files);
    CHECK(one->lock.servers[0].tools.size() == 1);
  }

  TEST_CASE("server names that are no names are refused, names that collide are told apart") {
    CHECK_FALSE(generate({listing("../x", "[]")}));
    CHECK_FALSE(generate({listing("a", "[]"), listing("a", "[]")}));
    const auto output =
        generate({listing("my-server", "[]"), listing("my_server", "[]"), listing("std", "[]"),
                  listing("mcpac", "[]"), listing("has", "[]")});
    REQUIRE(output);
    CHECK(output->lock.find_server("my_server")->cpp_name == "mcp::my_server");
    CHECK(output->lock.find_server("my-server")->cpp_name == "mcp::my_server_2");
    CHECK(output->lock.find_server("std")->cpp_name == "mcp::std_");
    CHECK(output->lock.find_server("mcpac")->cpp_name == "mcp::mcpac_");
    CHECK(output->lock.find_server("has")->cpp_name == "mcp::has_");
    const std::string words = compile_all(*output);
    CHECK_MESSAGE(words.empty(), words);
  }

  TEST_CASE("properties and tools called like what surrounds them compile") {
    std::string properties;
    for (const char* name : {"Args",    "Result",      "value",          "mcpac_s",   "mcpac_v",
                             "mcpac_e", "mcpac_visit", "mcpac_presence", "to_string", "server",
                             "name",    "permission",  "text",           "content",   "Mode",
                             "mode",    "std",         "errno",          "int",       "",
                             "搜索"}) {
      properties += fmt::format(
          R"({}"{}": {{"type": "object", "properties": {{"{}": {{"enum": ["a", "{}"]}}}}}})",
          properties.empty() ? "" : ", ", name, name, name);
    }
    std::string tools;
    for (const char* name : {"s", "Args", "Result", "server_tag", "Member", "name", "permission",
                             "whole", "mcpac", "std", "value", "Mode", "assert", "搜"}) {
      tools += fmt::format(
          R"({}{{"name": "{}", "inputSchema": {{"type": "object", "properties": {{{}}}}}, "outputSchema": {{"type": "object", "properties": {{{}}}}}}})",
          tools.empty() ? "" : ", ", name, properties, properties);
    }
    const auto output = generate({listing("s", "[" + tools + "]")});
    REQUIRE(output);
    const std::string words = compile_all(*output);
    CHECK_MESSAGE(words.empty(), words);
  }
}
