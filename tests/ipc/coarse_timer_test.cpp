#include "ipc/coarse_timer.h"

#include <doctest/doctest.h>

#include <chrono>
#include <optional>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

using namespace mcpac::ipc;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

CoarseTimer::Time in(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

struct World {
  World() : timer(loop.get_executor(), [this] { ++calls; }) {}
  asio::io_context loop;
  int calls = 0;
  CoarseTimer timer;
};

}  // namespace

TEST_SUITE("ipc/coarse_timer") {
  TEST_CASE("it says once that its time has come") {
    World world;
    world.timer.set(in(1ms));
    world.loop.run();
    CHECK(world.calls == 1);
  }

  TEST_CASE("a time that moved on is waited for, though the timer was set to the first") {
    World world;
    const auto late = in(30ms);
    world.timer.set(in(1ms));
    world.timer.set(late);
    world.loop.run();
    CHECK(world.calls == 1);
    CHECK(std::chrono::steady_clock::now() >= late);
  }

  TEST_CASE("a time that is sooner than before is not waited past") {
    World world;
    world.timer.set(in(1h));
    world.timer.set(in(1ms));
    world.loop.run_one();  // the wait that was given up
    world.loop.run_one();
    CHECK(world.calls == 1);
  }

  TEST_CASE("of several times by which it is to say so the first one counts, each round anew") {
    World world;
    world.timer.set_by(in(1h));
    world.timer.set_by(in(1ms));
    world.timer.set_by(in(1h));
    while (world.calls == 0) world.loop.run_one();
    const auto late = in(10ms);
    world.timer.set_by(late);
    world.loop.restart();
    while (world.calls == 1) world.loop.run_one();
    CHECK(std::chrono::steady_clock::now() >= late);
  }

  TEST_CASE("what is set to never does not come, and can be set again") {
    World world;
    world.timer.set(in(1ms));
    world.timer.set_never();
    world.loop.run();
    CHECK(world.calls == 0);
    world.timer.set(in(1ms));
    world.loop.restart();
    world.loop.run();
    CHECK(world.calls == 1);
  }

  TEST_CASE("the loop does not stay for one that was stopped, or has gone") {
    World world;
    world.timer.set(in(1h));
    world.timer.stop();
    world.loop.run();
    std::optional<CoarseTimer> gone(std::in_place, world.loop.get_executor(),
                                    [&] { ++world.calls; });
    gone->set(in(1h));
    gone.reset();
    world.loop.restart();
    world.loop.run();
    CHECK(world.calls == 0);
  }

  TEST_CASE("whoever hears of it may destroy it") {
    asio::io_context loop;
    std::optional<CoarseTimer> timer;
    timer.emplace(loop.get_executor(), [&] { timer.reset(); });
    timer->set(in(1ms));
    loop.run();
    CHECK_FALSE(timer.has_value());
  }
}

TEST_SUITE("ipc/bell") {
  TEST_CASE("who waits goes on when it is rung, or when the time has come, and knows which") {
    asio::io_context loop;
    AsyncEvent bell(loop.get_executor());
    std::vector<bool> rung;
    const auto wait = [&]() -> asio::awaitable<void> {
      rung.push_back(co_await bell.wait_until(in(1h)));
      rung.push_back(co_await bell.wait_until(in(1ms)));
      rung.push_back(co_await bell.wait_until(in(1h)));
      bell.stop();
    };
    asio::co_spawn(loop, wait(), asio::detached);
    asio::post(loop, [&] { bell.ring(); });
    while (rung.size() < 2) loop.run_one();
    bell.ring();
    loop.run();
    CHECK(rung == std::vector{true, false, true});
  }

  TEST_CASE("rung while nobody waits, it is not heard") {
    asio::io_context loop;
    AsyncEvent bell(loop.get_executor());
    bell.ring();
    std::optional<bool> rung;
    const auto wait = [&]() -> asio::awaitable<void> { rung = co_await bell.wait_until(in(1ms)); };
    asio::co_spawn(loop, wait(), asio::detached);
    loop.run();
    CHECK(rung == false);
  }
}
