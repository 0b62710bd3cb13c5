// How programs end: each case runs an entry in a child process and looks at its exit code and
// words.
#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include <mcpac.hpp>

using mcpac::Json;
using namespace mcp;

namespace {

struct Ended {
  int code = -1;
  std::string error;
  std::string channel;
};

std::string drain(int fd) {
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t n = 0; (n = ::read(fd, buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(n));
  ::close(fd);
  return text;
}

// Runs `entry` as a program with a connection on which `answer` waits to be read.
template <class Entry>
Ended run(Entry entry, const std::string& answer = "") {
  int error[2];
  int channel[2];
  REQUIRE(::pipe(error) == 0);
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, channel) == 0);
  // Before the program starts: a short one may be gone when it is to be answered.
  REQUIRE(::write(channel[0], answer.data(), answer.size()) == static_cast<ssize_t>(answer.size()));
  std::fflush(stdout);  // or the child would print it once more
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::dup2(error[1], 2);
    ::close(error[0]);
    ::close(channel[0]);
    ::setenv("MCPAC_FD", std::to_string(channel[1]).c_str(), 1);
    ::_exit(entry());
  }
  ::close(error[1]);
  ::close(channel[1]);
  Ended ended;
  ended.error = drain(error[0]);
  ended.channel = drain(channel[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return ended;
}

using Writes = mcpac::Requires<filesystem::write_file>;
int returns_seven(Writes) {
  return 7;
}
void returns_nothing(const Writes&) {}
Json returns_json(Writes) {
  return {{"files", 3}};
}
int calls(Writes rt) {
  return rt.filesystem.write_file({.path = "x", .content = "y"}).text().empty() ? 1 : 0;
}
int throws_foreign(Writes) {
  throw std::runtime_error("my\nown");
}
int aborts(Writes) {
  std::abort();
}
int says_one_word(Writes) {
  throw std::length_error("vector");
}
int wants_too_much(Writes) {
  throw std::bad_alloc();
}
int reads_text_as_json(Writes) {
  (void)mcpac::ToolResult(mcpac::Json{{"content", {{{"type", "text"}, {"text", "far away"}}}}})
      .json();
  return 0;
}
// Nobody reads the connection before the program has ended: the other thread stands in the middle
// of a message, and has the lock.
int ends_while_another_writes(Writes rt) {
  ::alarm(60);
  std::thread([rt] {
    (void)rt.filesystem.write_file.try_call({.path = "x", .content = std::string(8U << 20U, 'y')});
  }).detach();
  pollfd watched{static_cast<int>(std::strtol(std::getenv("MCPAC_FD"), nullptr, 10)), POLLOUT, 0};
  while (::poll(&watched, 1, 0) != 0) std::this_thread::yield();
  throw std::runtime_error("meanwhile");
}
int breaks_noexcept(Writes) {
  [](auto thrower) noexcept { thrower(); }([] { throw std::runtime_error("inside"); });
  return 0;
}

int is_given(Writes) {
  const auto path = mcpac::argument<std::string>("path");
  const auto head = mcpac::argument<int>("head", 7);
  return path == "a" && head == 7 && mcpac::arguments().size() == 1 ? 3 : 1;
}
int wants_more(Writes) {
  return mcpac::argument<int>("none");
}

std::string refusal(int code, const std::string& kind) {
  return Json{{"id", 1},
              {"error",
               {{"code", code},
                {"message", "m"},
                {"data", {{"kind", kind}, {"reason", "not granted"}}}}}}
             .dump() +
         "\n";
}

#define ENTRY(function) [] { return mcpac::detail::run_agent_main(&function); }

}  // namespace

TEST_SUITE("templates/entry") {
  TEST_CASE("agent_main may return int, nothing or Json, and Json goes to the host") {
    CHECK(run(ENTRY(returns_seven)).code == 7);
    CHECK(run(ENTRY(returns_nothing)).code == 0);
    const Ended ended = run(ENTRY(returns_json));
    CHECK(ended.code == 0);
    CHECK(Json::parse(ended.channel) == Json{{"jsonrpc", "2.0"},
                                             {"method", "notifications/mcpac/result"},
                                             {"params", {{"value", {{"files", 3}}}}}});
  }
  TEST_CASE("an uncaught error is one line and an exit code of its kind") {
    const Ended denied = run(ENTRY(calls), refusal(-32001, "denied"));
    CHECK(denied.code == 77);
    CHECK(denied.error == "mcpac: denied: filesystem.write_file\n");
    CHECK(run(ENTRY(calls), refusal(-32005, "revoked")).code == 77);
    CHECK(run(ENTRY(calls), refusal(-32004, "budget")).code == 77);
    CHECK(run(ENTRY(calls), refusal(-32602, "invalid_arguments")).code == 65);
    CHECK(run(ENTRY(calls), refusal(-32002, "transport")).code == 69);
    CHECK(run(ENTRY(calls), refusal(-32003, "timeout")).code == 124);
    CHECK(run(ENTRY(calls), refusal(-32603, "internal")).code == 70);
  }
  TEST_CASE("what was not caught is told to the host, also out of a broken noexcept") {
    const auto told = [](const Ended& ended) {
      const std::string last =
          ended.channel.substr(ended.channel.rfind('\n', ended.channel.size() - 2) + 1);
      const Json message = Json::parse(last);
      CHECK(message["method"] == "notifications/mcpac/uncaught");
      return message["params"];
    };
    CHECK(told(run(ENTRY(calls), refusal(-32001, "denied"))) ==
          Json{{"kind", "denied"}, {"permission", "filesystem.write_file"}, {"message", "m"}});
    CHECK(told(run(ENTRY(throws_foreign))) ==
          Json{{"kind", "exception"}, {"message", "std::runtime_error: my\nown"}});
    CHECK(told(run(ENTRY(breaks_noexcept)))["message"] == "std::runtime_error: inside");
    const Json result = {{"isError", true}, {"content", {{{"type", "text"}, {"text", "no"}}}}};
    CHECK(told(run(ENTRY(calls), Json{{"id", 1}, {"result", result}}.dump() + "\n")) ==
          Json{{"kind", "tool"}, {"permission", "filesystem.write_file"}, {"message", "no"}});
    CHECK(run(ENTRY(returns_seven)).channel.empty());
  }
  TEST_CASE("a program that ends while another thread writes a message waits for nobody") {
    CHECK(run(ENTRY(ends_while_another_writes)).code == 71);
  }
  TEST_CASE("an error that a server answered is called so") {
    const Json error = {{"code", -32002},
                        {"message", "server fs answered tools/call with error -32602: no"},
                        {"data", {{"kind", "transport"}, {"id", "MCPAC-E0305"}}}};
    CHECK(run(ENTRY(calls), Json{{"id", 1}, {"error", error}}.dump() + "\n").error ==
          "mcpac: error of the server: filesystem.write_file: server fs answered tools/call with "
          "error -32602: no\n");
  }
  TEST_CASE("a program reads what it was given, asks once, and an argument that lacks ends it") {
    const std::string answer = R"({"id":1,"result":{"arguments":{"path":"a"}}})"
                               "\n";
    const Ended given = run(ENTRY(is_given), answer);
    CHECK(given.code == 3);
    CHECK(given.channel == R"({"jsonrpc":"2.0","id":1,"method":"mcpac/arguments"})"
                           "\n");
    const Ended lacks = run(ENTRY(wants_more), answer);
    CHECK(lacks.code == 65);
    CHECK(lacks.error ==
          "mcpac: invalid arguments of the run: /none is missing: expected an integer\n");
  }
  TEST_CASE("another exception, a broken noexcept and abort each say what happened") {
    const Ended foreign = run(ENTRY(throws_foreign));
    CHECK(foreign.code == 71);
    CHECK(foreign.error == "mcpac: uncaught exception: std::runtime_error: my own\n");
    const Ended terminated = run(ENTRY(breaks_noexcept));
    CHECK(terminated.code == 71);
    CHECK(terminated.error == "mcpac: uncaught exception: std::runtime_error: inside\n");
    CHECK(run(ENTRY(says_one_word)).error ==
          "mcpac: uncaught exception: std::length_error: vector\n");
    const Ended aborted = run(ENTRY(aborts));
    CHECK(aborted.code == 134);
    CHECK(aborted.error == "mcpac: the program called abort()\n");
  }
  TEST_CASE("memory that the run may not have says which option gives more") {
    const Ended ended = run(ENTRY(wants_too_much));
    CHECK(ended.code == 71);
    CHECK(
        ended.error ==
        "mcpac: uncaught exception: std::bad_alloc: the program asked for more memory than it may "
        "have (--memory SIZE; in code mode limits.memory_bytes)\n");
  }
  TEST_CASE("a text that was read as JSON is no failure of its tool") {
    const Ended ended = run(ENTRY(reads_text_as_json));
    CHECK(ended.code == 69);
    CHECK(ended.error ==
          "mcpac: result: the answer is text and no JSON: .text() or .lines() reads it; it begins "
          "\"far away\"\n");
  }
  TEST_CASE("a server's answer cannot pass a failure of its tool off as another kind of error") {
    for (const char* kind : {"arguments of the run", "no_json"}) {
      const Json result = {{"isError", true},
                           {"kind", kind},
                           {"content", {{{"type", "text"}, {"text", "/path is missing"}}}}};
      const Ended ended = run(ENTRY(calls), Json{{"id", 1}, {"result", result}}.dump() + "\n");
      CHECK(ended.code == 69);
      CHECK(ended.error == "mcpac: tool error: filesystem.write_file: /path is missing\n");
    }
  }
  TEST_CASE("the global object of the second form calls over the same connection") {
    const Ended ended = run(
        [] {
          const auto runtime = mcpac::detail::runtime_object<Writes>();
          return calls(runtime);
        },
        R"({"id":1,"result":{"content":[{"type":"text","text":"done"}]}})"
        "\n");
    CHECK(ended.code == 0);
    CHECK(Json::parse(ended.channel)["params"]["name"] == "filesystem.write_file");
  }
  TEST_CASE(
      "connect works where the environment names a descriptor and says so where it does not") {
    CHECK(run(
              [] {
                return mcpac::connect<Writes>().filesystem.write_file.try_call(
                           {.path = "x", .content = "y"})
                           ? 0
                           : 3;
              },
              refusal(-32001, "denied"))
              .code == 3);
    CHECK_THROWS_AS((void)mcpac::connect<Writes>(), mcpac::TransportError);
    CHECK(run([] {
            ::setenv("MCPAC_FD", "3x", 1);
            try {
              (void)mcpac::connect<Writes>();
            } catch (const mcpac::TransportError&) {
              return 5;
            }
            return 0;
          }).code == 5);
  }
}
