// What bin/mcpac says to all of mcpac, which it becomes: here both are one process.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdlib>

#include "resident/client.h"
#include "resident/sealed_memory.h"
#include "resident/support_impostor.h"

using namespace mcpac;
using namespace mcpac::resident;
using resident_test::AdmittedClient;
using resident_test::Impostor;
using resident_test::stands_alone_here;

namespace {

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

void pretend(const char* value) {
  ::setenv("MCPAC_VISIT", value, 1);
}

}  // namespace

TEST_SUITE("resident/exec_handover") {
  TEST_CASE("a visit that ended in working alone goes on: why, and what the next worker starts") {
    if (stands_alone_here()) return;
    Impostor impostor([](AdmittedClient& guest) {
      guest.say({{"alone", "no worker waits"}});
      const auto used = receive_message(guest.socket.get());
      const bool knows = string_member(used.message.body, "do") == "servers" &&
                         string_member(used.message.body, "nonce") == "1";
      guest.say({{"heard", knows}});
      static_cast<void>(receive_message(guest.socket.get()));
    });
    Visit before = impostor.visit();
    REQUIRE(!before.outcome());
    before.hand_over();
    const auto after = Visit::taken_over();
    REQUIRE(after);
    CHECK(after->why_alone() == "no worker waits");
    CHECK(!after->outcome());
    CHECK(std::getenv("MCPAC_VISIT") == nullptr);
    after->used({"files"});
    CHECK(!Visit::taken_over());
  }

  TEST_CASE(
      "a host that went away in the middle of a run is told by the program that comes after") {
    if (stands_alone_here()) return;
    Impostor impostor([](AdmittedClient& guest) { guest.hear_go(); });
    Visit before = impostor.visit();
    REQUIRE(before.outcome());
    REQUIRE(!*before.outcome());
    before.hand_over();
    const auto after = Visit::taken_over();
    REQUIRE(after);
    REQUIRE(after->outcome());
    CHECK(after->outcome()->error().id == ErrorId::kRunUnreachable);
  }

  TEST_CASE("what is no handover is none, and costs no descriptor") {
    const UniqueFd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    pretend("");
    CHECK(!Visit::taken_over());
    pretend("2");
    CHECK(!Visit::taken_over());
    CHECK(is_open(2));
    pretend("9999");
    CHECK(!Visit::taken_over());
    pretend("seven");
    CHECK(!Visit::taken_over());
    pretend(std::to_string(file.get()).c_str());
    CHECK(!Visit::taken_over());
    CHECK(is_open(file.get()));
    for (const char* text : {"", "[]", "{", "{\"socket\":-1}", "{\"socket\":2}"}) {
      CAPTURE(text);
      auto memory = seal(text).value();
      pretend(std::to_string(memory.release()).c_str());
      const auto visit = Visit::taken_over();
      CHECK((!visit || !visit->outcome()));
      CHECK(is_open(2));
    }
  }

  TEST_CASE("a handover that somebody else put into the environment is forgotten") {
    pretend("5");
    Visit::forget_handover();
    CHECK(std::getenv("MCPAC_VISIT") == nullptr);
  }
}
