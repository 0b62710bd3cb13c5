// Small parts of the client: forms that are filled in, arguments that travel as headers.
#include "mcp/asked.h"

#include <doctest/doctest.h>

#include "mcp/param_headers.h"
#include "mcp/support.h"

using namespace mcpac;
using mcpac::mcp::capability_of;
using mcpac::mcp::ParamHeader;
using mcpac::mcp::read_param_headers;
using mcpac::mcp::with_defaults;

namespace {

Json json(std::string_view text) {
  auto parsed = parse_json(text);
  REQUIRE(parsed.has_value());
  return *parsed;
}

Result<std::vector<ParamHeader>> annotated(const std::string& properties) {
  auto schema = parse_ordered_json(R"({"type": "object", "properties": )" + properties + "}");
  REQUIRE(schema.has_value());
  return read_param_headers(*schema);
}

}  // namespace

TEST_SUITE("mcp/asked") {
  TEST_CASE("an accepted form gets the defaults of what it leaves out, and only of that") {
    const Json params = json(R"({"requestedSchema": {"properties": {
        "name": {"default": "Jo"}, "age": {"default": 30}, "note": {}}}})");
    CHECK(with_defaults(json(R"({"action": "accept"})"), params) ==
          json(R"({"action": "accept", "content": {"name": "Jo", "age": 30}})"));
    CHECK(with_defaults(json(R"({"action": "accept", "content": {"name": ""}})"), params) ==
          json(R"({"action": "accept", "content": {"name": "", "age": 30}})"));
    CHECK(with_defaults(json(R"({"action": "decline"})"), params) ==
          json(R"({"action": "decline"})"));
    CHECK(with_defaults(json(R"({"action": "accept", "content": [1]})"), params) ==
          json(R"({"action": "accept", "content": [1]})"));
  }

  TEST_CASE("only what servers may ask a client has a capability") {
    CHECK(capability_of("elicitation/create") == "elicitation");
    CHECK(capability_of("sampling/createMessage") == "sampling");
    CHECK(capability_of("roots/list") == "roots");
    CHECK(capability_of("tools/call").empty());
  }

  TEST_CASE("annotated arguments become headers, encoded where they are not plain") {
    const auto found = annotated(R"({"region": {"type": "string", "x-mcp-header": "Region"},
        "deep": {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
        "plain": {"type": "string"}})");
    REQUIRE_MESSAGE(found.has_value(), test::shown(found));
    const auto headers =
        param_headers(*found, json(R"({"region": "us\r\nX: 1", "deep": {"n": 7}, "plain": "p"})"));
    CHECK(headers == std::map<std::string, std::string>{
                         {"Mcp-Param-N", "7"}, {"Mcp-Param-Region", "=?base64?dXMNClg6IDE=?="}});
    CHECK(param_headers(*found, json(R"({"region": null, "deep": 3})")).empty());
  }

  TEST_CASE("an annotation that is no safe name of a header makes the tool unusable") {
    for (const char* wrong :
         {R"({"a": {"type": "string", "x-mcp-header": ""}})",
          R"({"a": {"type": "string", "x-mcp-header": "A B"}})",
          R"({"a": {"type": "string", "x-mcp-header": "A:"}})",
          R"({"a": {"type": "string", "x-mcp-header": "A\r\nHost"}})",
          R"({"a": {"type": "string", "x-mcp-header": 3}})",
          R"({"a": {"type": "number", "x-mcp-header": "A"}})",
          R"({"a": {"type": "object", "x-mcp-header": "A"}})", R"({"a": {"x-mcp-header": "A"}})",
          R"({"a": {"type": "string", "x-mcp-header": "A"},
              "b": {"type": "string", "x-mcp-header": "a"}})",
          R"({"a": {"type": "array", "items": {"type": "string", "x-mcp-header": "A"}}})",
          R"({"a": {"anyOf": [{"type": "string", "x-mcp-header": "A"}]}})"}) {
      CHECK_MESSAGE(!annotated(wrong).has_value(), wrong);
    }
  }
}
