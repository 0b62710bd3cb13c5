#include "ipc/aside.h"

#include <doctest/doctest.h>

#include <exception>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

namespace {

namespace asio = boost::asio;

// What one piece of work gives to a loop of its own: its result, or its exception.
std::string outcome_of(std::function<int()> work) {
  asio::io_context loop;
  std::string outcome = "none";
  asio::co_spawn(loop, mcpac::ipc::aside<int>(loop.get_executor(), std::move(work)),
                 [&outcome](std::exception_ptr thrown, int result) {
                   outcome = std::to_string(result);
                   try {
                     if (thrown) std::rethrow_exception(thrown);
                   } catch (const std::exception& error) {
                     outcome = error.what();
                   }
                 });
  loop.run();
  return outcome;
}

}  // namespace

TEST_SUITE("ipc/aside") {
  TEST_CASE("work aside has a thread of its own, and its result comes to the loop") {
    std::optional<std::thread::id> worked_on;
    CHECK(outcome_of([&worked_on] {
            worked_on = std::this_thread::get_id();
            return 7;
          }) == "7");
    REQUIRE(worked_on.has_value());
    CHECK(*worked_on != std::this_thread::get_id());
  }

  TEST_CASE("what work aside throws is thrown to its waiter, and ends no process") {
    CHECK(outcome_of([]() -> int { throw std::runtime_error("no memory"); }) == "no memory");
  }
}
