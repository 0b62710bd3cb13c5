// What a run was given, as programs read it: asked of the host once, and typed.
#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "templates/support_peer.h"

using mcpac::Json;
using mcpac::detail::argument_in;

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
    CHECK(missing.message() == "arguments of the run: /none is missing");
    const auto number = refusal<std::string>(kAll, "n");
    CHECK(number.pointer() == "/n");
    CHECK(number.rule() == "type");
    const auto deep = refusal<Options>(kAll, "deep");
    CHECK(deep.pointer() == "/deep/words/1");
    CHECK(deep.message().starts_with("arguments of the run: /deep/words/1: expected "));
    CHECK(refusal<std::string>(kAll, "a/b").pointer() == "/a~1b");
    CHECK(refusal<int>(kAll, "nothing").pointer() == "/nothing");
    CHECK(refusal<int>(Json{{"n", 3'000'000'000}}, "n").pointer() == "/n");
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
