#include "ipc/json_rpc.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>
#include <string>

using namespace mcpac;
using ipc::decode;
using ipc::Id;

namespace {

ipc::RpcError error_of(std::string_view line) {
  const auto decoded = decode(line);
  REQUIRE_FALSE(decoded.has_value());
  return decoded.error();
}

}  // namespace

TEST_SUITE("ipc/json_rpc") {
  TEST_CASE("a number beyond double costs no message where calls and their answers are read") {
    const char* const line =
        R"({"jsonrpc":"2.0","id":7,"result":{"far":-1e400,"near":[1e400],"text":"1e400"}})";
    CHECK_FALSE(decode(line));
    const auto message = ipc::decode_finite(line);
    REQUIRE(message);
    constexpr double most = std::numeric_limits<double>::max();
    CHECK(*std::get<ipc::Response>(*message).outcome ==
          Json{{"far", -most}, {"near", {most}}, {"text", "1e400"}});
    const auto wrong = ipc::decode_finite(R"({"jsonrpc":"2.0","id":7,"result":NaN})");
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().id == Id(std::int64_t{7}));
  }

  TEST_CASE("what was encoded decodes to the same message") {
    const Json params = {{"name", "a\nb"}, {"deep", {{"list", {1, -2, 3.5, nullptr, true}}}}};
    const ipc::Message messages[] = {
        ipc::Request{Id(std::int64_t{7}), "tools/call", params},
        ipc::Request{Id(std::numeric_limits<std::int64_t>::min()), "m", nullptr},
        ipc::Request{Id(std::numeric_limits<std::int64_t>::max()), "", Json::object()},
        ipc::Request{Id("id \"x\" \u00e4"), "m", nullptr},
        ipc::Request{Id(std::string()), "m", nullptr},
        ipc::Notification{"notifications/progress", params},
        ipc::Response{Id(std::int64_t{0}), params},
        ipc::Response{Id("7"), Json()},
        ipc::Response{Id("7"),
                      std::unexpected(ipc::ErrorObject{-32001, "no", {{"required", "a.b"}}})},
        ipc::Response{std::nullopt, std::unexpected(ipc::ErrorObject{-32700, "what?", nullptr})}};
    for (const auto& message : messages) {
      const std::string line = ipc::encode(message);
      CAPTURE(line);
      CHECK(line.find('\n') == std::string::npos);
      const auto decoded = decode(line);
      REQUIRE(decoded.has_value());
      CHECK(*decoded == message);
      CHECK(ipc::encode(*decoded) == line);
    }
  }

  TEST_CASE("the ids 7 and \"7\" stay apart") {
    CHECK(std::get<ipc::Request>(*decode(R"({"jsonrpc":"2.0","id":7,"method":"m"})")).id ==
          Id(std::int64_t{7}));
    CHECK(std::get<ipc::Request>(*decode(R"({"jsonrpc":"2.0","id":"7","method":"m"})")).id ==
          Id("7"));
  }

  TEST_CASE("text that is no JSON, or says a thing twice, is a parse error") {
    for (const auto* line :
         {"", "{", "hello", "\xff", R"({"jsonrpc":"2.0","id":1,"id":2,"method":"m"})",
          R"({"jsonrpc":"2.0","id":1,"method":"m"} {})"}) {
      CAPTURE(line);
      const auto error = error_of(line);
      CHECK(error.code == ipc::kParseError);
      CHECK_FALSE(error.id.has_value());
    }
  }

  TEST_CASE("a request that cannot be read is told so by its one id at the top") {
    const std::string deep(200, '[');
    const std::string shut(200, ']');
    for (const std::string& params :
         {std::string(R"({"a":"\ud800"})"), std::string(R"({"a":{"x":1,"x":2}})"),
          std::string("{\"a\":\"\xff\"}"), std::string(R"({"n":NaN})"),
          std::string(R"({"n":1e999})"), std::string(R"({"n":tru, "m" 1, "s":"}\"{,\"id\":9"})"),
          "{\"a\":" + deep + "\"id\":9" + shut + "}"}) {
      CAPTURE(params);
      for (const char* id : {R"("id")", R"("\u0069d")"}) {
        const auto first = error_of(
            fmt::format(R"({{"jsonrpc":"2.0",{}:7,"method":"m","params":{}}})", id, params));
        CHECK(first.id == Id(std::int64_t{7}));
        CHECK_FALSE(first.is_response);
        const auto last = error_of(
            fmt::format(R"( {{ "params" : {} ,"method":"m", {} : "é\u0022" }} )", params, id));
        CHECK(last.id == Id("é\""));
      }
      CHECK(error_of(fmt::format(R"({{"jsonrpc":"2.0","id":7,"result":{}}})", params)).is_response);
    }
    for (const auto* line :
         {R"({"id":7,"id":7,"method":"m","params":{"n":NaN}})",
          R"({"id":7,"\u0069d":8,"method":"m","params":{"n":NaN}})",
          R"({"id":"\ud800","method":"m"})", R"({"id":7,"method":"m","params":{"n":1)",
          R"({"id":7,"method":"m","params":{"n":[1}}})", R"({"id":7 "method":"m"})",
          R"({"id":7 8,"method":"m"})", R"({"id":7,"method":"m","params":"})",
          R"({"id":7,"method":NaN} x)", R"({"method":"m","params":{"id":7,"n":NaN}})"}) {
      CAPTURE(line);
      CHECK_FALSE(error_of(line).id.has_value());
    }
  }

  TEST_CASE("JSON that is no message is an invalid request, with the id when it can be read") {
    for (const auto* line :
         {R"({"id":5,"method":"m"})", R"({"jsonrpc":"1.0","id":5,"method":"m"})",
          R"({"jsonrpc":2.0,"id":5,"method":"m"})", R"({"jsonrpc":"2.0","id":5,"method":7})",
          R"({"jsonrpc":"2.0","id":5,"method":"m","params":[1]})",
          R"({"jsonrpc":"2.0","id":5,"method":"m","params":null})", R"({"jsonrpc":"2.0","id":5})",
          R"({"jsonrpc":"2.0","id":5,"method":"m","result":{}})"}) {
      CAPTURE(line);
      const auto error = error_of(line);
      CHECK(error.code == ipc::kInvalidRequest);
      CHECK(error.id == Id(std::int64_t{5}));
      CHECK_FALSE(error.is_response);
    }
    for (const auto* line : {"[]", "7", "null", R"([{"jsonrpc":"2.0","id":1,"method":"m"}])", "{}",
                             R"({"jsonrpc":"2.0","id":null,"method":"m"})",
                             R"({"jsonrpc":"2.0","id":1.5,"method":"m"})",
                             R"({"jsonrpc":"2.0","id":9223372036854775808,"method":"m"})",
                             R"({"jsonrpc":"2.0","id":{},"method":"m"})"}) {
      CAPTURE(line);
      const auto error = error_of(line);
      CHECK(error.code == ipc::kInvalidRequest);
      CHECK_FALSE(error.id.has_value());
    }
  }

  TEST_CASE("a malformed response is known as one, since it must not be answered") {
    for (const auto* line :
         {R"({"jsonrpc":"2.0","id":5,"result":{},"error":{"code":1,"message":"m"}})",
          R"({"jsonrpc":"2.0","id":5,"error":{"code":1.5,"message":"m"}})",
          R"({"jsonrpc":"2.0","id":5,"error":{"code":1}})",
          R"({"jsonrpc":"2.0","id":5,"error":"m"})", R"({"id":5,"result":{}})"}) {
      CAPTURE(line);
      CHECK(error_of(line).is_response);
      CHECK(error_of(line).id == Id(std::int64_t{5}));
    }
    CHECK(error_of(R"({"jsonrpc":"2.0","result":{}})").is_response);
  }

  TEST_CASE("a null beside a result or an error counts as absent") {
    const auto result = decode(R"({"jsonrpc":"2.0","id":5,"result":{"a":1},"error":null})");
    REQUIRE(result.has_value());
    CHECK(std::get<ipc::Response>(*result).outcome == Json{{"a", 1}});
    const auto error =
        decode(R"({"jsonrpc":"2.0","id":5,"result":null,"error":{"code":1,"message":"m"}})");
    REQUIRE(error.has_value());
    CHECK(std::get<ipc::Response>(*error).outcome.error().message == "m");
    const auto none = decode(R"({"jsonrpc":"2.0","id":5,"result":null,"error":null})");
    REQUIRE(none.has_value());
    CHECK(std::get<ipc::Response>(*none).outcome == Json());
  }

  TEST_CASE("limits of size and depth are kept") {
    const std::string deep = R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":)" +
                             std::string(500, '[') + std::string(500, ']') + "}}";
    CHECK(error_of(deep).code == ipc::kInvalidRequest);
    CHECK(decode(R"({"jsonrpc":"2.0","id":1,"method":"m"})", {.max_bytes = 10}).error().code ==
          ipc::kInvalidRequest);
  }

  TEST_CASE("unknown members are left alone") {
    const auto message =
        decode(R"({"jsonrpc":"2.0","id":1,"method":"m","grantedPermissions":["all.of.them"]})");
    REQUIRE(message.has_value());
    CHECK(std::get<ipc::Request>(*message).params.is_null());
  }

  TEST_CASE("of a list with entries that cannot be read the rest is one, and those are named") {
    const auto rest_of = [](const std::string& list) {
      return ipc::without_unreadable(
          R"({"id":1,"result":{"more":[1],"tools" : )" + list + R"(,"x":{}},"jsonrpc":"2.0"})",
          "tools");
    };
    const std::string deep = std::string(126, '[') + std::string(126, ']');
    const auto some = rest_of(R"([ {"name":"a","n":1e400}, {"name":"twice","t":1,"t":2},{"n":NaN},7,
      {"name":"half \ud800"},{"name":"deep","v":)" +
                              deep + R"(}, {"name":"z","t":"],["} ])");
    REQUIRE(some.has_value());
    std::string names;
    for (const auto& entry : some->left_out) names += entry.name + ";";
    CHECK(names == "twice;;;deep;");
    CHECK(some->left_out[0].why.ends_with("the member \"t\" stands twice in one object"));
    const auto message = ipc::decode_finite(some->line);
    REQUIRE_MESSAGE(message.has_value(), some->line);
    const Json tools = std::get<ipc::Response>(*message).outcome->at("tools");
    REQUIRE(tools.size() == 3);
    CHECK(tools[0]["name"] == "a");
    CHECK(tools[1] == 7);
    CHECK(tools[2]["t"] == "],[");
    const auto none = rest_of(R"([{"n":NaN}])");
    REQUIRE(none.has_value());
    CHECK(std::get<ipc::Response>(ipc::decode(none->line).value()).outcome->at("tools").empty());
    for (const char* list :
         {"[]", R"([{"name":"a"}])", "{}", "7", "[{\"n\":NaN]}", "[NaN", "[NaN}"})
      CHECK_MESSAGE(!rest_of(list), list);
    CHECK_FALSE(ipc::without_unreadable(R"({"result":{"tools":[NaN],"tools":[]}})", "tools"));
    std::string many = "NaN";
    for (int i = 1; i < 100; ++i) many += ",NaN";
    CHECK(rest_of("[" + many + "]"));
    CHECK_FALSE(rest_of("[" + many + ",NaN]"));
    // A list that closes with another bracket has no claims either.
    CHECK_FALSE(error_of(R"({"jsonrpc":"2.0","id":1,"result":NaN])").id.has_value());
  }

  TEST_CASE("a request says about how much it takes: its text, and what values take beside it") {
    const auto weight_of = [](std::string_view line) {
      const auto message = ipc::decode(line);
      REQUIRE(message.has_value());
      return std::get<ipc::Request>(*message).weight;
    };
    const std::string few = R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"x"}})";
    CHECK(weight_of(few) > few.size());
    CHECK(weight_of(few) < few.size() + 1'000);
    std::string many = R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[{"":0})";
    for (int i = 1; i < 1'000; ++i) many += R"(,{"":0})";
    many += "]}}";
    CHECK(weight_of(many) > 20 * many.size());
  }
}
