// A client beside hosts that die, hang or lie: its work is done once, by one of the two, or by
// nobody.
#include "resident/client.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>

#include <functional>

#include "resident/handshake.h"
#include "resident/request.h"
#include "resident/support_child.h"
#include "resident/support_impostor.h"
#include "resident/wire.h"

using namespace mcpac;
using namespace mcpac::resident;
using resident_test::AdmittedClient;
using resident_test::holds_in_child;
using resident_test::Impostor;
using resident_test::stands_alone_here;

TEST_SUITE("resident/client") {
  TEST_CASE("a host that dies before the client said go: the client works alone") {
    if (stands_alone_here()) return;
    const Impostor host([](AdmittedClient&) {});
    const Visit visit = host.visit();
    CHECK(!visit.outcome());
    CHECK(!visit.why_alone().empty());
  }

  TEST_CASE("a host that dies after the client said go: nobody runs it again") {
    if (stands_alone_here()) return;
    const Impostor host([](AdmittedClient& guest) { guest.hear_go(); });
    const Visit visit = host.visit();
    REQUIRE(visit.outcome().has_value());
    REQUIRE(!visit.outcome()->has_value());
    CHECK(visit.outcome()->error().id == ErrorId::kRunUnreachable);
  }

  TEST_CASE("a worker that ended without taking the word: the client works alone") {
    if (stands_alone_here()) return;
    const Impostor host([](AdmittedClient& guest) {
      guest.hear_go();
      guest.say({{"ended", true}, {"took", false}, {"exit", 69}});
      static_cast<void>(receive_message(guest.socket.get()));
    });
    CHECK(!host.visit().outcome());
  }

  TEST_CASE("the exit code of a worker that took it is the client's") {
    if (stands_alone_here()) return;
    const Impostor host([](AdmittedClient& guest) {
      guest.hear_go();
      guest.say({{"ended", true}, {"took", true}, {"exit", 5}});
      static_cast<void>(receive_message(guest.socket.get()));
    });
    const Visit visit = host.visit();
    REQUIRE(visit.outcome().has_value());
    CHECK(visit.outcome()->value() == 5);
  }

  TEST_CASE("a host that says an end before any go, or nothing at all, holds nobody up") {
    if (stands_alone_here()) return;
    const Impostor lies([](AdmittedClient& guest) {
      guest.say({{"ended", true}, {"took", true}, {"exit", 0}});
      static_cast<void>(receive_message(guest.socket.get()));
    });
    CHECK(!lies.visit().outcome());
    const Impostor silent([](AdmittedClient&) {
      for (;;) ::pause();
    });
    const Visit visit = silent.visit();
    CHECK(!visit.outcome());
    CHECK(visit.why_alone() == "no worker began in time");
  }

  TEST_CASE(
      "who works alone anyway says for which project, hands over nothing and waits for nobody") {
    if (stands_alone_here()) return;
    const Impostor host([](AdmittedClient& guest) {
      const Json& said = guest.request.body;
      const bool as_it_should = string_member(said, "do") == "alone" &&
                                string_member(said, "config").ends_with("/mcpac.json") &&
                                string_member(said, "config").find("/./") == std::string::npos &&
                                guest.request.descriptors.empty();
      guest.say({{"alone", as_it_should ? "yes" : "no"}});
      static_cast<void>(receive_message(guest.socket.get()));
    });
    const Visit visit = host.visit(Errand::Wish::kAlone);
    CHECK(!visit.outcome());
    CHECK(visit.why_alone() == "yes");
    const Impostor silent([](AdmittedClient&) {
      for (;;) ::pause();
    });
    CHECK(!silent.visit(Errand::Wish::kAlone).outcome());
  }

  TEST_CASE("Ctrl-C before a worker began ends the client as if it were alone") {
    if (stands_alone_here()) return;
    const pid_t us = ::getpid();
    int status = 0;
    const Impostor host([&](AdmittedClient& guest) {
      const pid_t sender = guest.request.process;
      if (sender != us) ::kill(sender, SIGINT);
      for (;;) ::pause();
    });
    const pid_t client = ::fork();
    if (client == 0) {
      ::signal(SIGINT, SIG_DFL);  // the test's own handler would tell of a crash
      ::alarm(120);
      const Visit visit = host.visit();
      ::_exit(0);
    }
    REQUIRE(::waitpid(client, &status, 0) == client);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGINT);
  }

  TEST_CASE("what the client does not say go to never gets its standard descriptors") {
    if (stands_alone_here()) return;
    const Impostor host([](AdmittedClient& guest) {
      const bool only_these = guest.request.descriptors.size() == kPassed;
      guest.say({{"alone", only_these ? "three" : "more"}});
      static_cast<void>(receive_message(guest.socket.get()));
    });
    CHECK(host.visit().why_alone() == "three");
  }
}
