// What a run was given, as programs read it: asked of the host once, and typed.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "templates/support_peer.h"

using mcpac::Json;
using mcpac::detail::argument_in;
using mcpac::detail::arguments_in;

namespace {

struct Options {
  std::string path;
  std::optional<int> head;
  std::vector<std::string> words;
  static void mcpac_visit(auto& self, auto& visit) {
    visit("path", self.path);
    visit("head", self.head);
    visit("words", self.words);
  }
};

struct Size {
  double width = 0;
  std::optional<double> height;
  static void mcpac_visit(auto& self, auto& visit) {
    visit("width", self.width);
    visit("height", self.height);
  }
};
struct Job {
  std::string path;
  int count = 0;
  std::vector<Size> sizes;
  std::optional<Size> most;
  static void mcpac_visit(auto& self, auto& visit) {
    visit("path", self.path);
    visit("count", self.count);
    visit("sizes", self.sizes);
    visit("most", self.most);
  }
};
// A type that the library reads, which says what it likes.
struct Day {};
void from_json(const Json& json, Day& /*into*/) {
  throw std::runtime_error("no day: " + json.get<std::string>());
}
struct Open {
  std::string path;
  mcpac::Extra<Json> rest;
  static void mcpac_visit(auto& self, auto& visit) {
    visit("path", self.path);
    visit.extra(self, self.rest);
  }
};
enum class Unit { celsius, kelvin };
constexpr std::array<mcpac::Enumerator<Unit>, 2> mcpac_enumerators(Unit) {
  return {{{Unit::celsius, "celsius"}, {Unit::kelvin, "K\u202E"}}};
}
struct Forecast {
  Unit unit{};
  static void mcpac_visit(auto& self, auto& visit) { visit("unit", self.unit); }
};

const Json kJob{{"path", "a"}, {"count", 1}, {"sizes", Json::array()}};

// kJob and what is given beside it or in its place.
Json job(Json given) {
  Json all = kJob;
  all.update(given);
  return all;
}

template <class T>
std::string said_of(const Json& all) {
  try {
    (void)arguments_in<T>(all);
  } catch (const mcpac::InvalidArguments& error) {
    const std::string_view message = error.message();
    REQUIRE(message.starts_with("arguments of the run: "));
    return std::string(message.substr(22));
  }
  return "it was read";
}

// What InvalidArguments says of reading `name` as a T.
template <class T>
mcpac::InvalidArguments refusal(const Json& all, const char* name) {
  try {
    (void)argument_in<T>(all, name);
  } catch (const mcpac::InvalidArguments& error) {
    return error;
  }
  FAIL("it was read");
  throw 0;
}

const Json kAll{{"path", "a"},
                {"n", 3},
                {"real", 1.5},
                {"on", true},
                {"words", {"x", "y"}},
                {"nothing", nullptr},
                {"deep", {{"path", "b"}, {"words", {"x", 4}}}}};

}  // namespace

namespace own {

enum class Level { low, high, in_progress = 5, last = 63, beyond = 100 };
struct Levels {
  Level level;
  std::unordered_map<std::string, Level> by_name;
  std::vector<Level> list;
};
enum class Named { none, one };
NLOHMANN_JSON_SERIALIZE_ENUM(Named, {{Named::none, nullptr}, {Named::one, "the one"}})
struct Defaults {
  std::string name;
  int age = -1;
  std::string mail = "?";
  Level level = Level::high;
  int count{};
};

}  // namespace own

TEST_SUITE("templates/arguments") {
  TEST_CASE("an argument is read as the type that is asked for") {
    CHECK(argument_in<std::string>(kAll, "path") == "a");
    CHECK(argument_in<int>(kAll, "n") == 3);
    CHECK(argument_in<double>(kAll, "real") == 1.5);
    CHECK(argument_in<bool>(kAll, "on"));
    CHECK(argument_in<std::vector<std::string>>(kAll, "words").size() == 2);
    CHECK(argument_in<Json>(kAll, "deep").at("path") == "b");
    CHECK(argument_in<std::optional<int>>(kAll, "n") == 3);
    CHECK_FALSE(argument_in<std::optional<int>>(kAll, "none").has_value());
    CHECK_FALSE(argument_in<std::optional<int>>(kAll, "nothing").has_value());
  }

  TEST_CASE("what is missing or of another type is said with its JSON pointer") {
    const auto missing = refusal<std::string>(kAll, "none");
    CHECK(missing.pointer() == "/none");
    CHECK(missing.rule() == "required");
    CHECK(missing.message() == "arguments of the run: /none is missing: expected a string");
    const auto number = refusal<std::string>(kAll, "n");
    CHECK(number.pointer() == "/n");
    CHECK(number.rule() == "type");
    const auto deep = refusal<Options>(kAll, "deep");
    CHECK(deep.pointer() == "/deep/words/1");
    CHECK(deep.message() ==
          "arguments of the run: /deep/words/1: expected a string, got the number 4");
    CHECK(refusal<std::string>(kAll, "a/b").pointer() == "/a~1b");
    CHECK(refusal<int>(kAll, "nothing").pointer() == "/nothing");
    CHECK(refusal<int>(Json{{"n", 3'000'000'000}}, "n").pointer() == "/n");
  }

  TEST_CASE("a struct is refused with the place, what was expected there, and what came") {
    CHECK(arguments_in<Job>(job({{"sizes", {{{"width", 2}}}}, {"most", nullptr}})).sizes[0].width ==
          2);
    CHECK(said_of<Job>(job({{"count", "3"}})) ==
          "/count: expected an integer, got a string that holds a number: pass the number");
    CHECK(said_of<Job>(job({{"count", 3.5}})) == "/count: expected an integer, got the number 3.5");
    CHECK(said_of<Job>(job({{"count", 3'000'000'000}})) ==
          "/count: expected an integer that is not so large, got the number 3000000000");
    CHECK(said_of<Job>(job({{"path", nullptr}})) == "/path: expected a string, got null");
    CHECK(said_of<Job>(job({{"path", true}})) == "/path: expected a string, got true");
    CHECK(said_of<Job>(job({{"sizes", {{"width", 2}}}})) ==
          "/sizes: expected an array, got an object");
    CHECK(said_of<Job>(job({{"sizes", {{{"width", 1}}, {{"width", "wide"}}}}})) ==
          "/sizes/1/width: expected a number, got a string");
    CHECK(said_of<Job>(job({{"most", {1, 2}}})) == "/most: expected an object, got an array of 2");
    CHECK(said_of<Job>(job({{"path", Json::array()}})) ==
          "/path: expected a string, got an empty array");
    CHECK(said_of<std::vector<int>>(kJob) == "expected an array, got an object");
    CHECK(said_of<std::map<std::string, std::tuple<int, int>>>({{"a", {1}}}) ==
          "/a: expected an array of 2, got an array of 1");
    CHECK(said_of<std::map<std::string, std::set<int>>>({{"a", 1}}) ==
          "/a: expected a value of its type (type must be array, but is number), got the number 1");
  }

  TEST_CASE("what a type of the program says of a value is not told, which it may quote") {
    CHECK(said_of<std::map<std::string, Day>>({{"a", "hush"}}) ==
          "/a: expected a value of its type, got a string");
  }

  TEST_CASE("a required member that is missing is named, with what it would have to be") {
    CHECK(said_of<Job>({{"path", "a"}, {"sizes", Json::array()}}) ==
          "/count is missing: expected an integer");
    CHECK(said_of<Job>({{"path", "a"}, {"count", 1}}) == "/sizes is missing: expected an array");
    CHECK(said_of<Job>(job({{"most", {{"height", 1}}}})) ==
          "/most/width is missing: expected a number");
    CHECK(said_of<Job>(Json::object()) == "/path is missing: expected a string; none were given");
    CHECK(refusal<Json>(kAll, "none").message() ==
          "arguments of the run: /none is missing: expected a value");
    CHECK(refusal<std::set<int>>(kAll, "none").message() ==
          "arguments of the run: /none is missing: expected a value");
    CHECK(refusal<Job>(kAll, "none").message() ==
          "arguments of the run: /none is missing: expected an object");
  }

  TEST_CASE("a member that a struct does not know is refused with the name it was meant to be") {
    CHECK(said_of<Job>({{"pth", "a"}, {"count", 1}, {"sizes", Json::array()}}) ==
          R"(/pth is unknown: did you mean "path"?)");
    CHECK(said_of<Job>(job({{"MOST", 1}})) == R"(/MOST is unknown: did you mean "most"?)");
    CHECK(said_of<Job>(job({{"most", {{"width", 1}, {"hieght", 2}}}})) ==
          R"(/most/hieght is unknown: did you mean "height"?)");
    // path is there, so that paths is no misspelling of it.
    CHECK(said_of<Job>(job({{"paths", "b"}})) ==
          R"(/paths is unknown: known are "path", "count", "sizes", "most")");
    CHECK(said_of<Job>(job({{"x", 1}})) ==
          R"(/x is unknown: known are "path", "count", "sizes", "most")");
    try {
      (void)arguments_in<Job>(job({{"a/b", 1}}));
      FAIL("it was read");
    } catch (const mcpac::InvalidArguments& error) {
      CHECK(error.pointer() == "/a~1b");
      CHECK(error.rule() == "additionalProperties");
    }
    CHECK(refusal<Size>(Json{{"size", {{"width", 1}, {"depth", 1}}}}, "size").pointer() ==
          "/size/depth");
  }

  TEST_CASE("a value that was written into a text is told as that, and no other text is") {
    CHECK(said_of<Size>({{"width", "3.5"}}) ==
          "/width: expected a number, got a string that holds a number: pass the number");
    CHECK(said_of<Size>({{"width", "[1]"}}) == "/width: expected a number, got a string");
    CHECK(said_of<std::map<std::string, std::vector<Size>>>({{"sizes", R"([{"width":1}])"}}) ==
          "/sizes: expected an array, got a string that holds an array: pass the array");
    CHECK(said_of<std::map<std::string, Size>>({{"size", "{}"}}) ==
          "/size: expected an object, got a string that holds an object: pass the object");
    CHECK(said_of<std::map<std::string, bool>>({{"dry", "true"}}) ==
          "/dry: expected true or false, got a string that holds true or false: pass that without "
          "quotes");
  }

  TEST_CASE("a struct that takes what it does not name is given it") {
    const auto open = arguments_in<Open>({{"path", "a"}, {"other", {1}}});
    CHECK(open.rest.at("other") == Json{1});
    CHECK(said_of<Open>({{"pth", "a"}}) == "/path is missing: expected a string");
  }

  TEST_CASE("an enumeration is refused with its values, and a result's only with the place") {
    CHECK(said_of<Forecast>({{"unit", "fahrenheit"}}) ==
          R"(/unit: expected one of "celsius", "K\u202e", got a string)");
    CHECK(said_of<Forecast>({{"unit", "celsius"}}) == "it was read");
    try {
      (void)mcpac::detail::from_json<Forecast>({{"unit", "fahrenheit"}});
      FAIL("it was read");
    } catch (const mcpac::InvalidArguments& error) {
      CHECK(error.message() == "expected one of the schema's values");
    }
    CHECK(mcpac::detail::from_json<Size>({{"width", 1}, {"new", 1}}).width == 1);
  }

  TEST_CASE("an enum of a program is read and written by the names of its enumerators") {
    CHECK(Json("high").get<own::Level>() == own::Level::high);
    CHECK(Json("IN PROGRESS").get<own::Level>() == own::Level::in_progress);
    CHECK(Json(1).get<own::Level>() == own::Level::high);
    CHECK(Json(own::Level::beyond) == 100);
    const auto whole = Json{{"level", "low"}, {"by_name", {{"a", "last"}}}, {"list", {"high"}}};
    const auto read = whole.get<own::Levels>();
    CHECK(read.level == own::Level::low);
    CHECK(read.by_name.at("a") == own::Level::last);
    CHECK(Json(read) == whole);
    const auto refused = [](Json json, const char* place, const Json& value) {
      json[Json::json_pointer(place)] = value;
      try {
        (void)json.get<own::Levels>();
      } catch (const mcpac::InvalidArguments& error) {
        CHECK(error.pointer() == place);
        return std::string(error.what());
      }
      return std::string("nothing");
    };
    constexpr const char* kChoices = "expected one of \"low\", \"high\", \"in_progress\", \"last\"";
    CHECK(refused(whole, "/by_name/a", "hihg") == kChoices);
    CHECK(refused(whole, "/list/0", false) == kChoices);
    CHECK(refused(whole, "/level", 1.5) == "expected an integer");
    // Its own functions, and the library's macro, stay.
    CHECK(Json(own::Named::one) == "the one");
    CHECK(Json("the one").get<own::Named>() == own::Named::one);
  }

  TEST_CASE("an argument with a default has the type of that, or the one that is written") {
    static_assert(std::is_same_v<decltype(mcpac::argument("n", 5)), int>);
    static_assert(std::is_same_v<decltype(mcpac::argument("n", 0.5)), double>);
    static_assert(std::is_same_v<decltype(mcpac::argument("n", true)), bool>);
    static_assert(std::is_same_v<decltype(mcpac::argument("n", "x")), std::string>);
    static_assert(std::is_same_v<decltype(mcpac::argument<double>("n", 5)), double>);
    static_assert(std::is_same_v<decltype(mcpac::argument<std::string>("n", "x")), std::string>);
    static_assert(
        std::is_same_v<decltype(mcpac::argument<std::string_view>("n", "x")), std::string_view>);
    static_assert(
        std::is_same_v<decltype(mcpac::argument<std::optional<int>>("n")), std::optional<int>>);
  }
  TEST_CASE("a member that is missing keeps a default of its own, which {} would not give") {
    const auto read = Json{{"name", "x"}, {"count", 3}}.get<own::Defaults>();
    CHECK(read.age == -1);
    CHECK(read.mail == "?");
    CHECK(read.level == own::Level::high);
    CHECK(read.count == 3);
    CHECK(Json{{"name", "x"}, {"count", 3}, {"age", 7}}.get<own::Defaults>().age == 7);
    for (const char* const left_out : {"name", "count"}) {
      Json json{{"name", "x"}, {"count", 3}};
      json.erase(left_out);
      try {
        (void)json.get<own::Defaults>();
        FAIL("it was read");
      } catch (const mcpac::InvalidArguments& error) {
        CHECK(error.pointer() == std::string("/") + left_out);
        CHECK(error.what() ==
              std::string(
                  "expected a value (what may be missing is a std::optional, or has a default "
                  "other than 0, false and {})"));
      }
    }
  }

  TEST_CASE("no name that was given draws on a terminal, and no text that was given is told") {
    for (const char* evil : {"\033[2J", "a\nb", "\u202Eevil", "\x7f", "\xff", "\u200B"}) {
      const std::string said = said_of<Job>(job({{evil, 1}}));
      CAPTURE(said);
      CHECK(std::ranges::all_of(said, [](char c) { return c >= ' ' && c <= '~'; }));
      CHECK(said.ends_with("is unknown: known are \"path\", \"count\", \"sizes\", \"most\""));
    }
    CHECK(said_of<Job>(job({{std::string(1'000'000, 'x'), 1}})).size() < 250);
    CHECK(said_of<Job>(job({{"count", "sk-secret"}})).find("secret") == std::string::npos);
  }

  TEST_CASE("the host is asked once for each session's arguments, without params") {
    Json asked;
    Peer peer([&](HostEnd& host) {
      asked = host.read();
      host.write({{"jsonrpc", "2.0"}, {"id", asked.at("id")}, {"result", {{"arguments", kAll}}}});
    });
    CHECK(mcpac::detail::arguments_from(peer.session()) == kAll);
    peer.finish();
    CHECK(asked.at("method") == "mcpac/arguments");
    CHECK_FALSE(asked.contains("params"));
  }

  TEST_CASE("an answer without arguments, an error and an end are errors of the program") {
    for (const Json& result : {Json::object(), Json{{"arguments", {1}}}, Json(1)}) {
      Peer peer([&](HostEnd& host) {
        const Json asked = host.read();
        host.write({{"jsonrpc", "2.0"}, {"id", asked.at("id")}, {"result", result}});
      });
      CHECK_THROWS_AS((void)mcpac::detail::arguments_from(peer.session()), mcpac::TransportError);
    }
    Peer older([](HostEnd& host) {
      host.refuse(host.read(), -32601, "unknown method: mcpac/arguments", Json::object());
    });
    CHECK_THROWS_AS((void)mcpac::detail::arguments_from(older.session()), mcpac::Error);
    Peer gone([](HostEnd& host) {
      (void)host.read();
      host.close();
    });
    CHECK_THROWS_AS((void)mcpac::detail::arguments_from(gone.session()), mcpac::TransportError);
  }
}
