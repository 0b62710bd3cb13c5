// What a model is advised to do about a refusal.
#include "gateway/code_mode/advice.h"

#include <doctest/doctest.h>

#include "gateway/code_mode/answers.h"

using namespace mcpac;
using namespace mcpac::gateway::code_mode;

TEST_SUITE("gateway/advice") {
  TEST_CASE("what is not granted is the person's to add, and no option of a command") {
    CHECK(advice_for_client("--grant 'fs.read,git.log' --files ./PATH") ==
          "have the person add to the policy of this client: grant 'fs.read,git.log' files ./PATH");
    CHECK(
        advice_for_client("--network HOST:PORT, and `allow fs.read` in mcpac.policy") ==
        "have the person add to the policy of this client: network HOST:PORT, and `allow fs.read` "
        "in mcpac.policy");
    CHECK(advice_for_client("change the call, or --grant fs.read; where the program means to be "
                            "denied, --expect-denials") ==
          "change the call, or have the person add to the policy of this client: grant fs.read");
  }

  TEST_CASE("a limit is a member of the call") {
    CHECK(advice_for_client("less at a time, or --memory SIZE") ==
          "less at a time, or `limits.memory_bytes`, as far as the person allows");
    CHECK(advice_for_client("--timeout SECONDS gives it more time").find("--") ==
          std::string::npos);
  }

  TEST_CASE("what to look up is looked up by the tools beside it") {
    CHECK(advice_for_client("mcpac tools describe fs.read shows its arguments") ==
          "describe_tools fs.read shows its arguments");
    CHECK(
        advice_for_client("mcpac tools list shows the tools; mcpac generate renews the headers") ==
        "search_tools shows the tools that this client was granted");
    CHECK(
        advice_for_client("mcpac tools list shows the tools; one that its server has gained since "
                          "waits for mcpac lock accept") ==
        "search_tools shows the tools that this client was granted; one that its server has gained "
        "since waits for the person to accept it");
    CHECK(advice_for_client("write mcp::fs::read (mcpac tools list shows what there is)") ==
          "write mcp::fs::read (search_tools shows what this client was granted)");
  }

  TEST_CASE("a command that no lookup stands for is for the person") {
    CHECK(advice_for_client("mcpac lock accept fs") ==
          "for the person, who has the command: mcpac lock accept fs");
    CHECK(advice_for_client("an mcpac program") == "an mcpac program");
  }

  TEST_CASE("advice that names no option is as it was") {
    CHECK(advice_for_client("use std::string") == "use std::string");
    CHECK(advice_for_client("") == "");
  }

  TEST_CASE("an error, and advice in a report, say so at any depth; what a program wrote stays") {
    const Json error = error_member({ErrorId::kPermissionMissing, "what", "", "", "--grant a.b"});
    CHECK(error.at("fix") == "have the person add to the policy of this client: grant a.b");
    Json report{{"grant_fix", "--grant a.b"},
                {"findings", {{{"fix", "--files ./PATH"}, {"message", "--grant a.b"}}}}};
    advise_client(report);
    CHECK(report.dump().find("--files") == std::string::npos);
    CHECK(report.at("grant_fix").get<std::string>().find("--") == std::string::npos);
    CHECK(report.at("findings").at(0).at("message") == "--grant a.b");
  }
}
