// What an approver command is asked, and which of its words count as an answer.
#include "run/asking/question_json.h"

#include <doctest/doctest.h>

using namespace mcpac;
using gate::Answered;
using run::Asks;
using run::read_answer;

namespace {

const std::string kId(64, 'a');

std::string answer(const std::string& rest) {
  return "{\"question\":\"" + kId + "\"" + rest + "}";
}

Answered call(const std::string& output) {
  return read_answer(output, Asks::kCall, kId).answer;
}
Answered program(const std::string& output) {
  return read_answer(output, Asks::kProgram, kId).answer;
}

}  // namespace

TEST_SUITE("execute/question_json") {
  TEST_CASE("each answer to a call is known by its word") {
    CHECK(call(answer(R"(,"answer":"once")")) == Answered::kOnce);
    CHECK(call(answer(R"(,"answer":"run")") + "\n") == Answered::kRun);
    CHECK(call(answer(R"(,"answer":"no")")) == Answered::kNo);
    CHECK(call(answer(R"(,"answer":"never")")) == Answered::kNever);
    const auto before = std::chrono::system_clock::now();
    const auto until = read_answer(answer(R"(,"answer":"until","until":"15m")"), Asks::kCall, kId);
    CHECK(until.answer == Answered::kUntil);
    CHECK(until.until >= before + std::chrono::minutes(15));
    CHECK(until.until <= std::chrono::system_clock::now() + std::chrono::minutes(15));
    CHECK(call(answer(R"(,"answer":"until","until":"2099-01-01T00:00:00Z")")) == Answered::kUntil);
  }

  TEST_CASE("a program is answered with yes or no") {
    CHECK(program(answer(R"(,"answer":"yes")")) == Answered::kOnce);
    CHECK(program(answer(R"(,"answer":"no")")) == Answered::kNo);
    for (const char* word : {"once", "run", "never", "y", ""})
      CHECK(program(answer(",\"answer\":\"" + std::string(word) + "\"")) == Answered::kNobody);
    CHECK(program(answer(R"(,"answer":"yes","until":"15m")")) == Answered::kNobody);
    CHECK(call(answer(R"(,"answer":"yes")")) == Answered::kNobody);
  }

  TEST_CASE("anything but one well-formed answer to this very question is none, with a reason") {
    const std::string once = R"(,"answer":"once")";
    for (const std::string& output :
         {std::string(),
          std::string("once"),
          std::string("yes\n"),
          std::string("null"),
          std::string("[]"),
          answer(""),
          answer(R"(,"answer":"nobody")"),
          answer(R"(,"answer":"Once")"),
          answer(R"(,"answer":1)"),
          answer(R"(,"answer":["once"])"),
          answer(R"(,"answer":"until")"),
          answer(R"(,"answer":"until","until":"soon")"),
          answer(R"(,"answer":"until","until":15)"),
          answer(R"(,"answer":"once","until":"15m")"),
          answer(once + R"(,"note":"fine")"),
          answer(once + once),
          answer(once) + answer(once),
          answer(once) + "\n" + answer(once),
          answer(once) + " yes",
          std::string("{\"answer\":\"once\"}"),
          "{\"question\":\"" + std::string(64, 'b') + "\",\"answer\":\"once\"}",
          "{\"question\":\"" + kId.substr(1) + "\",\"answer\":\"once\"}",
          "{\"question\":\"" + kId + "\",\"question\":\"" + kId + "\",\"answer\":\"once\"}"}) {
      CAPTURE(output);
      const auto reply = read_answer(output, Asks::kCall, kId);
      CHECK(reply.answer == Answered::kNobody);
      CHECK_FALSE(reply.detail.empty());
    }
  }

  TEST_CASE("a question is one line of JSON with all that it is about, whatever is in it") {
    auto asked =
        gate::make_question("fs.write", {{"path", "a\nb\u2028\033[2J"}},
                            {{"the command line", "ask fs.write"}}, {"p", "h", "l", "r", "e"});
    asked.waiting = 2;
    const std::string line = run::question_line(asked);
    CHECK(line.find('\n') == line.size() - 1);
    const auto json = parse_json(line);
    REQUIRE(json);
    CHECK(json->at("kind") == "call");
    CHECK(json->at("question") == asked.id);
    CHECK(json->at("permission") == "fs.write");
    CHECK(json->at("arguments") == asked.arguments);
    CHECK(json->at("call") == asked.call_digest);
    CHECK(json->at("rules") ==
          Json::array({{{"layer", "the command line"}, {"rule", "ask fs.write"}}}));
    CHECK(json->at("binding") == gate::to_json(asked.binding));
    CHECK(json->at("waiting") == 2);
  }
}
