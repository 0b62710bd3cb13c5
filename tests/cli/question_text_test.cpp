// What a person is shown before they answer, whatever the program put into its call.
#include "cli/question_text.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "run/asking/question_json.h"

using namespace mcpac;
using cli::read_call_answer;
using cli::read_program_answer;
using gate::Answered;

namespace {

gate::Question question(Json arguments) {
  return gate::make_question("fs.write", std::move(arguments),
                             {{"the command line", "ask fs.write"}}, {"p", "h", "l", "r", "e"});
}

std::string question_text(const gate::Question& question, std::string_view program = "agent.cpp") {
  return cli::question_text(question, program);
}
std::string question_text(const run::ProgramReview& review) {
  return cli::question_text(review);
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Printable ASCII and our own line ends: nothing else reaches the terminal.
bool cannot_draw(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
}

std::size_t lines(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

}  // namespace

TEST_SUITE("cli/question_text") {
  TEST_CASE("a question shows the program, the call, its digest, who asks, and every answer") {
    const auto asked = question({{"path", "/a"}, {"count", 3}});
    const std::string text = question_text(asked);
    CHECK(has(text, "may agent.cpp make this call?\n  tool write of server fs\n"));
    CHECK(has(question_text(asked, ""), "may the program make this call?\n"));
    CHECK(has(text, "    count = 3\n    path = \"/a\"\n"));
    CHECK(has(text, "  call " + asked.call_digest.substr(0, 16) + "  program p\n"));
    CHECK(has(text, "  asked by the command line: ask fs.write\n"));
    for (const char* answer : {"once", "run", "until TIME", "no", "never"})
      CHECK(has(text, "\n  " + std::string(answer) + " "));
    CHECK(has(question_text(question(Json::object())), "(no arguments)"));
  }

  TEST_CASE("a question and a review say what a rule leaves open, and the closed rule") {
    auto asked = question({{"path", "/a"}});
    asked.rules = {{"the command line", "ask fs.run(command starts \"git log\")"}};
    const std::string text = question_text(asked);
    CHECK(has(text, "note: 'command starts \"git log\"' says nothing of the rest"));
    CHECK(has(text, "git log; id"));
    CHECK(!has(question_text(question({{"path", "/a"}})), "note:"));
    run::ProgramReview review;
    review.rules = {"the command line: allow fs.run(command starts \"git log\")",
                    "mcpac.policy: allow fs.read(path within ./data)"};
    CHECK(has(question_text(review), "note: 'command starts \"git log\"' says nothing"));
    CHECK(run::question_line(asked).contains("git log; id"));
    CHECK(run::question_line(review).contains("git log; id"));
  }

  TEST_CASE("a question says how far run goes, what is a no, and what becomes of no answer") {
    auto asked = question({{"path", "/a"}});
    const std::string text = question_text(asked);
    CHECK(has(text, "all calls of this tool that the rule above asks about, with\n"));
    CHECK(has(text, "to the end of the run; not other tools\n"));
    CHECK(has(text, "no call of this tool that the rule above asks about, in this\n"));
    CHECK(has(text, "not this call; Ctrl-D is a no, too\n"));
    CHECK(has(text, "The call waits for your answer, and its time counts against --timeout.\n"));
    asked.binding.program = std::string(64, 'f');
    CHECK(has(question_text(asked), "  program " + std::string(16, 'f') + "\n"));
    asked.rules.push_back({"mcpac.policy", "ask fs.*"});
    CHECK(has(question_text(asked), "all calls of this tool that the rules above ask about"));
    CHECK_FALSE(has(question_text(asked), "the rule above"));
  }

  TEST_CASE("a tool whose name reads like another is quoted, and a program's name cannot draw") {
    auto asked = question({{"path", "/a"}});
    asked.permission = "fs.read of server safe";
    CHECK(has(question_text(asked), R"(  tool "read of server safe" of server fs)"));
    asked.permission = "fs." + std::string(200, 'a') + "z";
    CHECK(has(question_text(asked), "az of server fs\n"));
    asked.permission = "fs.a\u202Eb";
    CHECK(has(question_text(asked), R"(  tool "a\u202eb" of server fs)"));
    const std::string text = question_text(asked, "a\033[2J\nmcpac asks: fine?");
    CHECK(cannot_draw(text));
    CHECK(has(text, R"(may "a\u001b[2J\nmcpac asks: fine?" make)"));
  }

  TEST_CASE("no character of a call moves the cursor, turns the direction, or begins a line") {
    const std::size_t usual = lines(question_text(question({{"path", "x"}})));
    for (const char* evil : {"\033[2J\033[H", "\r\nmcpac asks: fine? ", "a\nb", "\b\b\b", "\x7f",
                             "\x9b"
                             "2J",
                             "\u202Eevil\u202C", "\u2066x\u2069", "\u200B", "\uFEFF", "p\u0430th",
                             "\U0001F600", "\u2028", "\u0085", "\xff\xfe", "\xc3"}) {
      CAPTURE(evil);
      for (const Json& arguments :
           {Json{{"path", evil}}, Json{{evil, "x"}}, Json{{"path", {{evil, {evil}}}}}}) {
        const auto asked = question(arguments);
        CHECK(cannot_draw(question_text(asked)));
        CHECK(lines(question_text(asked)) == usual);
        CHECK(cannot_draw(cli::whole_arguments(asked)));
        CHECK(lines(cli::whole_arguments(asked)) == 1);
      }
    }
    CHECK(has(question_text(question({{"path", "\033[2J\x7f"}})), R"(path = "\u001b[2J\u007f")"));
    CHECK(has(question_text(question({{"path", "p\u0430th"}})), R"(path = "p\u0430th")"));
  }

  TEST_CASE("a permission, a layer and a rule cannot draw either") {
    auto asked = question({{"path", "x"}});
    asked.permission = "fs.\033]0;x\a\u202E";
    asked.rules = {{"mcpac\u202E.policy\n", "ask fs.write(path == \"\033[1m\x7f\")"}};
    const std::string text = question_text(asked);
    CHECK(cannot_draw(text));
    CHECK(
        has(text, "asked by mcpac\\u202e.policy\\n: ask fs.write(path == \"\\u001b[1m\\u007f\")"));
  }

  TEST_CASE("an argument whose name reads like an argument and its value is quoted") {
    const std::string text =
        question_text(question({{"path", "/etc/passwd"}, {"path = \"/tmp/a\"\n    x", 1}}));
    CHECK(has(text, R"(    "path = \"/tmp/a\"\n \u0020 \u0020x" = 1)"));
    CHECK_FALSE(has(text, "    path = \"/tmp/a\""));
    CHECK(has(question_text(question({{"", 1}})), "    \"\" = 1\n"));
  }

  TEST_CASE("no line reaches the edge of a terminal, where what follows would begin a line") {
    const std::string pushed =
        std::string(70, 'x') + std::string(80, ' ') + "  call 0123456789abcdef";
    run::ProgramReview review;
    review.program = pushed;
    review.rules = {pushed};
    for (const std::string& text :
         {question_text(question({{"path", pushed}})), question_text(review),
          cli::whole_arguments(question({{"path", pushed}}))}) {
      for (std::string_view rest = text; !rest.empty();) {
        const auto line = rest.substr(0, rest.find('\n'));
        CHECK(line.size() <= 78);
        CHECK_FALSE(line.starts_with("  call 0123456789"));
        rest.remove_prefix(line.size() + 1);
      }
      CHECK_FALSE(has(text, "x  "));
    }
  }

  TEST_CASE("what is cut is said to be cut, and show shows it") {
    const std::string longer(1'000, 'x');
    const auto asked = question({{"path", "/a"}, {"text", longer}});
    const std::string text = question_text(asked);
    CHECK(has(text, "... (1002 bytes in all)\n"));
    CHECK(has(text, "NOT ALL OF IT IS SHOWN"));
    std::string whole = cli::whole_arguments(asked);
    for (std::size_t at = 0; (at = whole.find("\n    | ")) != std::string::npos;)
      whole.erase(at, 7);
    CHECK(has(whole, longer));
    CHECK(has(question_text(question({{std::string(200, 'n'), 1}})), "NOT ALL OF IT IS SHOWN"));
    CHECK_FALSE(has(question_text(question({{"path", "/a"}})), "NOT ALL"));
    // A text that ends like a cut one has its quote where it ends.
    const auto forged = question({{"text", "short... (1002 bytes in all)"}});
    CHECK(has(question_text(forged), "text = \"short... (1002 bytes in all)\"\n"));

    Json many = Json::object();
    for (int i = 0; i < 1'000; ++i) many["a" + std::to_string(i)] = i;
    const std::string shown = question_text(question(many));
    CHECK(has(shown, "... and 976 more arguments\n"));
    CHECK(has(shown, "NOT ALL OF IT IS SHOWN"));
    CHECK(lines(shown) < 40);
  }

  TEST_CASE("the screen before a run cannot be drawn on by what a program declares or is called") {
    run::ProgramReview review;
    review.program = "a\033[2J\nmcpac asks: run b?";
    review.binding.program = std::string(64, 'f');
    review.declared = {{"fs.write where path == \"\u202E\"", "asks", "asks\n  allowed", true},
                       {"fs.read", "allowed", "", false}};
    review.rules = {"ask fs.write because \"\033[1m\""};
    review.removed = {"fs.remove\n"};
    review.last_approved = "2026-01-01T00:00:00Z\n";
    const std::string text = question_text(review);
    CHECK(cannot_draw(text));
    CHECK(has(text, "mcpac asks: run a\\u001b[2J\\nmcpac asks: run b??\n"));
    CHECK(has(text, "    asks     fs.write where path == \"\\u202e\"  (NEW since the last"));
    CHECK(has(text, "    allowed  fs.read\n"));
    CHECK(has(text, "  no longer declared: fs.remove\\n\n"));
    CHECK(has(text, "Enter or Ctrl-D: it is not run.\n"));
    CHECK(has(text, "  IT HAS CHANGED since it was last approved at 2026-01-01T00:00:00Z\\n.\n"));
    review.is_same = true;
    CHECK(has(question_text(review), "  It was last approved at 2026-01-01T00:00:00Z\\n.\n"));
  }

  TEST_CASE("a call is answered in whole words only, and until wants a time that is to come") {
    const auto now = std::chrono::system_clock::time_point(std::chrono::hours(500'000));
    const auto answer = [&](std::string_view line) {
      const auto reply = read_call_answer(line, now);
      return reply ? std::optional(reply->answer) : std::nullopt;
    };
    CHECK(answer("once\n") == Answered::kOnce);
    CHECK(answer("  run \r\n") == Answered::kRun);
    CHECK(answer("no\n") == Answered::kNo);
    CHECK(answer("n\n") == Answered::kNo);
    CHECK(answer("never\n") == Answered::kNever);
    for (const char* line : {"", "\n", "y\n", "yes\n", "ONCE\n", "on\n", "once more\n", "until\n",
                             "until \n", "until yesterday\n", "nobody\n", "until 0s\n",
                             "until 2020-01-01T00:00:00Z\n", "once\nrun\n"}) {
      CAPTURE(line);
      CHECK_FALSE(answer(line));
    }
    const auto until = read_call_answer("until 15m\n", now);
    REQUIRE(until);
    CHECK(until->answer == Answered::kUntil);
    CHECK(until->until == now + std::chrono::minutes(15));
    CHECK(answer("until 2030-01-01T00:00:00Z\n") == Answered::kUntil);
  }

  TEST_CASE("a line that is none of the answers is told why, in words of our own") {
    CHECK(has(cli::why_no_answer("until yesterday\n"), "until wants a time that is to come"));
    CHECK(has(cli::why_no_answer(" until\n"), "until wants a time"));
    CHECK(cli::why_no_answer("\033[2J\n") == "That is none of the answers.");
  }

  TEST_CASE("a program is run for a yes, and for no other word") {
    const auto answer = [](std::string_view line) {
      const auto reply = read_program_answer(line);
      return reply ? std::optional(reply->answer) : std::nullopt;
    };
    for (const char* line : {"y\n", "Y\n", "yes\n", " yes \n"})
      CHECK(answer(line) == Answered::kOnce);
    for (const char* line : {"\n", "n\n", "N\n", "no\n", ""}) CHECK(answer(line) == Answered::kNo);
    for (const char* line : {"yess\n", "once\n", "run\n", "ja\n"}) CHECK_FALSE(answer(line));
  }
}
