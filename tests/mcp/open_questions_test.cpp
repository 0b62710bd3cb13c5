// What a server asks of the clients that share it, and what becomes of their answers.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "mcp/answers_under_way.h"
#include "mcp/session.h"
#include "mcp/support_connected.h"
#include "mcp/support_wire.h"

using namespace mcpac;
using namespace mcpac::test;
namespace asio = boost::asio;

namespace {

// A session whose server asks over the answers to its calls, as it can over HTTP.
struct Shared {
  Shared() {
    session->start();
    session->set_protocol(mcp::Era::kInitialize, "2025-11-25");
  }
  ~Shared() { session->kill(); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  // A call of a client that answers as `answer` does.
  std::int64_t call(const std::string& client, mcp::Answer answer) {
    mcp::CallEvents events;
    events.client = client;
    events.answer = std::move(answer);
    mcp::RequestOptions options;
    options.events = std::make_shared<const mcp::CallEvents>(std::move(events));
    Json params = Json::object();
    return session->begin_then("tools/call", params, std::move(options), kPatience,
                               [](const Result<mcp::Reply>&) {});
  }
  // Nobody fills in its forms; how many they are.
  std::int64_t call_of_silent(const std::string& client) {
    return call(client, [this](std::string, Json) -> asio::awaitable<Result<Json>> {
      ++shown;
      std::ignore = co_await never.async_wait(asio::as_tuple(asio::use_awaitable));
      co_return fail(ErrorId::kServerCancelled, "nobody is there");
    });
  }
  // The server asks; whether somebody is.
  bool asks(std::int64_t carrier) {
    const std::size_t before = wire->sent.size();
    wire->events.on_message(
        fmt::format(
            R"({{"jsonrpc":"2.0","id":"q{}","method":"elicitation/create","params":{{"message":"?"}}}})",
            ++last),
        carrier);
    go_on();
    return wire->sent.size() == before;
  }
  void go_on() {
    loop.restart();
    loop.poll();
  }

  asio::io_context loop;
  asio::steady_timer never{loop, asio::steady_timer::time_point::max()};
  std::shared_ptr<Wire> wire = std::make_shared<Wire>();
  std::shared_ptr<mcp::Session> session = std::make_shared<mcp::Session>(
      loop.get_executor(), "one", wire, std::make_shared<const mcp::SecretValues>(), answering());
  int shown = 0;
  int last = 0;
};

}  // namespace

TEST_SUITE("mcp/open_questions") {
  TEST_CASE("a client that answers none of its forms does not stand in the way of another's") {
    Shared shared;
    const auto of_a = shared.call_of_silent("a");
    for (int i = 0; i < 16; ++i) CHECK(shared.asks(of_a));
    CHECK(shared.shown == 16);
    CHECK_FALSE(shared.asks(of_a));
    CHECK_FALSE(shared.asks(shared.call_of_silent("a")));
    CHECK(shared.wire->sent.back().line.contains("-32601"));
    const auto of_b = shared.call_of_silent("b");
    CHECK(shared.asks(of_b));
    CHECK(shared.shown == 17);
    // All together have a bound, too.
    int open = shared.shown;
    for (const char* name : {"c", "d", "e", "f"}) {
      const auto more = shared.call_of_silent(name);
      while (shared.asks(more)) ++open;
    }
    CHECK(open == 64);
    shared.never.cancel();
    shared.go_on();
    CHECK(shared.asks(of_a));
  }

  TEST_CASE("an answer that a client makes long is not sent where others are under way") {
    Shared shared;
    const auto id = shared.call("a", [](std::string, Json) -> asio::awaitable<Result<Json>> {
      Json answer{{"action", "accept"}};
      answer["content"]["text"] = std::string(100'000, 'x');
      co_return answer;
    });
    std::ignore = shared.asks(id);
    const auto& said = shared.wire->sent.back();
    CHECK(said.line.size() > 100'000);
    CHECK(said.shorter.contains("the answer is too long"));
    mcp::AnswersUnderWay under_way;
    CHECK(under_way.add(std::size_t{20} << 20U));
    CHECK_FALSE(under_way.add(100'000));
    // A ping, or the error in its place: the server is not given up for what its clients answer.
    CHECK(under_way.add(said.shorter.size()));
    under_way.remove(std::size_t{20} << 20U);
    CHECK(under_way.add(100'000));
    CHECK(under_way.add(100'000));
    for (std::size_t i = 3; i < mcp::AnswersUnderWay::kMost; ++i) CHECK(under_way.add(10));
    CHECK_FALSE(under_way.add(10));
  }
}
