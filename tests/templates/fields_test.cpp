// Arguments and results as JSON: every kind of field, written and read.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
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

// A program's own type without a way to read it.
struct Place {
  std::string name;
  std::optional<double> height;
  bool open = true;
};
struct Trip {
  std::vector<Place> places;
  Json rest;
  std::map<std::string, int> counts;
};
struct Wide {
  int a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20,
      a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, last;
};
struct TooWide {
  Wide wide;
  int b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14, b15, b16, b17, b18, b19, b20,
      b21, b22, b23, b24, b25, b26, b27, b28, b29, b30, b31, last;
};
// What contains itself.
struct Node {
  std::string name;
  std::vector<Node> children;
};
struct Branch {
  std::string name;
  std::optional<std::vector<Branch>> children;
};
struct Folder {
  std::map<std::string, Folder> folders;
};
struct Person;
struct House {
  std::vector<Person> people;
};
struct Person {
  std::vector<House> houses;
  std::shared_ptr<Person> friend_of;
};
struct Chain {
  int value = 0;
  std::unique_ptr<Chain> next;
};
// What has the members of a generated struct, some of them, more, or others.
struct Street {
  int no;
  std::string street;
};
struct Unnumbered {
  std::string street;
};
struct Nameless {
  int no;
};
struct Mapped {
  std::string street;
  double latitude;
};
struct Numbered {
  int street;
};
struct Place2 {
  std::string label;
  std::vector<Place2> children;
};
struct Unreadable {
  std::vector<Unreadable> more;
  const char* text;
};
struct Viewing {
  std::string_view name;
};
struct Dollar {
  std::string $schema;
  std::uint8_t small = 0;
};
struct Made {
  explicit Made(int number) : x(number) {}
  int x;
};

std::string refusal_of(const auto& call) {
  try {
    call();
  } catch (const mcpac::Error& error) {
    return error.what();
  }
  return "nothing was thrown";
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
  TEST_CASE("a required value is a value of its type") {
    using Entities = mcp::memory::create_entities::Args::Entities;
    std::vector<Entities> list;
    for (const char* name : {"b", "a"})
      list.push_back({.name = name, .entityType = "t", .observations = {}});
    Entities& first = list.front();
    first.observations.push_back("o");
    first.observations.insert(first.observations.end(), {"p", "q"});
    CHECK(first.observations.size() == 3);
    CHECK(first.name.size() == 1);
    CHECK(first.name + "c" == "bc");
    first.name += "d";
    CHECK(first.name == "bd");
    CHECK(first.name.starts_with('b'));
    std::ranges::sort(list, {}, &Entities::name);
    CHECK(list.front().name == "a");
    CHECK(std::unordered_set<mcpac::Required<std::string>>{first.name}.size() == 1);
    const std::set<std::string> set{"x", "y"};
    list[0].observations = {set.begin(), set.end()};
    std::string joined;
    for (const std::string& one : list[0].observations) joined += one;
    CHECK(joined == "xy");
    const Json json{{"name", first.name}, {"all", list[0].observations}};
    CHECK(json == Json{{"name", first.name.c_str()}, {"all", {"x", "y"}}});

    mcpac::Required<Json> free{{"a", 1}};
    free["b"] = 2;
    CHECK(Json(free) == Json{{"a", 1}, {"b", 2}});
    mcpac::Required<std::int64_t> number = 5;
    number += 2;
    ++number;
    number *= 2;
    CHECK(number++ == 16);
    CHECK(number - 1 == 16);
    CHECK(number < mcpac::Required<std::int64_t>(18));
    mcpac::Required<std::tuple<double, int>> pair(1.5, 2);
    const auto [half, two] = pair;
    CHECK(half * two == 3.0);
    mcpac::Required<mcpac::Variant<std::string, double>> either = "x";
    CHECK(std::get<std::string>(either) == "x");
    mcpac::Required<mcpac::Nullable<std::string>> note = nullptr;
    CHECK_FALSE(note.has_value());
    note = "n";
    CHECK(*note == "n");
    CHECK(mcpac::Optional<std::string>(first.name) == std::string(first.name));
  }
  TEST_CASE(
      "arguments are made empty and filled, and what was never filled is refused by its name") {
    Args args;
    CHECK(refusal_of([&] { (void)mcpac::detail::to_json(args); }) ==
          "the required argument `path` was never given a value");
    args.path = "p";
    args.paths.push_back("a");
    args.entities = {};
    args.mode = Args::Mode::plus_1;
    args.note = nullptr;
    args.count = 3;
    CHECK(refusal_of([&] { (void)mcpac::detail::to_json(args); }) ==
          "the required argument `street` was never given a value");
    args.address.street = "t";
    Json expected = mcpac::detail::to_json(smallest());
    expected["entities"] = Json::array();
    CHECK(mcpac::detail::to_json(args) == expected);
  }
  TEST_CASE("what changes a required argument gives it a value") {
    Args args;
    *args.path = "x";
    args.paths->push_back("a");
    std::ranges::copy(std::vector<std::string>{"b", "c"}, std::back_inserter(args.paths));
    args.paths.emplace_back("d");
    args.entities.resize(1);
    *args.entities.front().street = "s";
    args.address.street->append("t");
    *args.mode = Args::Mode::plus_1;
    *args.count = 3;
    args.note.emplace("n");
    CHECK(mcpac::detail::to_json(args) == Json{{"path", "x"},
                                               {"paths", {"a", "b", "c", "d"}},
                                               {"entities", Json::array({{{"street", "s"}}})},
                                               {"address", {{"street", "t"}}},
                                               {"mode", "+1"},
                                               {"count", 3},
                                               {"note", "n"}});
    mcpac::Required<std::int64_t> number;
    CHECK_FALSE(number.mcpac_is_given());
    CHECK(std::as_const(*&number) == 0);
    CHECK_FALSE(number.mcpac_is_given());
    CHECK(number.emplace(0) == 0);
    CHECK(number.mcpac_is_given());
    mcpac::Required<bool> flag;
    *flag = false;
    CHECK(flag.mcpac_is_given());
    mcpac::Required<std::string> text;
    *text = "";
    CHECK(text.mcpac_is_given());
  }
  TEST_CASE("a member given to an optional struct that was left out is not lost") {
    Args args = smallest();
    args.options.limit = 3;
    CHECK(refusal_of([&] { (void)mcpac::detail::to_json(args); }) ==
          "the required argument `name` was never given a value");
    args.options.name = "n";
    args.options.inner.x = 2;
    CHECK(mcpac::detail::to_json(args)["options"] ==
          Json{{"name", "n"}, {"inner", {{"x", 2}}}, {"limit", 3}});
    CHECK_FALSE(mcpac::detail::to_json(smallest()).contains("options"));
  }
  TEST_CASE("an empty list is written as {}, and so are an empty map and object") {
    const Args args{.path = "p",
                    .paths = {},
                    .entities = {},
                    .address = {.street = "s"},
                    .mode = "fast",
                    .count = 1,
                    .note = "n"};
    const Json json = mcpac::detail::to_json(args);
    CHECK(json["paths"] == Json::array());
    CHECK(json["entities"] == Json::array());
    CHECK(mcpac::detail::to_json(mcpac::Required<std::map<std::string, int>>{}) == Json::object());
    CHECK(mcpac::detail::to_json(mcpac::Required<Json>{}) == Json::object());
  }
  TEST_CASE("a list of texts in one pair of braces too many is that list") {
    using mcpac::Required;
    using List = std::vector<std::string>;
    const mcp::filesystem::read_text_file::Args none{.path = {"p"}};
    CHECK(none.path == "p");
    Args args = smallest();
    args.paths = {{"a", "b"}};
    args.labels = {{"c", "d", "e"}};
    CHECK(args.paths == List{"a", "b"});
    CHECK(*args.labels == List{"c", "d", "e"});
    CHECK(Required<List>{{"a"}, {"b"}} == List{"a", "b"});
    CHECK(Required<List>{{"a", "b"}, {"c"}} == List{"a", "b", "c"});
    CHECK(Required<List>{{}} == List{""});
    const std::string text = "t";
    CHECK(Required<List>{text, "a"} == List{"t", "a"});
    CHECK(Required<List>{{text, text}} == List{"t", "t"});
    CHECK(Required<List>{{text}} == List{"t"});
    args.labels = {{"node_modules", ".git"}};
    CHECK(args.labels->size() == 2);
    args.paths = {"x"};
    CHECK(args.paths == List{"x"});
    args.paths = {};
    args.labels = {};
    CHECK(args.paths.empty());
    CHECK_FALSE(args.labels);
  }
  TEST_CASE("a text stands for its enumerator, at once or in the run, and Json holds the text") {
    using mcp::forms::everything;
    Args args = smallest();
    args.mode = "-1";
    args.modes = {"fast", everything::Mode::plus_1};
    args.mixed = "any";
    const Json json = mcpac::detail::to_json(args);
    CHECK(json["mode"] == "-1");
    CHECK(json["modes"] == Json{"fast", "+1"});
    CHECK(json["mixed"] == "any");
    args.mode = std::string("+1");
    CHECK(args.mode == everything::Mode::plus_1);
    args.mode = std::string_view("fast");
    CHECK(args.mode == Args::Mode::fast);
    CHECK(refusal_of([&] { args.mode = std::string("slow"); }) ==
          R"(expected one of "fast", "+1", "-1")");
    CHECK(Json(everything::Mode::plus_1) == "+1");
    CHECK(Json("-1").get<everything::Mode>() == everything::Mode::minus_1);
    CHECK(Json{"fast"}.get<std::vector<everything::Mode>>().size() == 1);
    CHECK(Json(2).get<everything::Level>() == everything::Level::_2);
    CHECK(refusal_of([] { (void)Json("slow").get<everything::Mode>(); }) ==
          R"(expected one of "fast", "+1", "-1")");
    CHECK(refusal_of([] { (void)Json(7).get<everything::Level>(); }) == "expected one of 1, 2, -1");
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
    static_assert(mcpac::detail::mark_of<Args::Level>() != Args::Level::minus_1);
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
  TEST_CASE("the type of a content is compared with MCP's names") {
    const mcpac::ToolResult result(
        Json{{"content", Json::array({{{"type", "text"}, {"text", "t"}},
                                      {{"type", "resource_link"}, {"uri", "file:///y"}}})}});
    const auto& content = result.content();
    CHECK(content[0].type == "text");
    CHECK(content[0].type != "image");
    CHECK(content[1].type == "link");
    CHECK(content[1].type == "resource_link");
    CHECK(to_string(content[1].type) == "resource_link");
  }
  TEST_CASE("the type of a content is its name as text, and an enumerator") {
    using Content = mcpac::Content;
    std::vector<Content> contents(3);
    contents[0].type = Content::Type::text;
    contents[1].type = Content::Type::link;
    const auto count = [&](const auto& what) {
      return std::ranges::count(contents, what, &Content::type);
    };
    CHECK(std::ranges::find(contents, "text", &Content::type) == contents.begin());
    CHECK(count("link") == 1);
    CHECK(count(std::string("other")) == 1);
    CHECK(count(std::string_view("image")) == 0);
    CHECK(count(Content::Type::link) == 1);
    CHECK(count(contents[0].type) == 1);
    CHECK("text" == contents[0].type);
    CHECK(Content::Type::text == contents[0].type);
    CHECK(contents[0].type != contents[1].type);

    std::map<std::string, int> by_text;
    std::map<std::string_view, int> by_view;
    std::map<Content::Type, int> by_type;
    std::unordered_map<Content::Type, int> hashed;
    std::string switched;
    for (const Content& one : contents) {
      ++by_text[one.type];
      ++by_view[one.type];
      ++by_type[one.type];
      ++hashed[one.type];
      switch (one.type) {
        case Content::Type::text: switched += "t"; break;
        case Content::Type::link: switched += "l"; break;
        default: switched += "?";
      }
    }
    CHECK(switched == "tl?");
    CHECK(by_text == std::map<std::string, int>{{"text", 1}, {"resource_link", 1}, {"other", 1}});
    CHECK(by_view.at("other") == 1);
    CHECK(by_type.at(Content::Type::link) == 1);
    CHECK(hashed.size() == 3);

    const Content::Type type = contents[1].type;
    std::string text = type;
    const std::string_view view = type;
    CHECK(text == view);
    text = type;
    text += type;
    CHECK(text == "resource_linkresource_link");
    CHECK("is " + type + "!" == "is resource_link!");
    CHECK(type + ": x" == "resource_link: x");
    CHECK(std::string(type).size() == 13);
    CHECK(Json{{"type", type}} == Json{{"type", "resource_link"}});
    CHECK(static_cast<std::size_t>(type) == 4);
    std::ostringstream out;
    out << type << ' ' << contents[0].type;
    CHECK(out.str() == "resource_link text");
    constexpr Content::Type constant = Content::Type::audio;
    static_assert(constant == "audio" && constant != Content::Type::image);
  }
#if !defined(__clang__) || __clang_major__ >= 18
  TEST_CASE("a program's own struct is read and written by the names of its members") {
    const Json place = {{"name", "n"}, {"open", false}};
    const Json trip = {{"places", Json::array({place})}, {"rest", {1}}, {"counts", {{"a", 1}}}};
    const auto read = mcpac::detail::from_json<Trip>(trip);
    CHECK(read.places.front().name == "n");
    CHECK_FALSE(read.places.front().height);
    CHECK_FALSE(read.places.front().open);
    CHECK(read.rest == Json{1});
    CHECK(Json(read) == trip);
    CHECK(mcpac::detail::to_json(mcpac::Required<Json>(read)) == trip);
    CHECK(Json{place}.get<std::vector<Place>>().size() == 1);
    struct Local {
      int last;
    };
    CHECK(mcpac::detail::from_json<Local>({{"last", 3}, {"more", 1}}).last == 3);
    Json wide;
    for (int i = 1; i < 32; ++i) wide["a" + std::to_string(i)] = i;
    wide["last"] = 32;
    const auto read_wide = mcpac::detail::from_json<Wide>(wide);
    CHECK(read_wide.a31 == 31);
    CHECK(read_wide.last == 32);
    try {
      (void)mcpac::detail::from_json<Trip>({{"places", {{{"open", true}}}}});
      FAIL("it was read");
    } catch (const mcpac::InvalidArguments& error) {
      CHECK(error.pointer() == "/places/0/name");
    }
  }
  TEST_CASE("a struct of a program may contain itself, as deep as JSON may be") {
    const auto keeps = []<class T>(const T&, const Json& json) {
      const Json text = {{"type", "text"}, {"text", json.dump()}};
      const auto read = mcpac::ToolResult(Json{{"content", Json::array({text})}}).as<T>();
      CHECK(Json(read) == json);
      CHECK(mcpac::detail::to_json(mcpac::Required<Json>(read)) == json);
    };
    const Json leaf = {{"name", "b"}, {"children", Json::array()}};
    keeps(Node(), {{"name", "a"}, {"children", {leaf, leaf}}});
    const Json bare = {{"name", "a"}, {"children", Json::array({{{"name", "b"}}})}};
    CHECK(mcpac::detail::from_json<Node>(bare).children.front().children.empty());
    keeps(Branch(), {{"name", "a"}, {"children", Json::array({{{"name", "b"}}})}});
    keeps(Folder(), {{"folders", {{"x", {{"folders", Json::object()}}}}}});
    const Json house = {{"people", Json::array()}};
    keeps(House(),
          {{"people",
            Json::array({{{"houses", {house}}, {"friend_of", {{"houses", Json::array()}}}}})}});
    keeps(Chain(), {{"value", 1}, {"next", {{"value", 2}}}});
    CHECK(mcpac::detail::from_json<Chain>({{"value", 1}, {"next", nullptr}}).next == nullptr);

    const auto refusal = [](int depth) {
      std::string deep;
      for (int i = 0; i < depth; ++i) deep += R"({"value":1,"next":)";
      deep += "null" + std::string(static_cast<std::size_t>(depth), '}');
      const Json text = {{"type", "text"}, {"text", deep}};
      const mcpac::ToolResult result(Json{{"content", Json::array({text})}});
      return refusal_of([&] { (void)result.as<Chain>(); });
    };
    CHECK(refusal(1'000).ends_with("a value that is not so deep"));
    CHECK(refusal(200'000).starts_with("the answer is text and no JSON"));
  }
  TEST_CASE("a struct with the members of a generated one stands for it") {
    using Address = Args::Address;
    using Addresses = mcpac::Required<std::vector<Address>>;
    static_assert(std::is_constructible_v<Addresses, const std::vector<Street>&> &&
                  std::is_constructible_v<Addresses, std::vector<Unnumbered>>);
    static_assert(!std::is_constructible_v<Addresses, std::vector<Nameless>> &&
                  !std::is_constructible_v<Addresses, std::vector<Mapped>> &&
                  !std::is_constructible_v<Addresses, std::vector<Numbered>> &&
                  !std::is_constructible_v<Addresses, std::vector<std::string>>);
    Args args = smallest();
    args.entities = std::vector<Street>{{1, "s"}, {2, "t"}};
    args.tree = Place2{"l", {{"m", {}}}};
    const Json json = mcpac::detail::to_json(args);
    CHECK(json["entities"] ==
          Json::array({{{"street", "s"}, {"no", 1}}, {{"street", "t"}, {"no", 2}}}));
    CHECK(json["tree"] ==
          Json{{"label", "l"},
               {"children", Json::array({{{"label", "m"}, {"children", Json::array()}}})}});
    mcp::memory::read_graph::Result graph;
    graph.entities = {{"n", "t", {"o"}}};
    const mcp::memory::create_entities::Args copied{.entities = graph.entities};
    CHECK(mcpac::detail::to_json(copied)["entities"][0]["observations"] == Json{"o"});
  }
  TEST_CASE("a type that cannot be read is refused where it is named") {
    static_assert(mcpac::detail::readable<Node> && mcpac::detail::readable<House> &&
                  !mcpac::detail::readable<Unreadable>);
    static_assert(mcpac::detail::readable<Trip> && mcpac::detail::readable<Wide> &&
                  mcpac::detail::readable<std::vector<mine::Known>> &&
                  mcpac::detail::readable<mine::Visited> &&
                  mcpac::detail::readable<std::set<std::string>> &&
                  mcpac::detail::readable<std::optional<Json>>);
    static_assert(!mcpac::detail::readable<Made> && !mcpac::detail::readable<TooWide> &&
                  !mcpac::detail::readable<std::vector<Made>> &&
                  !mcpac::detail::readable<const char*>);
    static_assert(!mcpac::detail::readable<std::string_view> &&
                  !mcpac::detail::readable<std::vector<Viewing>> &&
                  mcpac::detail::argument_type<std::string_view>);
  }
  TEST_CASE("names of members keep their dollar signs, and small integers all their values") {
    const auto read = mcpac::detail::from_json<Dollar>(Json{{"$schema", "s"}, {"small", 255}});
    CHECK(read.$schema == "s");
    mcpac::detail::has_marked_integers() = true;
    CHECK(mcpac::detail::to_json(read) == Json{{"$schema", "s"}, {"small", 255}});
    mcpac::detail::has_marked_integers() = false;
    CHECK(refusal_of([] {
            (void)mcpac::detail::from_json<float>(Json(1e300));
          }).contains("not so large"));
  }
#endif
  TEST_CASE("json() is the text where it is JSON, else the structured content, else an error") {
    const Json text = {{"type", "text"}, {"text", "[1]"}};
    CHECK(
        mcpac::ToolResult(Json{{"content", Json::array({text})}, {"structuredContent", {{"a", 1}}}})
            .json() == Json{1});
    CHECK(mcpac::ToolResult(Json{{"structuredContent", {{"a", 1}}}}).json() == Json{{"a", 1}});
    CHECK_THROWS_AS((void)mcpac::ToolResult(Json::object()).json(), mcpac::ToolError);
    const auto said = [](const Json& structured) {
      const Json block = {{"type", "text"}, {"text", "plain"}};
      return mcpac::ToolResult(
          Json{{"content", Json::array({block})}, {"structuredContent", structured}});
    };
    CHECK(said({{"lines", 1}}).json() == Json{{"lines", 1}});
    CHECK(said({{"content", "other"}}).json() == Json{{"content", "other"}});
    // What only wraps the text is no JSON that the tool answered; .as<T>() names its form.
    for (const Json& wrapped : {Json{{"content", "plain"}}, Json("plain")}) {
      CHECK(refusal_of([&] {
              (void)said(wrapped).json();
            }).starts_with("the answer is text and no JSON: .text() or .lines() reads it"));
    }
    for (const std::string& deep : {std::string(4'097, '['), std::string(4'000'000, '[')}) {
      const Json block = {{"type", "text"}, {"text", deep + std::string(deep.size(), ']')}};
      CHECK_THROWS_AS((void)mcpac::ToolResult(Json{{"content", Json::array({block})}}).json(),
                      mcpac::ToolError);
    }
    const Json block = {{"type", "text"}, {"text", R"(["[[\\\"[[", "]"])"}};
    CHECK(mcpac::ToolResult(Json{{"content", Json::array({block})}}).json().size() == 2);
    CHECK(said({{"content", "plain"}}).as<std::map<std::string, std::string>>().at("content") ==
          "plain");
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
