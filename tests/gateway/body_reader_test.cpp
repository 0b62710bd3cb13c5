// Long bodies, which are read beside the loop.
#include "gateway/http/body_reader.h"

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

using namespace mcpac;
using namespace mcpac::gateway::http;

namespace {

constexpr JsonLimits kLimits{.max_bytes = std::size_t{16} << 20U};

// A notification with a long list of numbers.
std::string long_body(std::size_t bytes) {
  std::string text = R"({"jsonrpc":"2.0","method":"m","params":{"list":[0)";
  while (text.size() < bytes) text += ",0";
  return text + "]}}";
}

}  // namespace

TEST_SUITE("gateway/body_reader") {
  TEST_CASE("the loop goes on while a body is read, and hears of it on its own thread") {
    boost::asio::io_context loop;
    BodyReader reader(loop.get_executor());
    std::vector<std::string> heard;
    int guest = 0;
    reader.read(&guest, long_body(std::size_t{2} << 20U), kLimits, [&](BodyReader::Decoded got) {
      CHECK(got.has_value());
      heard.emplace_back("body");
      loop.stop();
    });
    CHECK(heard.empty());
    boost::asio::post(loop, [&] { heard.emplace_back("another"); });
    const auto kept = boost::asio::make_work_guard(loop);
    loop.run();
    CHECK(heard == std::vector<std::string>{"another", "body"});
  }

  TEST_CASE("guests take turns, and each one's bodies come in their order") {
    boost::asio::io_context loop;
    BodyReader reader(loop.get_executor());
    std::string heard;
    int one = 0;
    int other = 0;
    const auto read = [&](const int* guest, char name, const std::string& body) {
      reader.read(guest, body, kLimits, [&heard, &loop, name](const BodyReader::Decoded&) {
        heard += name;
        if (heard.size() == 5) loop.stop();
      });
    };
    const std::string body = long_body(std::size_t{2} << 20U);  // all are there before it is read
    read(&one, 'a', body);
    for (const char name : {'b', 'c', 'd'}) read(&one, name, "{}");
    read(&other, 'X', "{}");
    const auto kept = boost::asio::make_work_guard(loop);
    loop.run();
    CHECK(heard.find('X') <= 2);
    std::erase(heard, 'X');
    CHECK(heard == "abcd");
  }

  TEST_CASE("what is no message is told as such, and a reader that goes calls nobody") {
    boost::asio::io_context loop;
    int guest = 0;
    std::string why;
    {
      BodyReader reader(loop.get_executor());
      reader.read(&guest, "[1", kLimits, [&](const BodyReader::Decoded& got) {
        why = got ? "none" : got.error().message;
        loop.stop();
      });
      const auto kept = boost::asio::make_work_guard(loop);
      loop.run();
      CHECK_FALSE(why.empty());
      CHECK(why != "none");
      for (int i = 0; i < 3; ++i)
        reader.read(&guest, long_body(std::size_t{1} << 20U), kLimits,
                    [&](const BodyReader::Decoded&) { why = "called"; });
    }
    // One of them may have been done already; of those that were not nothing comes.
    const std::string before = why;
    CHECK(before != "called");
  }
}
