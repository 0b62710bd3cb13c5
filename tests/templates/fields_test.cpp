// Arguments and results as JSON: every kind of field, written and read.
#include <doctest/doctest.h>

#include <limits>

#include <mcpac.hpp>

using mcpac::Json;
using Args = mcp::forms::everything::Args;
using Result = mcp::forms::everything::Result;

namespace {

Args smallest() {
  return {.path = "p",
          .paths = {"a"},
          .entities = {{.street = "s"}},
          .address = {.street = "t"},
          .mode = Args::Mode::_1,
          .count = 3,
          .note = nullptr};
}

struct only_data : mcpac::Narrow<mcp::filesystem::write_file> {
  static constexpr std::string_view where = "path within ./data";
};

}  // namespace

TEST_SUITE("templates/fields") {
  TEST_CASE("what is left out is not sent, null is, and enums are their original text") {
    CHECK(mcpac::detail::to_json(smallest()) == Json{{"path", "p"},
                                                     {"paths", {"a"}},
                                                     {"entities", Json::array({{{"street", "s"}}})},
                                                     {"address", {{"street", "t"}}},
                                                     {"mode", "+1"},
                                                     {"count", 3},
                                                     {"note", nullptr}});
  }
  TEST_CASE("an optional struct is sent when one of its fields is given") {
    Args args = smallest();
    args.options = {.name = "n", .inner = {.x = 1}};
    CHECK(mcpac::detail::to_json(args)["options"] == Json{{"name", "n"}, {"inner", {{"x", 1.0}}}});
  }
  TEST_CASE("every optional kind is written as its schema means it") {
    Args args = smallest();
    args.labels = {"x"};
    args.ratio = 2;
    args.extra = {{"k", {1, 2}}};
    args.milestone = nullptr;
    args.headers = {{"a", "b"}};
    args.point = {1, 2.5};
    args.either = 3;
    args.tree = Args::Node{.label = "l", .next = Args::Node{.label = "m"}};
    const Json json = mcpac::detail::to_json(args);
    CHECK(json["labels"] == Json{"x"});
    CHECK(json["ratio"] == 2.0);
    CHECK(json["extra"] == Json{{"k", {1, 2}}});
    CHECK(json["milestone"].is_null());
    CHECK(json.contains("milestone"));
    CHECK(json["headers"] == Json{{"a", "b"}});
    CHECK(json["point"] == Json::array({1.0, 2.5}));
    CHECK(json["either"] == 3.0);
    CHECK(json["tree"] == Json{{"label", "l"}, {"next", {{"label", "m"}}}});
  }
  TEST_CASE("an integer that does not fit is refused where it is written") {
    CHECK_THROWS_AS(mcpac::Required<std::int64_t>(std::numeric_limits<std::uint64_t>::max()),
                    mcpac::InvalidArguments);
    CHECK_THROWS_AS(mcpac::Optional<std::uint64_t>(-1), mcpac::InvalidArguments);
    CHECK_THROWS_AS(mcpac::Required<std::int64_t>(Json(2.5)), mcpac::InvalidArguments);
    CHECK(mcpac::Required<std::int64_t>(Json(2.0)).value == 2);
  }
  TEST_CASE("a result reads its fields from the structured content and keeps the rest") {
    const Json structured = {{"text", "t"},
                             {"count", 5.0},
                             {"state", "closed"},
                             {"note", nullptr},
                             {"tree",
                              {{"label", "a"},
                               {"next", {{"label", "b"}, {"children", Json::array()}}},
                               {"children", Json::array()}}},
                             {"totals", {{"x", 1}}},
                             {"either", 2.5},
                             {"owner", {{"login", "me"}}},
                             {"point", {1, 2}},
                             {"extra", {1}},
                             {"unknown", true}};
    const auto result = mcpac::make_result_of<Result>(
        {{"content", Json::array()}, {"structuredContent", structured}});
    CHECK(result.schema_mismatch() == "");
    CHECK(result.text_ == "t");
    CHECK(result.count == 5);
    CHECK(to_string(result.state) == "closed");
    CHECK_FALSE(result.note);
    CHECK_FALSE(result.ratio);
    REQUIRE(result.tree);
    CHECK((*result.tree->next)->label == "b");
    CHECK(result.totals.at("x") == 1);
    CHECK(std::get<double>(result.either) == 2.5);
    CHECK(std::get<Result::Owner>(result.owner).login == "me");
    CHECK(result.structured()["unknown"] == true);
  }
  TEST_CASE("content of every type is told apart, and hostile content is no harm") {
    const Json image = {{"type", "image"}, {"data", "aGk="}, {"mimeType", "image/png"}};
    const Json resource = {{"type", "resource"},
                           {"resource", {{"uri", "file:///x"}, {"text", "r"}}}};
    const Json link = {{"type", "resource_link"}, {"uri", "file:///y"}, {"name", "y"}};
    const mcpac::ToolResult result(
        Json{{"content", Json::array({image, resource, link, 5, nullptr, {{"type", 7}}})}});
    const auto& content = result.content();
    REQUIRE(content.size() == 6);
    CHECK(content[0].type == mcpac::Content::Type::image);
    CHECK(content[0].bytes() == "hi");
    CHECK(content[1].type == mcpac::Content::Type::resource);
    CHECK(content[1].text == "r");
    CHECK(content[2].type == mcpac::Content::Type::link);
    CHECK(content[3].type == mcpac::Content::Type::other);
    CHECK(mcpac::ToolResult(Json{{"content", 5}}).content().empty());
    CHECK(mcpac::ToolResult(Json(3)).text().empty());
  }
  TEST_CASE("json() is the text where it is JSON, else the structured content, else an error") {
    const Json text = {{"type", "text"}, {"text", "[1]"}};
    CHECK(
        mcpac::ToolResult(Json{{"content", Json::array({text})}, {"structuredContent", {{"a", 1}}}})
            .json() == Json{1});
    CHECK(mcpac::ToolResult(Json{{"structuredContent", {{"a", 1}}}}).json() == Json{{"a", 1}});
    CHECK_THROWS_AS((void)mcpac::ToolResult(Json::object()).json(), mcpac::ToolError);
  }
  TEST_CASE("a capability lists its permissions, each once, with what narrows them") {
    using R = mcpac::Requires<mcp::filesystem::read_text_file, only_data,
                              mcp::filesystem::read_text_file>;
    CHECK(R::permissions() ==
          std::vector<std::string>{"filesystem.read_text_file",
                                   "filesystem.write_file where path within ./data"});
    CHECK(R::has<only_data>());
    CHECK_FALSE(R::has<mcp::filesystem::write_file>());
  }
}
