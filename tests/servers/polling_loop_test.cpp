// The loop that looks before it sleeps: it does what a plain one does, and looks only where looking
// pays.
#include "servers/polling_loop.h"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>
#include <vector>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

using namespace mcpac::servers;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace asio = boost::asio;

TEST_SUITE("polling loop") {
  TEST_CASE("a loop looks longer while sleeps are short, and never longer than the longest look") {
    LookingTime time;
    CHECK(time.now() == microseconds(0));
    std::vector<LookingTime::Duration> looks;
    for (int sleep = 0; sleep < 7; ++sleep) {
      time.after_sleep(microseconds(50));
      looks.push_back(time.now());
    }
    CHECK(looks == std::vector<LookingTime::Duration>{
                       microseconds(10), microseconds(20), microseconds(40), microseconds(80),
                       microseconds(160), microseconds(200), microseconds(200)});
  }

  TEST_CASE("one long sleep ends the looking, as does a look in which others had the processor") {
    LookingTime time;
    time.after_sleep(microseconds(50));
    time.after_sleep(milliseconds(3));
    CHECK(time.now() == microseconds(0));
    time.after_sleep(microseconds(50));
    time.after_look(microseconds(2));
    CHECK(time.now() == microseconds(10));
    time.after_look(milliseconds(1));
    CHECK(time.now() == microseconds(0));
  }

  TEST_CASE("what is to be done is done in turn, and the loop ends when nothing is left") {
    asio::io_context loop{1};
    std::vector<int> done;
    asio::steady_timer timer(loop, milliseconds(5));
    timer.async_wait([&done](auto) { done.push_back(3); });
    asio::post(loop, [&] {
      done.push_back(1);
      asio::post(loop, [&done] { done.push_back(2); });
    });
    run_polling(loop);
    CHECK(done == std::vector<int>{1, 2, 3});
  }

  TEST_CASE("a loop is stopped and woken from another thread, whether it looks or sleeps") {
    for (const auto pause : {microseconds(0), microseconds(30), microseconds(20'000)}) {
      asio::io_context loop{1};
      const auto work = asio::make_work_guard(loop);
      std::thread thread([&loop] { run_polling(loop); });
      int done = 0;  // on the loop's thread until it has ended
      for (int i = 0; i < 20; ++i) {
        asio::post(loop, [&done] { ++done; });
        std::this_thread::sleep_for(pause / 10);
      }
      asio::post(loop, [&loop] { loop.stop(); });
      thread.join();
      CHECK(done == 20);
    }
  }

  TEST_CASE("a handler that throws does so out of the loop, as out of a plain one") {
    asio::io_context loop{1};
    asio::post(loop, [] { throw 7; });
    CHECK_THROWS_AS(run_polling(loop), int);
  }
}
