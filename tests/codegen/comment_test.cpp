// What comments say, and that no word of a server is more than a word in them.
#include <doctest/doctest.h>

#include "codegen/describe.h"
#include "codegen/emit_comment.h"
#include "support_codegen.h"

using namespace mcpac;
using namespace mcpac::codegen;
using namespace mcpac::codegen::testing;

namespace {

Output made(const std::string& tools) {
  auto output = generate({listing("s", tools)});
  REQUIRE(output);
  return std::move(*output);
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

const std::string kTool = R"([{"name": "get-it", "title": "Get it", "description": "Gets it.",
  "annotations": {"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": true},
  "inputSchema": {"type": "object", "required": ["count"], "properties": {
    "count": {"type": "integer", "description": "How many", "minimum": 1, "maximum": 9, "default": 5},
    "unit": {"oneOf": [{"const": "cm", "description": "centimetres"}, {"const": "in", "title": "inches"}]},
    "mode": {"type": "string", "enum": ["a", "b"], "x-enumDescriptions": ["the first", "the second"]},
    "kind": {"type": "string", "enum": ["x", "y"], "x-enumDescriptions": {"y": "why"}}}}}])";

}  // namespace

TEST_SUITE("codegen/comment") {
  TEST_CASE("a tool's header says title, description, hints as claims, and what is thrown") {
    const std::string header = made(kTool).files.at("s.hpp");
    CHECK(has(header, R"(/// Get it
///
/// Gets it.
///
/// @note The server claims: read-only, not destructive, idempotent, open-world.
///
/// @throws mcpac::Error)"));
  }
  TEST_CASE("a field says its description, constraints and default") {
    const std::string header = made(kTool).files.at("s.hpp");
    CHECK(has(header, R"(    /// How many
    ///
    /// default: 5; >= 1, <= 9
    ::mcpac::Required<::std::int64_t> count;)"));
  }
  TEST_CASE("single values of an enum are explained where the schema does") {
    const Output output = made(kTool);
    const std::string& header = output.files.at("s.hpp");
    CHECK(has(header, "      cm,  ///< centimetres\n      in,  ///< inches\n"));
    CHECK(has(header, "      a,  ///< the first\n      b,  ///< the second\n"));
    CHECK(has(header, "      x,\n      y,  ///< why\n"));
    const auto& server = output.lock.servers.front();
    CHECK(has(describe_tool(server, server.tools.front()), "      cm,  // centimetres\n"));
  }
  TEST_CASE("describe names the permission, the C++ type, a call, and what differs") {
    const Output output = made(kTool);
    const auto& server = output.lock.servers.front();
    const std::string text = describe_tool(server, server.tools.front());
    CHECK(has(text, "struct get_it {  // s.get-it\n"));
    CHECK(has(text, "mcpac::Requires<mcp::s::get_it> rt"));
    CHECK(has(text, "auto result = rt.s.get_it({.count = 1});"));
    CHECK(has(text, "grants use the server's own name for it, get-it:"));
    CHECK(has(text, "--grant s.get-it "));
  }
  TEST_CASE("a grant is quoted for the shell where the name wants it") {
    const Output output = made(R"([{"name": "a.b"}, {"name": "it's"}, {"name": "plain_1-x"}])");
    const auto& server = output.lock.servers.front();
    CHECK(grant_text(server, server.tools[0]) == R"('s."a.b"')");
    CHECK(grant_text(server, server.tools[1]) == R"('s."it'\''s"')");
    CHECK(grant_text(server, server.tools[2]) == "s.plain_1-x");
  }
  TEST_CASE("no word of a server is a Doxygen command, a tag, a reference or a fence") {
    const std::string words =
        R"(@param x y\n\\file z\n<b>bold <unknown> </b> <!-- -->\n@return 1 \\verbatim\n```\n~~~\n&lt; &#1; @{ \\f$ a@b.c \\)";
    const Output output = made(
        R"([{"name": "t", "title": "@param t)" + words + R"(", "description": ")" + words +
        R"(", "inputSchema": {"type": "object", "properties": {"f": {"enum": ["v", "w"], "description": ")" +
        words + R"(", "default": "@param", "x-enumDescriptions": [")" + words + R"("]}}}}])");
    const TemporaryFolder folder = temporary_folder();
    write_headers(output, folder.path());
    const Compiler compiler{"clang 19 -Wdocumentation",
                            "clang++-19 -std=c++23 -stdlib=libc++ -Wall -Wdocumentation "
                            "-Wdocumentation-pedantic -Werror -Wno-pragma-once-outside-header"};
    const std::string found = check_syntax(compiler, folder.path() / "s.hpp", folder.path());
    CHECK_MESSAGE(found.empty(), found);
    CHECK_FALSE(has(output.files.at("s.hpp"), "/// @param"));
    CHECK_FALSE(has(output.files.at("s.hpp"), "/// ```"));
  }
}
