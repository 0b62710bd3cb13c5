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
                          {"pattern", text},
                          {"format", text},
                          {"examples", OrderedJson::array({text})}};
  OrderedJson tool = {{"name", "t"}, {"title", text}, {"description", text}};
  tool["inputSchema"] = {{"type", "object"}};
  tool["inputSchema"]["properties"][text] = property;
  tool["inputSchema"]["properties"]["e"] = {{"enum", OrderedJson::array({text, "x"})},
                                            {"description", text}};
  tool["inputSchema"]["properties"]["o"] = {{"title", text}, {"type", "object"}};
  tool["inputSchema"]["properties"]["o"]["properties"][text] = property;
  tool["inputSchema"]["properties"]["o"]["additionalProperties"] = property;
  tool["inputSchema"]["properties"]["m"] = {{"enum", OrderedJson::array({text, 1, true})}};
  tool["inputSchema"]["properties"]["c"] = {{"const", text}};
  tool["inputSchema"]["properties"]["j"]["const"] = {{"k", OrderedJson::array({text})}};
  tool["inputSchema"]["properties"]["r"] = {{"$ref", text}};
  tool["inputSchema"]["properties"]["n"] = {{"$ref", "#/$defs/" + text}};
  tool["inputSchema"]["$defs"][text] = {{"type", text}, {"$id", text}, {"$anchor", text}};
  tool["inputSchema"]["properties"]["d"] = {
      {"discriminator", {{"propertyName", text}, {"mapping", {{text, text}}}}},
      {"oneOf", OrderedJson::array({{{"type", "object"}, {"title", text}},
                                    {{"type", "object"}, {"properties", {{text, property}}}}})}};
  tool["inputSchema"]["required"] = OrderedJson::array({text, "c", "j"});
  tool["annotations"] = {{"title", text}, {"readOnlyHint", text}};
  tool["outputSchema"] = tool["inputSchema"];
  return {.server = "s",
          .identity = text,
          .implementation = text,
          .protocol_version = text,
          .tools = {{.name = "t", .definition = tool}}};
}

ServerListing with_schema(OrderedJson schema) {
  OrderedJson tool = {{"name", "t"}, {"inputSchema", schema}, {"outputSchema", std::move(schema)}};
  return {.server = "s",
          .identity{},
          .implementation{},
          .protocol_version{},
          .tools = {{.name = "t", .definition = std::move(tool)}}};
}

// An object with so many members; adding one by one would look through all that are there.
OrderedJson members(int count, const std::string& prefix, const OrderedJson& value) {
  OrderedJson object = OrderedJson::object();
  auto& list =
      static_cast<OrderedJson::object_t::Container&>(object.get_ref<OrderedJson::object_t&>());
  for (int i = 0; i < count; ++i) list.emplace_back(fmt::format("{}{}", prefix, i), value);
  return object;
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
    const std::string texts[] = {"*/ #include </etc/passwd> /*",
                                 "\n#error got out\n",
                                 "what?\?/\n#error trigraph",
                                 "ends in \\",
                                 "ends in \\\n#error joined",
                                 "R\"(raw)\" \"quoted\"",
                                 "}; #error } namespace evil {",
                                 "\u202E evil \u2066",
                                 "`mcpac generate` $body$ {fmt}",
                                 "\r#error carriage return",
                                 "\u2028#error separator",
                                 "?\?/",
                                 "a\\\r\n#error joined",
                                 "\"; } #error got out\n struct X { const char* s = \"",
                                 "\\\"); system(\"x\"); (\"",
                                 "\\u000a#error universal",
                                 "\x0b#error vertical tab\x0c",
                                 "\u0085#error next line",
                                 "//*/ /*/",
                                 "%:error digraph",
                                 "\n%:error digraph",
                                 "#pragma once\n#endif",
                                 "\u200b\u2066\u2069\ufeff",
                                 "\xef\xbf\xbe",
                                 "__COUNTER__ _Pragma(\"x\") __has_include"};
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

  TEST_CASE("a tool's and a server's own name cannot get out either") {
    ServerListing server = listing("s", "[]");
    for (const char* name : {"*/ #error", "t\n#error got out", "\"; #error", "t\\", "?\?/",
                             "\u202Et", "R\"(", "$tool$"})
      server.tools.push_back({.name = name, .definition = {{"name", name}}});
    server.implementation = "1.0\n#error version */ \\";
    server.protocol_version = "\"\n#error";
    server.identity = "npx\n#error";
    const auto output = generate({server});
    REQUIRE(output);
    // Our own two, for another runtime and another lock, and none of the server's.
    const std::string& text = output->files.at("s.hpp");
    std::size_t errors = 0;
    for (auto at = text.find("\n#error "); at != std::string::npos;
         at = text.find("\n#error ", at + 1))
      ++errors;
    CHECK(errors == 2);
    const std::string words = compile_all(*output);
    CHECK_MESSAGE(words.empty(), words);
    for (const char* name : {"a/b", "a\nb", "a\"b", "..", "", "a b", "a*/"})
      CHECK_FALSE(generate({listing(name, "[]")}));
  }

  TEST_CASE("a hundred thousand values of an enum become a plain type, with a note") {
    OrderedJson texts = OrderedJson::array();
    OrderedJson numbers = OrderedJson::array();
    OrderedJson both = OrderedJson::array();
    for (int i = 0; i < 100'000; ++i) {
      texts.push_back(fmt::format("v{}", i));
      numbers.push_back(i);
      both.push_back(i % 2 == 0 ? OrderedJson(i) : OrderedJson(fmt::format("v{}", i)));
    }
    OrderedJson schema = {{"type", "object"}};
    schema["properties"] = {
        {"t", {{"enum", texts}}}, {"n", {{"enum", numbers}}}, {"b", {{"enum", both}}}};
    const auto output = generate({with_schema(schema)});
    REQUIRE(output);
    CHECK(header(*output).find("::mcpac::Optional<::std::string> t{};") != std::string::npos);
    CHECK(header(*output).find("::mcpac::Optional<::std::int64_t> n{};") != std::string::npos);
    CHECK(header(*output).find("::mcpac::Optional<::mcpac::Json> b{};") != std::string::npos);
    CHECK(header(*output).size() < 20'000);
    CHECK(has_note(*output, "s.t", "too many or too long values"));
  }

  TEST_CASE("many alternatives, patterns, items and parts of an allOf are bounded") {
    OrderedJson list = OrderedJson::array();
    for (int i = 0; i < 5'000; ++i)
      list.push_back(
          {{"type", "object"}, {"properties", {{fmt::format("p{}", i), {{"const", i}}}}}});
    for (const char* name : {"anyOf", "oneOf", "allOf", "prefixItems"}) {
      OrderedJson schema = {{"type", "object"}};
      schema["properties"]["p"] = {{name, list}};
      schema["patternProperties"] = members(5'000, "^", {{"type", "string"}});
      const auto output = generate({with_schema(schema)});
      REQUIRE(output);
      CHECK(header(*output).size() < 200'000);
      CHECK(has_note(*output, "s.t", "becomes Json"));
    }
    OrderedJson root = {{"type", "object"}, {"anyOf", list}};
    const auto output = generate({with_schema(root)});
    REQUIRE(output);
    CHECK(header(*output).size() < 5'000'000);
  }

  TEST_CASE("an allOf that doubles with every reference is bounded") {
    OrderedJson defs = OrderedJson::object();
    for (int i = 0; i < 60; ++i) {
      const OrderedJson next = {{"$ref", fmt::format("#/$defs/d{}", i + 1)}};
      OrderedJson part = {{"allOf", OrderedJson::array({next, next})}};
      part["properties"]["p"] = {{"allOf", OrderedJson::array({next, next})}};
      part["properties"]["q"] = {{"$ref", fmt::format("#/$defs/d{}", i + 1)},
                                 {"required", OrderedJson::array({"p"})}};
      defs[fmt::format("d{}", i)] = std::move(part);
    }
    defs["d60"] = {{"type", "object"}, {"properties", {{"p", {{"$ref", "#/$defs/d0"}}}}}};
    OrderedJson schema = {{"type", "object"}, {"$defs", std::move(defs)}};
    schema["properties"]["p"] = {{"$ref", "#/$defs/d0"}};
    schema["allOf"] = OrderedJson::array({{{"$ref", "#/$defs/d1"}}});
    const auto output = generate({with_schema(schema)});
    REQUIRE(output);
    CHECK(header(*output).size() < 2'000'000);
    CHECK(has_note(*output, "s.t", "becomes Json"));
    const std::string words = compile_all(*output);
    CHECK_MESSAGE(words.empty(), words);
  }

  TEST_CASE("anchors and ids that point at each other, or a hundred thousand of them, end") {
    OrderedJson defs = members(100'000, "d", {{"$anchor", "a"}, {"$id", "b/"}, {"$ref", "#a"}});
    OrderedJson schema = {{"type", "object"}, {"$defs", std::move(defs)}};
    schema["properties"]["p"] = {{"$ref", "#a"}};
    schema["properties"]["q"] = {{"$ref", "b/#a"}};
    schema["properties"]["d"] = {{"$dynamicRef", "#x"}, {"$dynamicAnchor", "x"}};
    const auto output = generate({with_schema(schema)});
    REQUIRE(output);
    CHECK(header(*output).size() < 20'000);
    CHECK(has_note(*output, "s.t", "circle"));
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
    CHECK_FALSE(generate({listing("mcpac", "[]")}));
    const auto output = generate({listing("my-server", "[]"), listing("my_server", "[]"),
                                  listing("std", "[]"), listing("has", "[]")});
    REQUIRE(output);
    CHECK(output->lock.find_server("my_server")->cpp_name == "mcp::my_server");
    CHECK(output->lock.find_server("my-server")->cpp_name == "mcp::my_server_2");
    CHECK(output->lock.find_server("std")->cpp_name == "mcp::std_");
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
