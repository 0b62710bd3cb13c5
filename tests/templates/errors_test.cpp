// Every way in which a call can fail, as the class that a program catches.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <ranges>
#include <vector>

#include "templates/support_peer.h"

using mcpac::Json;
using namespace mcp;
using Reads = mcpac::Requires<filesystem::read_text_file>;

namespace {

// What a call throws when the host refuses it so.
template <class E>
E thrown(int code, const Json& data) {
  Peer peer([&](HostEnd& host) { host.refuse(host.read(), code, "because", data); });
  try {
    peer.capability<Reads>().filesystem.read_text_file({.path = "x"});
  } catch (const E& error) {
    CHECK(error.code() == code);
    CHECK(error.permission() == "filesystem.read_text_file");
    return error;
  }
  throw std::logic_error("nothing was thrown");
}

}  // namespace

TEST_SUITE("templates/errors") {
  TEST_CASE("a denial names the permission and the reason, and no grant that nobody suggested") {
    const auto denied = thrown<mcpac::Denied>(
        -32001,
        {{"kind", "denied"}, {"required", "filesystem.read_text_file"}, {"reason", "not granted"}});
    CHECK(denied.reason() == "not granted");
    CHECK(denied.would_grant().empty());
    const auto told = thrown<mcpac::Denied>(
        -32001, {{"kind", "denied"},
                 {"required", "filesystem.read_text_file"},
                 {"would_grant", "--grant 'filesystem.read_text_file(path == \"x\")'"}});
    CHECK(told.would_grant() == "--grant 'filesystem.read_text_file(path == \"x\")'");
  }
  TEST_CASE("refused arguments name the place and the rule") {
    const auto error = thrown<mcpac::InvalidArguments>(
        -32602, {{"kind", "invalid_arguments"}, {"pointer", "/path"}, {"rule", "minLength"}});
    CHECK(error.pointer() == "/path");
    CHECK(error.rule() == "minLength");
    CHECK(thrown<mcpac::InvalidArguments>(-32602, {{"kind", "unknown_tool"}}).rule() ==
          "unknown_tool");
  }
  TEST_CASE("each kind has its class, by its name or by its code alone") {
    thrown<mcpac::TransportError>(-32002, {{"kind", "transport"}});
    thrown<mcpac::Timeout>(-32003, {{"kind", "timeout"}});
    thrown<mcpac::BudgetExceeded>(-32004, {{"kind", "budget"}});
    thrown<mcpac::Revoked>(-32005, {{"kind", "revoked"}});
    CHECK(thrown<mcpac::Error>(-32603, {{"kind", "internal"}}).kind() ==
          mcpac::ErrorKind::internal);
    thrown<mcpac::Denied>(-32001, nullptr);
    thrown<mcpac::Timeout>(-32003, nullptr);
    CHECK(thrown<mcpac::Error>(-1, "not an object").kind() == mcpac::ErrorKind::internal);
  }
  TEST_CASE("a tool that says isError throws ToolError with what it answered") {
    Peer peer([](HostEnd& host) {
      const Json request = host.read();
      const Json block = {{"type", "text"}, {"text", "no such file"}};
      host.write({{"id", request["id"]},
                  {"result", {{"isError", true}, {"content", Json::array({block})}}}});
    });
    auto rt = peer.capability<Reads>();
    try {
      rt.filesystem.read_text_file({.path = "x"});
      FAIL("nothing was thrown");
    } catch (const mcpac::ToolError& error) {
      CHECK(error.text() == "no such file");
      CHECK(error.what() == std::string("no such file"));
      CHECK(error.content().size() == 1);
    }
  }
  TEST_CASE("try_call returns the error, and its value() throws the right class") {
    Peer peer([](HostEnd& host) {
      host.refuse(host.read(), -32003, "too slow", {{"kind", "timeout"}});
      host.answer(host.read(), "fine");
    });
    auto rt = peer.capability<Reads>();
    auto bad = rt.filesystem.read_text_file.try_call({.path = "x"});
    CHECK_FALSE(bad);
    CHECK(bad.error().kind() == mcpac::ErrorKind::timeout);
    CHECK(bad.error().what() == std::string("too slow"));
    CHECK_THROWS_AS((void)bad.value(), mcpac::Timeout);
    CHECK_THROWS_AS((void)bad->text(), mcpac::Timeout);
    CHECK_THROWS_AS(bad.error().rethrow(), mcpac::Timeout);
    auto good = rt.filesystem.read_text_file.try_call({.path = "x"});
    REQUIRE(good);
    CHECK(good->text() == "fine");
    CHECK((*good).text() == "fine");
    CHECK_THROWS_AS((void)good.error(), std::logic_error);
  }
  TEST_CASE("the error of try_call is an object of its class, in a copy and after a move, too") {
    using Kind = mcpac::ErrorKind;
    const auto check = []<class E>(const E&, Kind kind) {
      mcpac::Expected<int> first(mcpac::Error({.kind = kind, .message = "m"}));
      const mcpac::Expected<int> copy = first;
      const mcpac::Expected<int> moved = std::move(first);
      for (const auto* one : {&copy, &moved}) {
        CHECK(typeid(one->error()) == typeid(E));
        CHECK(dynamic_cast<const E*>(&one->error()) != nullptr);
        CHECK(one->error().kind() == kind);
        CHECK(one->error().what() == std::string("m"));
        CHECK_THROWS_AS(one->error().rethrow(), E);
      }
    };
    const mcpac::Error any(mcpac::Error::Details{});
    check(mcpac::Denied(any), Kind::denied);
    check(mcpac::InvalidArguments(any), Kind::invalid_arguments);
    check(mcpac::ToolError(any), Kind::tool);
    check(mcpac::TransportError(any), Kind::transport);
    check(mcpac::Timeout(any), Kind::timeout);
    check(mcpac::BudgetExceeded(any), Kind::budget);
    check(mcpac::Revoked(any), Kind::revoked);
    check(any, Kind::internal);
    const mcpac::Expected<int> expected(mcpac::Denied{any});
    CHECK(dynamic_cast<const mcpac::ToolError*>(&expected.error()) == nullptr);
  }
  TEST_CASE("what try_call returns is continued as a std::expected is") {
    using mcpac::Expected;
    Peer peer([](HostEnd& host) {
      for (int i = 0; i < 2; ++i) host.answer(host.read(), "a\nb\n");
      for (int i = 0; i < 3; ++i)
        host.refuse(host.read(), -32003, "too slow", {{"kind", "timeout"}});
    });
    auto rt = peer.capability<Reads>();
    const auto call = [&rt] { return rt.filesystem.read_text_file.try_call({.path = "x"}); };
    const auto count = [](auto&& result) { return result.lines().size(); };
    const auto text =
        [](const filesystem::read_text_file::Result& result) -> Expected<std::string> {
      return result.text();
    };
    CHECK(call().transform(count).value_or(0) == 2);
    auto good = call();
    CHECK(good.and_then(text)
              .or_else([](auto) -> Expected<std::string> { return std::string(); })
              .value() == "a\nb\n");
    std::size_t seen = 0;
    CHECK(good.transform([&seen](auto& result) { seen = result.text().size(); }));
    CHECK(seen == 4);
    CHECK(call().transform(count).value_or(7) == 7);
    const auto bad = call();
    CHECK((bad.and_then(text).error().kind() == "timeout"));
    CHECK(bad.and_then(text)
              .or_else([](const mcpac::Error& error) -> Expected<std::string> {
                return std::string(error.what());
              })
              .value() == "too slow");
    const auto renamed = call().transform_error([](const mcpac::Error&) {
      return mcpac::Error({.kind = mcpac::ErrorKind::budget, .message = "mine"});
    });
    CHECK_THROWS_AS((void)renamed.value(), mcpac::BudgetExceeded);
  }

  TEST_CASE("a kind is named as its class is, and compared with literals of its names") {
    using mcpac::ErrorKind;
    CHECK(mcpac::Error::Kind::ToolError == ErrorKind::tool);
    CHECK((ErrorKind::tool == "ToolError"));
    CHECK((ErrorKind::tool == "tool"));
    CHECK((ErrorKind::tool == "tool error"));
    CHECK((ErrorKind::tool != "denied"));
    CHECK((ErrorKind::BudgetExceeded == "budget"));
    CHECK(ErrorKind::Revoked == ErrorKind::revoked);
  }

  TEST_CASE("the iterators of a Json have random access, and those of an object count") {
    Json list{{{"n", "b"}}, {{"n", "c"}}, {{"n", "a"}}};
    std::ranges::sort(list, std::greater<>(), [](const Json& one) { return one["n"]; });
    CHECK(list.dump() == R"([{"n":"c"},{"n":"b"},{"n":"a"}])");
    Json object{{"a", 1}, {"b", 2}, {"c", 3}};
    CHECK(object.end() - object.begin() == 3);
    CHECK(object.begin()[2] == 3);
    CHECK(object.begin() < object.end());
    std::vector<Json> first;
    for (const Json& value : object | std::views::take(2)) first.push_back(value);
    CHECK(first == std::vector<Json>{1, 2});
    Json other;
    CHECK_THROWS_AS((void)(object.begin() < other.begin()), Json::invalid_iterator);
    Json number = 5;
    CHECK(std::ranges::distance(number.begin(), number.end()) == 1);
  }

  TEST_CASE("a closed connection fails every call in flight and every later one") {
    Peer peer([](HostEnd& host) {
      host.read();
      host.read();
      host.close();
    });
    auto rt = peer.capability<Reads>();
    auto first = rt.filesystem.read_text_file.async({.path = "1"});
    auto second = rt.filesystem.read_text_file.async({.path = "2"});
    CHECK_THROWS_WITH_AS((void)first.get(),
                         "the connection to mcpac is closed; the call was sent and may have been "
                         "done: look before you repeat it",
                         mcpac::TransportError);
    CHECK_THROWS_AS((void)second.get(), mcpac::TransportError);
    CHECK_THROWS_WITH_AS((void)rt.filesystem.read_text_file({.path = "3"}),
                         "the connection to mcpac is closed; the call was not sent",
                         mcpac::TransportError);
    const auto later = rt.filesystem.read_text_file.try_call({.path = "4"});
    REQUIRE_FALSE(later);
    CHECK(later.error().was_not_sent());
    CHECK_FALSE(later.error().may_have_been_done());
  }
  TEST_CASE("an error says whether its call may have been done") {
    struct Row {
      int code;
      Json data;
      bool was_not_sent;
      bool may_have_been_done;
    };
    for (const Row& row : {Row{-32003, {{"kind", "timeout"}, {"outcome", "unknown"}}, false, true},
                           Row{-32003, {{"kind", "timeout"}, {"outcome", "not_sent"}}, true, false},
                           Row{-32004, {{"kind", "budget"}, {"outcome", "done"}}, false, true},
                           Row{-32005, {{"kind", "revoked"}, {"outcome", "unknown"}}, false, true},
                           Row{-32005, {{"kind", "revoked"}}, true, false},
                           Row{-32001, {{"kind", "denied"}}, true, false},
                           Row{-32602, {{"kind", "invalid_arguments"}}, true, false},
                           // What the server answered is what became of it.
                           Row{-32002, {{"kind", "transport"}}, false, false}}) {
      CAPTURE(row.data.dump());
      const auto error = thrown<mcpac::Error>(row.code, row.data);
      CHECK(error.was_not_sent() == row.was_not_sent);
      CHECK(error.may_have_been_done() == row.may_have_been_done);
    }
  }
  TEST_CASE("a line that is no JSON ends the connection with an error, not with a hang") {
    Peer peer([](HostEnd& host) {
      host.read();
      host.write_raw("{\"id\":\n");
      host.read();
    });
    CHECK_THROWS_AS((void)peer.capability<Reads>().filesystem.read_text_file({.path = "x"}),
                    mcpac::TransportError);
  }
  TEST_CASE("an answer with neither result nor error is a transport error") {
    Peer peer([](HostEnd& host) { host.write({{"id", host.read()["id"]}}); });
    CHECK_THROWS_AS((void)peer.capability<Reads>().filesystem.read_text_file({.path = "x"}),
                    mcpac::TransportError);
  }
  TEST_CASE("an error that the server answered is known from a connection that failed") {
    const auto answered =
        thrown<mcpac::TransportError>(-32002, {{"kind", "transport"}, {"id", "MCPAC-E0305"}});
    CHECK(answered.is_of_server());
    CHECK_FALSE(
        thrown<mcpac::TransportError>(-32002, {{"kind", "transport"}, {"id", "MCPAC-E0301"}})
            .is_of_server());
  }
  TEST_CASE("what is longer than the host takes is refused before anything of it is sent") {
    Peer peer([](HostEnd& host) { host.answer(host.read(), "fine"); });
    auto rt = peer.capability<Reads>();
    try {
      rt.filesystem.read_text_file({.path = std::string(std::size_t{16} << 20U, 'x')});
      FAIL("nothing was thrown");
    } catch (const mcpac::InvalidArguments& error) {
      CHECK(error.permission() == "filesystem.read_text_file");
      CHECK(error.rule() == "size");
      CHECK(std::string(error.what()).find("16777216 bytes (16 MiB)") != std::string::npos);
    }
    CHECK(rt.filesystem.read_text_file({.path = "x"}).text() == "fine");
  }
  TEST_CASE("a descriptor that is not open says how to start the program") {
    mcpac::Session session(987);
    auto rt = mcpac::detail::Mint::make<Reads>(&session);
    try {
      rt.filesystem.read_text_file({.path = "x"});
      FAIL("nothing was thrown");
    } catch (const mcpac::TransportError& error) {
      CHECK(std::string(error.what()).find("mcpac execute") != std::string::npos);
    }
  }
  TEST_CASE(
      "text that is not UTF-8 and numbers that JSON lacks are refused before anything is sent") {
    Peer peer([](HostEnd& host) { CHECK(host.read().is_null()); });
    auto rt = peer.capability<Reads>();
    CHECK_THROWS_AS((void)rt.filesystem.read_text_file({.path = "\xff"}), mcpac::InvalidArguments);
    CHECK_THROWS_AS((void)rt.filesystem.read_text_file({.path = "x", .head = 0.0 / 0.0}),
                    mcpac::InvalidArguments);
  }
}
