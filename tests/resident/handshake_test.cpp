// The last word between a client and its worker: what was not sent never happens.
#include "resident/handshake.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>

#include "resident/support_child.h"
#include "resident/wire.h"

using namespace mcpac;
using namespace mcpac::resident;
using resident_test::holds_in_child;
using resident_test::stands_alone_here;

namespace {

// A worker in a process of its own that waits for the word of this one.
class Peer {
 public:
  template <class Before>
  explicit Peer(Before before, int signals = -1) {
    auto pair = make_socket_pair();
    REQUIRE(pair.has_value());
    channel = std::move(pair->ours);
    const pid_t client = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) {
      channel.reset();
      const auto standard =
          before() ? wait_for_go(pair->theirs.get(), client, signals) : std::nullopt;
      const bool has_all = standard && std::ranges::all_of(*standard, [](const UniqueFd& one) {
                             return ::fcntl(one.get(), F_GETFD) >= 0;
                           });
      ::_exit(has_all ? 0 : 1);
    }
  }
  Peer() : Peer([] { return true; }) {}
  ~Peer() { began(); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  // Waits until it has ended.
  bool began() {
    channel.reset();
    if (pid_ > 0) {
      int status = 0;
      ::waitpid(pid_, &status, 0);
      pid_ = -1;
      began_ = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    return began_;
  }

  UniqueFd channel;

 private:
  pid_t pid_ = -1;
  bool began_ = false;
};

}  // namespace

TEST_SUITE("resident/handshake") {
  TEST_CASE("a worker that hears go has what its client handed it") {
    if (stands_alone_here()) return;
    Peer worker;
    const auto number = hear_ready(worker.channel.get());
    REQUIRE(number.has_value());
    REQUIRE(say_go(worker.channel.get(), *number));
    CHECK(worker.began());
  }

  TEST_CASE("a client that gives up before go is not served, however late the worker is") {
    if (stands_alone_here()) return;
    Peer early;
    early.channel.reset();
    CHECK(!early.began());
    Peer late;
    REQUIRE(hear_ready(late.channel.get()).has_value());
    CHECK(!late.began());
  }

  TEST_CASE("go without the number, without descriptors or from another process is none") {
    if (stands_alone_here()) return;
    {
      Peer worker;
      REQUIRE(hear_ready(worker.channel.get()).has_value());
      REQUIRE(say_go(worker.channel.get(), "guessed"));
      CHECK(!worker.began());
    }
    {
      Peer worker;
      const auto number = hear_ready(worker.channel.get());
      REQUIRE(send_message(worker.channel.get(), {{"go", number.value()}}));
      CHECK(!worker.began());
    }
    Peer worker;
    const auto number = hear_ready(worker.channel.get());
    CHECK(holds_in_child([&] { return say_go(worker.channel.get(), number.value()); }));
    CHECK(!worker.began());
  }

  TEST_CASE("a worker that stands otherwise than the client serves it not") {
    Peer worker([] { return resident_test::change_limit(); });
    CHECK(!hear_ready(worker.channel.get()));
    CHECK(!worker.began());
  }

  TEST_CASE("a socket that another process made is nobody's the worker waits for") {
    auto pair = make_socket_pair();
    REQUIRE(pair.has_value());
    CHECK(!wait_for_go(pair->theirs.get(), ::getpid() + 1, -1));
  }

  TEST_CASE("a worker that is told to end does so before it begins") {
    if (stands_alone_here()) return;
    const UniqueFd told(::eventfd(1, EFD_CLOEXEC));
    Peer worker([] { return true; }, told.get());
    CHECK(hear_ready(worker.channel.get()).has_value());
    UniqueFd keep(::fcntl(worker.channel.get(), F_DUPFD_CLOEXEC, 3));
    CHECK(!worker.began());
  }
}
