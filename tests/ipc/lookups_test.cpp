// Names are looked up on threads that nobody has to wait for.
#include "ipc/lookups.h"

#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

using namespace mcpac;
using namespace mcpac::ipc;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

// A name service that answers when the test says so; it is waited for, by its threads alone.
struct HeldService {
  HeldService() : released(release.get_future().share()) {}
  LookUp look_up() {
    return [this, go = released](const std::string& name) -> Result<Addresses> {
      {
        const std::lock_guard lock(mutex);
        asked.insert(name);
      }
      go.wait();
      return Addresses{asio::ip::make_address("93.184.216.34")};
    };
  }
  std::size_t count() {
    const std::lock_guard lock(mutex);
    return asked.size();
  }
  std::promise<void> release;
  std::shared_future<void> released;
  std::mutex mutex;
  std::set<std::string> asked;
};

void turn_until(asio::io_context& loop, const std::function<bool()>& condition) {
  while (!condition()) {
    if (loop.poll() == 0) std::this_thread::yield();
    loop.restart();
  }
}

// What a coroutine is told that waits for `name`.
void find(asio::io_context& loop, const std::shared_ptr<Lookups>& lookups, std::string name,
          asio::steady_timer& patience, std::chrono::milliseconds at_most,
          std::function<void(Result<Addresses>)> told) {
  asio::co_spawn(
      loop,
      [](auto all, auto text, auto& timer, auto limit, auto tell) -> asio::awaitable<void> {
        tell(co_await look_up(all, text, timer, limit));
      }(lookups, std::move(name), patience, at_most, std::move(told)),
      asio::detached);
}

}  // namespace

TEST_SUITE("ipc/lookups") {
  TEST_CASE("so many at once, so many wait, and more is an error") {
    HeldService service;
    asio::io_context loop;
    Lookups lookups(loop.get_executor(), service.look_up(), {.at_once = 2, .waiting = 3});
    std::size_t answered = 0;
    const auto ask = [&](int i) {
      return lookups.ask("n" + std::to_string(i), [&](Result<Addresses> found) {
        CHECK(found);
        ++answered;
      });
    };
    for (int i = 0; i < 2; ++i) REQUIRE(ask(i));
    turn_until(loop, [&] { return service.count() == 2; });
    for (int i = 2; i < 5; ++i) REQUIRE(ask(i));
    const auto refused = ask(5);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().id == ErrorId::kNetworkName);
    CHECK(refused.error().what.find("too many names") != std::string::npos);
    CHECK(answered == 0);
    service.release.set_value();
    turn_until(loop, [&] { return answered == 5; });
    CHECK(service.count() == 5);
    REQUIRE(ask(6));  // threads that have gone come again
    turn_until(loop, [&] { return answered == 6; });
  }

  TEST_CASE("a name server that does not answer holds up neither the loop nor its end") {
    // The thread has all of it, as the product's look-up has nothing of anybody's.
    auto service = std::make_shared<HeldService>();
    auto ended = std::make_shared<std::atomic<bool>>(false);
    {
      asio::io_context loop;
      Lookups lookups(loop.get_executor(), [service, ended](const std::string& name) {
        auto found = service->look_up()(name);
        *ended = true;
        return found;
      });
      std::size_t told = 0;
      REQUIRE(lookups.ask("slow", [&](Result<Addresses> found) {
        CHECK_FALSE(found);
        ++told;
      }));
      turn_until(loop, [&] { return service->count() == 1; });
      lookups.close();
      CHECK(told == 1);
      CHECK_FALSE(lookups.ask("more", [](Result<Addresses>) { FAIL("nobody is answered"); }));
    }
    // The loop is gone; what the thread finds out now reaches nobody.
    service->release.set_value();
    while (!*ended) std::this_thread::yield();
  }

  TEST_CASE("a name that nobody waits for any more is not asked for") {
    HeldService service;
    asio::io_context loop;
    auto lookups = std::make_shared<Lookups>(loop.get_executor(), service.look_up(),
                                             LookupLimits{.at_once = 1, .waiting = 2});
    std::size_t answered = 0;
    const auto count = [&](Result<Addresses>) { ++answered; };
    REQUIRE(lookups->ask("first", count));
    turn_until(loop, [&] { return service.count() == 1; });
    const auto second = lookups->ask("second", count);
    REQUIRE(second);
    std::vector<std::string> errors;
    asio::steady_timer patience(loop);
    find(loop, lookups, "third", patience, 1h,
         [&](Result<Addresses> found) { errors.push_back(found.error().what); });
    loop.poll();
    REQUIRE_FALSE(lookups->ask("no room", count));
    lookups->forget(*second);
    patience.cancel();
    turn_until(loop, [&] { return errors.size() == 1; });
    CHECK(errors[0] == "the look-up was given up");
    REQUIRE(lookups->ask("last", count));  // there is room again
    service.release.set_value();
    turn_until(loop, [&] { return answered == 2; });
    CHECK(service.asked == std::set<std::string>{"first", "last"});
  }

  TEST_CASE("a name server that does not answer is waited for so long, and an answer ends that") {
    auto service = std::make_shared<HeldService>();
    asio::io_context loop;
    auto lookups = std::make_shared<Lookups>(
        loop.get_executor(),
        [service](const std::string& name) { return service->look_up()(name); });
    asio::steady_timer patience(loop);
    std::optional<Result<Addresses>> told;
    const auto tell = [&](Result<Addresses> found) { told = std::move(found); };
    find(loop, lookups, "slow", patience, 1ms, tell);
    turn_until(loop, [&] { return told.has_value(); });
    REQUIRE_FALSE(*told);
    CHECK(told->error().what == "the name server does not answer");
    told.reset();
    service->release.set_value();
    find(loop, lookups, "other", patience, 1h, tell);
    turn_until(loop, [&] { return told.has_value(); });
    CHECK(told->value().size() == 1);
  }

  TEST_CASE("all who connect on one loop share its threads") {
    asio::io_context loop;
    asio::io_context other;
    CHECK(system_lookups(loop.get_executor()) == system_lookups(loop.get_executor()));
    CHECK(system_lookups(loop.get_executor()) != system_lookups(other.get_executor()));
  }
}
