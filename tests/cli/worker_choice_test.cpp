// Which command lines bin/mcpac may give to a worker without having read them.
#include "cli/worker_choice.h"

#include <doctest/doctest.h>

#include <vector>

using mcpac::cli::may_go_to_a_worker;
using Words = std::vector<std::string>;

TEST_SUITE("cli/worker_choice") {
  TEST_CASE("execute and run may go to a worker, with all that they are given") {
    CHECK(may_go_to_a_worker(Words{"execute", "--grant", "fs.read", "-f", "agent.cpp"}));
    CHECK(may_go_to_a_worker(Words{"execute", "--json", "--verbose", "-"}));
    CHECK(may_go_to_a_worker(Words{"run", "--grant", "fs.read", "--", "./program"}));
  }

  TEST_CASE("other commands, and what stands before a command, are for all of mcpac") {
    for (const Words& words : {Words{}, Words{"serve"}, Words{"--json", "execute"}, Words{"help"},
                               Words{"resident-worker"}, Words{"executed"}})
      CHECK(!may_go_to_a_worker(words));
  }

  TEST_CASE("an option that decides where the work is done is read by all of mcpac") {
    for (const char* word : {"--alone", "--alone=true", "--replay", "--replay=f", "--config",
                             "--config=other.json", "--help", "-h", "-hv"})
      CHECK(!may_go_to_a_worker(Words{"execute", "-f", "agent.cpp", word}));
  }

  TEST_CASE("words after -- are the program's") {
    CHECK(may_go_to_a_worker(Words{"run", "--", "./program", "--alone", "-h"}));
    CHECK(!may_go_to_a_worker(Words{"run", "--alone", "--", "./program"}));
  }
}
