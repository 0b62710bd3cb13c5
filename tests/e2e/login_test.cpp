// mcpac login as a user types it: a real server that wants one, and a browser that follows links.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "e2e/workspace.h"
#include "mcp/support.h"
#include "places.h"

using e2e::has;
using mcpac::test::HttpFixture;

namespace {

// What mcpac finds as xdg-open: opens the page and follows it to wherever it leads.
std::vector<std::string> with_browser(const e2e::Workspace& workspace) {
  const auto program =
      workspace.write("browser/xdg-open",
                      "#!/bin/sh\n"
                      "exec node -e 'fetch(process.argv[1]).then((a) => a.text())' \"$1\"\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const char* path = ::getenv("PATH");
  return {fmt::format("PATH={}:{}", program.parent_path().string(), path), "DISPLAY=:99"};
}

std::string config_of(const HttpFixture& web) {
  return fmt::format(R"({{"mcpServers": {{"web": {{"url": "http://127.0.0.1:{}/mcp"}}}}}})",
                     web.port());
}

}  // namespace

TEST_SUITE("e2e/login") {
  TEST_CASE("a server that wants a login is refused to nobody who logs in, and to nobody else") {
    const HttpFixture web({}, "oauth_fixture.mjs");
    const e2e::Workspace workspace(config_of(web));
    const auto before = workspace.mcpac({"generate"});
    CHECK(before.exit_code == 69);
    CHECK_MESSAGE(has(before.err, "fix: mcpac login web"), before.err);

    const auto login = workspace.mcpac({"login", "web"}, {.environment = with_browser(workspace)});
    CHECK_MESSAGE(login.exit_code == 0, login.err);
    CHECK(has(login.err, "logged in at web: 2 tools"));
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    const auto call = workspace.mcpac({"tools", "call", "web.read", "--grant", "web.read"});
    CHECK_MESSAGE(has(call.out, "read with Bearer ${login:web}"), (call.out + call.err));

    const auto more = workspace.mcpac({"tools", "call", "web.write", "--grant", "web.write"});
    CHECK(more.exit_code == 69);
    CHECK_MESSAGE(has(more.err, "fix: mcpac login web"), more.err);
    const auto again = workspace.mcpac({"login", "web"}, {.environment = with_browser(workspace)});
    CHECK_MESSAGE(again.exit_code == 0, again.err);
    const auto write = workspace.mcpac({"tools", "call", "web.write", "--grant", "web.write"});
    CHECK_MESSAGE(has(write.out, "write with Bearer ${login:web}"), (write.out + write.err));

    for (const auto& outcome : {before, login, call, more, again, write}) {
      CHECK_FALSE(has(outcome.out + outcome.err, "secret-"));
    }
    CHECK(has(workspace.mcpac({"logout", "web"}).err, "forgot the login at web"));
    CHECK(workspace.mcpac({"tools", "call", "web.read", "--grant", "web.read"}).exit_code == 69);
  }

  TEST_CASE(
      "a login that is given up is over at the authorization server, too, as far as it can be") {
    struct Case {
      std::string flag;
      std::string said;
      std::size_t revoked;
    };
    for (const Case& one :
         {Case{"basic", "forgot the login at web, and its tokens were revoked", 2},
          Case{"no-revocation", "its authorization server revokes no tokens", 0},
          Case{"revocation=fails", "its tokens were not revoked, and may be good for a while",
               2}}) {
      CAPTURE(one.flag);
      const HttpFixture web({one.flag}, "oauth_fixture.mjs");
      const e2e::Workspace workspace(config_of(web));
      REQUIRE(
          workspace.mcpac({"login", "web"}, {.environment = with_browser(workspace)}).exit_code ==
          0);
      const auto out = workspace.mcpac({"logout", "web"});
      CHECK(out.exit_code == 0);
      CHECK_MESSAGE(has(out.err, one.said), out.err);
      CHECK_FALSE(has(out.err, "secret-access"));
      CHECK_FALSE(has(out.err, "secret-refresh"));
      std::vector<std::string> sent;
      for (const mcpac::Json& request : web.log()) {
        if (request.at("path") == "/revoke") sent.push_back(request.at("body"));
      }
      REQUIRE(sent.size() == one.revoked);
      if (!sent.empty()) {
        CHECK(has(sent[0], "token=secret-refresh-token-"));
        CHECK(has(sent[1], "token_type_hint=access_token"));
      }
      CHECK(has(workspace.mcpac({"logout", "web"}).err, "nothing is kept of a login at web"));
    }
  }

  TEST_CASE("a login is forgotten though its authorization server is gone") {
    std::optional<HttpFixture> web;
    web.emplace(std::vector<std::string>{}, "oauth_fixture.mjs");
    const e2e::Workspace workspace(config_of(*web));
    REQUIRE(workspace.mcpac({"login", "web"}, {.environment = with_browser(workspace)}).exit_code ==
            0);
    web.reset();
    const auto out = workspace.mcpac({"logout", "web"});
    CHECK(out.exit_code == 0);
    CHECK(has(out.err, "forgot the login at web"));
    CHECK(has(out.err, "were not revoked"));
    CHECK(has(workspace.mcpac({"logout", "web"}).err, "nothing is kept of a login at web"));
  }

  TEST_CASE("without a browser the address is pasted, or a code typed elsewhere") {
    const auto of = [](const std::string& flag, const std::string& option) {
      const HttpFixture web({flag}, "oauth_fixture.mjs");
      const e2e::Workspace workspace(config_of(web));
      // A person at another machine: opens the page, and brings back where it leads to.
      workspace.write("person.mjs", R"(
import { spawn } from 'node:child_process';
const [program, ...words] = process.argv.slice(2);
const child = spawn(program, words, { stdio: ['pipe', 'inherit', 'pipe'] });
let said = '';
let done = false;
child.stderr.on('data', async (piece) => {
  said += piece;
  process.stderr.write(piece);
  const page = /\n  (http:\S+\/authorize\S+)\n/.exec(said);
  if (!page || done) return;
  done = true;
  const answer = await fetch(page[1], { redirect: 'manual' });
  child.stdin.write(`nonsense\n${answer.headers.get('location')}\n`);
});
child.on('exit', (code) => process.exit(code));
)");
      return e2e::run_program({"node", (workspace.folder() / "person.mjs").string(),
                               mcpac::testing::in_build("bin/mcpac"), "login", "web", option},
                              workspace.environment(), {.folder = workspace.folder()});
    };
    const auto pasted = of("slash", "--no-browser");
    CHECK_MESSAGE(pasted.exit_code == 0, pasted.err);
    CHECK(has(pasted.err, "paste here the address that it ends at"));
    CHECK(has(pasted.err, "that is not the answer to this login"));
    CHECK(has(pasted.err, "logged in at web: 2 tools"));
    const auto typed = of("device", "--device");
    CHECK_MESSAGE(typed.exit_code == 0, typed.err);
    CHECK(has(typed.err, "the code is WDJB-MJHT"));
    CHECK(has(typed.err, "logged in at web: 2 tools"));
    for (const auto& outcome : {pasted, typed})
      CHECK_FALSE(has(outcome.out + outcome.err, "secret-"));
  }

  TEST_CASE("a program and an unknown name cannot be logged in to") {
    const e2e::Workspace workspace(R"({"mcpServers": {"files": {"command": "true"}}})");
    const auto program = workspace.mcpac({"login", "files"});
    CHECK(program.exit_code == 78);
    CHECK(has(program.err, "nobody logs in to"));
    CHECK(has(workspace.mcpac({"login", "nobody"}).err, "there is no server nobody"));
  }
}
