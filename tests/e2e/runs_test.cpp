// Live runs through the real binary: shown, revoked, killed, and the sockets that are left behind.
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <future>
#include <thread>

#include "e2e/workspace.h"

using e2e::has;
using e2e::Workspace;

namespace {

Workspace& stage() {
  return Workspace::shared_fixture();
}

const std::string kHangs = R"(#include <mcpac.hpp>
#include <print>
int agent_main(mcpac::Requires<mcp::fixture::hang, mcp::fixture::echo> rt) {
  for (int i = 0; i < 2; ++i) {
    try { rt.fixture.hang({}); } catch (const mcpac::Revoked& e) { std::println("revoked: {}", e.what()); }
  }
  std::println("echo: {}", rt.fixture.echo.try_call({}) ? "said" : "denied");
  return 0;
}
)";

// Runtime folder of this test: sockets must not meet those of other runs.
e2e::RunOptions here() {
  return {.environment = {"XDG_RUNTIME_DIR=" + (stage().folder() / "run").string()}};
}

std::future<e2e::Outcome> start(const std::string& source, const std::string& grants) {
  return std::async(std::launch::async, [=] {
    return stage().mcpac({"execute", "-c", source, "--grant", grants}, here());
  });
}

// The live run, once it has a call in flight.
mcpac::Json wait_for_call(std::size_t calls) {
  for (int i = 0; i < 6'000; ++i) {
    const auto listed = stage().mcpac({"runs", "list", "--json"}, here()).json();
    if (listed.size() == 1 && listed[0].at("in_flight") == calls) return listed[0];
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  FAIL("no run came to its call");
  return {};
}

}  // namespace

TEST_SUITE("e2e/runs") {
  TEST_CASE("a live run is shown, and what is revoked ends at once while the rest goes on") {
    auto run = start(kHangs, "fixture.hang,fixture.echo");
    const auto live = wait_for_call(1);
    const auto id = live.at("run").get<std::string>();
    const auto shown = stage().mcpac({"runs", "show", id.substr(0, 20), "--json"}, here()).json();
    CHECK(shown.at("declared").size() == 2);
    CHECK(shown.at("calls")[0].at("permission") == "fixture.hang");
    CHECK(shown.at("question").is_null());
    CHECK(has(stage().mcpac({"runs", "show", id}, here()).out, "in flight for"));
    struct stat info {};
    REQUIRE(::stat((stage().folder() / "run/mcpac/runs" / (id + ".sock")).c_str(), &info) == 0);
    CHECK((info.st_mode & 0777U) == 0600U);

    const auto unknown = stage().mcpac({"runs", "revoke", id, "fixture.nothing"}, here());
    CHECK(unknown.exit_code != 0);
    const auto revoked =
        stage().mcpac({"runs", "revoke", id, "fixture.hang", "--json"}, here()).json();
    CHECK(revoked.at("cancelled_calls") == 1);
    const auto outcome = run.get();
    INFO(outcome.err);
    CHECK(outcome.exit_code == 0);
    // The one in flight and the next.
    CHECK(has(outcome.out, "revoked: authority was revoked: fixture.hang"));
    CHECK(outcome.out.find("revoked:") != outcome.out.rfind("revoked:"));
    CHECK(has(outcome.out, "echo: said"));
    const auto log = stage().mcpac({"audit", "list", "--run", id}, here()).out;
    CHECK(has(log, "Revoked"));
    const auto after = log.substr(log.find("Revoked"));
    CHECK(has(after, "DENIED   fixture.hang"));
    CHECK_FALSE(has(after, "allowed  fixture.hang"));
    // It is over: nothing listens, and nothing is left.
    CHECK(stage().mcpac({"runs", "list", "--json"}, here()).json().empty());
    CHECK(stage().mcpac({"runs", "revoke", id}, here()).exit_code == 66);
  }

  TEST_CASE("kill ends the program, says so, and has its exit code") {
    auto run = start(kHangs, "fixture.hang,fixture.echo");
    const auto id = wait_for_call(1).at("run").get<std::string>();
    CHECK(stage().mcpac({"runs", "kill", id}, here()).exit_code == 0);
    const auto outcome = run.get();
    CHECK(outcome.exit_code == 137);
    CHECK(has(outcome.err, "MCPAC-E0713"));
    CHECK(has(stage().mcpac({"audit", "list", "--run", id}, here()).out, "killed-by-user"));
  }

  TEST_CASE("a socket that nobody listens on is swept, and strange peers are cut off") {
    REQUIRE(stage().mcpac({"runs", "list"}, here()).exit_code == 0);  // makes the folder
    const auto folder = stage().folder() / "run/mcpac/runs";
    const auto stale = (folder / "01890000-0000-7000-8000-000000000000.sock").string();
    {
      const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      REQUIRE(stale.size() < sizeof address.sun_path);
      std::memcpy(address.sun_path, stale.c_str(), stale.size());
      REQUIRE(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
      ::close(fd);
    }
    CHECK(stage().mcpac({"runs", "list", "--json"}, here()).json().empty());
    CHECK_FALSE(std::filesystem::exists(stale));

    auto run = start(kHangs, "fixture.hang,fixture.echo");
    const auto id = wait_for_call(1).at("run").get<std::string>();
    const auto socket = (folder / (id + ".sock")).string();
    // Garbage is answered as an error, a long line ends the connection, and the run lives on.
    const auto talk = [&](const std::string& python) {
      return e2e::run_program({"python3", "-c",
                               "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect('" +
                                   socket + "')\n" + python},
                              {}, {});
    };
    CHECK(has(talk("s.sendall(b'{]\\n')\nprint(s.recv(1000))").out, "error"));
    CHECK(has(talk("s.sendall(b'{\"do\":\"dance\"}\\n')\nprint(s.recv(1000))").out, "error"));
    CHECK(has(talk("s.sendall(b'x' * 100000)\nprint(s.recv(1000))").out, "b''"));
    CHECK(has(talk("print(s.recv(1000))").out, "b''"));  // silent: cut off after its time
    CHECK(wait_for_call(1).at("run") == id);
    // A folder that others may enter is not used.
    ::chmod(folder.c_str(), 0755);
    CHECK(has(stage().mcpac({"runs", "list"}, here()).err, "others may enter"));
    ::chmod(folder.c_str(), 0700);
    CHECK(stage().mcpac({"runs", "kill", id}, here()).exit_code == 0);
    CHECK(run.get().exit_code == 137);
  }

  TEST_CASE("the sandboxed program cannot reach the sockets") {
    const auto program = stage().folder() / "reaches";
    stage().write("reaches.c", R"(#include <sys/socket.h>
#include <stdio.h>
int main(void) { int fd = socket(AF_UNIX, SOCK_STREAM, 0); printf("got %d\n", fd); return fd >= 0; }
)");
    const auto built = e2e::run_program(
        {"gcc", "-static", "-o", program.string(), (stage().folder() / "reaches.c").string()}, {},
        {});
    REQUIRE(built.exit_code == 0);
    const auto run =
        stage().mcpac({"run", "--grant", "fixture.echo", "--", program.string()}, here());
    INFO(run.out, run.err);
    CHECK(run.out == "got -1\n");
  }
}
