// What a model reads that has no structured content.
#include "gateway/code_mode/answer_text.h"

#include <doctest/doctest.h>

#include "gateway/code_mode/answers.h"

using namespace mcpac;
using gateway::code_mode::answer_text;

TEST_SUITE("gateway/answer_text") {
  TEST_CASE("the result comes first, then what was written, and a fine end goes without saying") {
    CHECK(answer_text({{"exit_code", 0},
                       {"result", {{"files", 3}}},
                       {"stdout", "one\ntwo\n"},
                       {"stderr", ""},
                       {"run_id", "x"},
                       {"verdict", {{"how", "ended"}}}}) ==
          "result: {\"files\":3}\nstdout:\none\ntwo\n");
    CHECK(answer_text({{"exit_code", 0}, {"stdout", ""}}) ==
          "it ended with exit code 0, and wrote nothing\n");
  }

  TEST_CASE("what is wrong says where, why and what to do") {
    const Json finding{
        {"severity", "refuses"}, {"file", "<agent>"},          {"line", 3},
        {"column", 4},           {"message", "it is no text"}, {"rule", "compile-error"},
        {"fix", "print .text()"}};
    CHECK(answer_text({{"exit_code", 65},
                       {"error",
                        {{"id", "MCPAC-E0503"},
                         {"what", "<agent> does not compile"},
                         {"why", "it is no text"},
                         {"fix", "print .text()"}}},
                       {"report", {{"findings", {finding}}}}}) ==
          "error MCPAC-E0503: <agent> does not compile\n"
          "<agent>:3:4: it is no text [compile-error]\n  fix: print .text()\nexit code: 65\n");
    CHECK(answer_text({{"exit_code", 77},
                       {"stderr", "mcpac: denied\n"},
                       {"denials", {{{"permission", "fs.read"}, {"reason", "no"}}}}}) ==
          "stderr: mcpac: denied\ndenied: fs.read: no\nexit code: 77\n");
  }

  TEST_CASE("an analysis says whether the program would run, and what it declares and calls") {
    const Json use{{"permission", "fs.read"}, {"line", 5}, {"verdict", {{"answer", "covered"}}}};
    CHECK(answer_text({{"granted", true},
                       {"report",
                        {{"verdict", "ok"},
                         {"declared", {"fs.read"}},
                         {"uses", {use}},
                         {"findings", Json::array()}}},
                       {"suggestions", Json::array()}}) ==
          "granted: yes\nverdict: ok\ndeclares: fs.read\ncalls fs.read in line 5: covered\n");
  }

  TEST_CASE("the text of a program's answer is not the structured content again") {
    const Json result = gateway::code_mode::program_result(
        {{"exit_code", 0}, {"result", 1}, {"run_id", "long"}}, false);
    CHECK(result.at("content").at(0).at("text") == "result: 1\n");
    CHECK(result.at("structuredContent").at("run_id") == "long");
  }
}
