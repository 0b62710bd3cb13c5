// Arguments and results as JSON: every kind of field, written and read.
#include <doctest/doctest.h>

#include <limits>
#include <map>
#include <optional>
#include <vector>

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
          .mode = Args::Mode::plus_1,
          .count = 3,
          .note = nullptr};
}

}  // namespace

// What a program brings along: one struct for each of the two ways.
namespace mine {
struct Visited {
  int x = 0;
  static void mcpac_visit(auto& self, auto& visit) { visit("x", self.x); }
};
struct Known {
  std::string y{};
};
inline void from_json(const Json& json, Known& into) {
  json.at("y").get_to(into.y);
}
inline void to_json(Json& json, const Known& from) {
  json = {{"y", from.y}};
}
}  // namespace mine

namespace {

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
    CHECK_THROWS_AS((void)mcpac::Required<std::int64_t>(std::numeric_limits<std::uint64_t>::max()),
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
                             {"steps", Json::array({{{"status", "done"}, {"at", "noon"}},
                                                    {{"status", "failed"}, {"reason", "r"}}})},
                             {"unknown", true}};
    const auto result = mcpac::make_result_of<Result>(
        {{"content", Json::array()}, {"structuredContent", structured}}, "forms.every/thing");
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
    CHECK(std::get<Result::Done>(result.steps[0]).extra.at("at") == "noon");
    CHECK(std::get<Result::Failed>(result.steps[1]).reason == "r");
  }
  TEST_CASE("enums hold what their schema holds: texts, numbers, anything") {
    Args args = smallest();
    args.level = Args::Level::minus_1;
    args.mixed = Args::Mixed::_5;
    Json json = mcpac::detail::to_json(args);
    CHECK(json["level"] == -1);
    CHECK(json["mixed"] == 5);
    args.level = 2;  // a number is what the wire says, too
    args.mixed = Args::Mixed::true_;
    json = mcpac::detail::to_json(args);
    CHECK(json["level"] == 2);
    CHECK(json["mixed"] == true);
    args.level = 3;
    CHECK_THROWS_AS((void)mcpac::detail::to_json(args), mcpac::InvalidArguments);
    // As unsigned it is no -1, whatever its bits are.
    CHECK_THROWS_AS(mcpac::Required<Args::Level>(Json(std::numeric_limits<std::uint64_t>::max())),
                    mcpac::InvalidArguments);
    CHECK(*mcpac::Required<Args::Level>(Json(-1)) == Args::Level::minus_1);
    CHECK(*mcpac::Required<Args::Mixed>(Json("any")) == Args::Mixed::any);
    CHECK_THROWS_AS(mcpac::Required<Args::Level>(Json(7)), mcpac::InvalidArguments);
    CHECK_THROWS_AS(mcpac::Required<Args::Mixed>(Json("5")), mcpac::InvalidArguments);
  }
  TEST_CASE("a constant is sent without being written, and tells alternatives apart") {
    Args args = smallest();
    args.shape = Args::Square{.side = 2, .extra = {{"n", 1}, {"side", 9}}};
    const Json json = mcpac::detail::to_json(args);
    CHECK(json["shape"] == Json{{"type", "square"}, {"side", 2}, {"n", 1}});
    const auto back = mcpac::detail::from_json<Args>(json);
    CHECK(std::get<Args::Square>(*back.shape).extra.at("n") == 1);
    CHECK(mcpac::detail::to_json(back) == json);
    const Json wrong = {{"type", "square"}, {"side", "x"}};
    try {
      (void)mcpac::detail::from_json<mcpac::Variant<Args::Circle, Args::Square>>(wrong);
      FAIL("read");
    } catch (const mcpac::InvalidArguments& error) {
      CHECK(error.pointer() == "/side");  // of the alternative that was meant
    }
  }
  TEST_CASE("numbers keep their digits, and whole numbers are written as such") {
    using mcpac::detail::to_json;
    CHECK(to_json(5.0).dump() == "5");
    CHECK(to_json(-0.0).dump() == "-0.0");
    CHECK(to_json(0.1).dump() == "0.1");
    CHECK(to_json(1e300).dump() == "1e+300");
    CHECK(to_json(std::numeric_limits<std::int64_t>::min()).dump() == "-9223372036854775808");
    CHECK(to_json(std::numeric_limits<std::uint64_t>::max()).dump() == "18446744073709551615");
    CHECK(*mcpac::Required<double>(std::int64_t{1} << 62) == 4611686018427387904.0);
    CHECK_THROWS_AS(mcpac::Required<double>((std::int64_t{1} << 53) + 1), mcpac::InvalidArguments);
    CHECK_THROWS_AS(mcpac::Required<double>(Json((std::int64_t{1} << 53) + 1)),
                    mcpac::InvalidArguments);
    CHECK_THROWS_AS((void)mcpac::Required<double>(std::numeric_limits<std::uint64_t>::max()),
                    mcpac::InvalidArguments);
  }
  TEST_CASE("an argument struct is read from Json, and what does not fit is named") {
    const Json json = {{"street", "s"}, {"no", 5}};
    CHECK(*mcpac::detail::from_json<Args::Address>(json).no == 5);
    Args args = smallest();
    args.entities = Json::array({json});
    CHECK(*args.entities->front().street == "s");
    CHECK_THROWS_AS((void)mcpac::detail::from_json<Args::Address>(Json::object()),
                    mcpac::InvalidArguments);
  }
  TEST_CASE("alternatives nested without end are refused, not tried without end") {
    using Inner = mcpac::Variant<std::vector<Json>, std::vector<std::string>>;
    using Tree = mcpac::Variant<std::vector<Inner>, std::vector<std::vector<Inner>>>;
    Json json = Json::array();
    for (int i = 0; i < 300'000; ++i) json.push_back(Json::array({5}));
    CHECK_THROWS_AS((void)mcpac::detail::from_json<Tree>(Json::array({json, 5})),
                    mcpac::InvalidArguments);
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
  TEST_CASE(
      "an answer is read as any type that is asked for, or the place that does not fit is named") {
    const auto answer = [](const std::string& text) {
      const Json block = {{"type", "text"}, {"text", text}};
      return mcpac::ToolResult(Json{{"content", Json::array({block})}});
    };
    CHECK(answer("[1, 2]").as<std::vector<int>>() == std::vector<int>{1, 2});
    CHECK(answer("{\"a\": 1.5}").as<std::map<std::string, double>>().at("a") == 1.5);
    CHECK(answer("null").as<std::optional<bool>>() == std::nullopt);
    CHECK(answer("5").as<unsigned char>() == 5);
    CHECK(answer("{\"login\": \"me\"}").as<Result::Owner>().login == "me");
    CHECK(answer("[{\"x\": 1}]").as<std::vector<mine::Visited>>().front().x == 1);
    CHECK(answer("[{\"y\": \"z\"}]").as<std::vector<mine::Known>>().front().y == "z");
    const mcpac::ToolResult structured(Json{{"structuredContent", {{"login", "me"}}}});
    CHECK(structured.as<Result::Owner>().login == "me");

    const auto pointer_of = [](const auto& call) -> std::string {
      try {
        call();
      } catch (const mcpac::ToolError& error) {
        return error.data().value("pointer", "none") + ": " + error.what();
      }
      return "nothing was thrown";
    };
    CHECK(pointer_of([&] { (void)answer("[{\"login\": 5}]").as<std::vector<Result::Owner>>(); }) ==
          "/0/login: the tool's answer is not what was asked for: /0/login: expected a string");
    CHECK(pointer_of([&] { (void)answer("[256]").as<std::vector<unsigned char>>(); }) ==
          "/0: the tool's answer is not what was asked for: /0: expected an integer that is not so "
          "large");
    CHECK(
        pointer_of([&] { (void)answer("plain").as<int>(); }) ==
        "none: the answer is text and no JSON: .text() or .lines() reads it; it begins \"plain\"");
    CHECK(pointer_of([&] {
            (void)answer("[{\"y\": 5}]").as<std::vector<mine::Known>>();
          }).starts_with("/0: "));
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
