// `mcpac server confine`: what a server is seen to use becomes the sandbox of its entry, and what
// it lacks there is told.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <grp.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "e2e/workspace.h"
#include "places.h"

using e2e::has;
using e2e::Outcome;
using e2e::RunOptions;
using e2e::Workspace;
using mcpac::Json;

namespace {

namespace fs = std::filesystem;

// A project beside a home, with a server that needs both.
class Learning {
 public:
  explicit Learning(bool ordinary) : workspace(R"({"mcpServers": {}})") {
    fs::create_directories(workspace.folder() / "project" / "data");
    for (const char* folder : {".config/learning", ".ssh"})
      fs::create_directories(workspace.home() / folder);
    workspace.write(".home/.config/learning/config.json",
                    Json{{"folder", (workspace.folder() / "project/data").string()}}.dump());
    workspace.write(".home/.ssh/id_ed25519", "canary");
    write_config("");
    options_.folder = workspace.folder() / "project";
    options_.environment = {"HOME=" + workspace.home().string()};
    if (!ordinary) return;
    workspace.write(".passwd", fmt::format("tester:x:{0}:{0}::{1}:/bin/sh\n", kUser,
                                           workspace.home().string()));
    for (const auto& entry : fs::recursive_directory_iterator(workspace.folder()))
      REQUIRE(::lchown(entry.path().c_str(), kUser, kUser) == 0);
    REQUIRE(::lchown(workspace.folder().c_str(), kUser, kUser) == 0);
    options_.enter = [] {
      return ::setgroups(0, nullptr) == 0 && ::setresgid(kUser, kUser, kUser) == 0 &&
             ::setresuid(kUser, kUser, kUser) == 0;
    };
  }
  Outcome mcpac(std::vector<std::string> words, std::vector<std::string> variables = {}) const {
    RunOptions options = options_;
    options.environment.insert(options.environment.end(), variables.begin(), variables.end());
    return workspace.mcpac(std::move(words), options);
  }
  void write_config(const std::string& sandbox) const {
    workspace.write("project/mcpac.json",
                    fmt::format(R"({{"other": 1, "mcpServers": {{"learning": {{
                      "command": "/usr/bin/python3", "args": ["{}"], "era": "initialize"{}}}}},
                      "more": []}})",
                                mcpac::testing::in_source("tests/servers/learning.py"),
                                sandbox.empty() ? "" : ", \"sandbox\": " + sandbox));
    if (options_.enter)
      REQUIRE(::lchown((workspace.folder() / "project/mcpac.json").c_str(), kUser, kUser) == 0);
  }
  [[nodiscard]] std::string config() const { return workspace.read("project/mcpac.json"); }

  Workspace workspace;

 private:
  static constexpr unsigned kUser = 4242;
  RunOptions options_;
};

std::size_t times(const std::string& text, const std::string& words) {
  std::size_t count = 0;
  for (auto at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_SUITE("e2e/server confine") {
  TEST_CASE("a server is learnt, confined by what it used, and told what it lacks") {
    for (const bool ordinary : {false, true}) {
      if (ordinary && ::geteuid() != 0) continue;
      CAPTURE(ordinary);
      const Learning learning(ordinary);
      const auto unlocked =
          learning.mcpac({"server", "confine", "learning", "--learn", "--call", "note", "{}"});
      CHECK(has(unlocked.err, "mcpac generate"));
      CHECK_FALSE(has(unlocked.err, "is observed"));
      const auto generated = learning.mcpac({"generate"});
      INFO(generated.err);
      REQUIRE(generated.exit_code == 0);
      const std::vector<std::string> learn = {"server",           "confine", "learning",
                                              "--learn",          "--call",  "note",
                                              R"({"text": "a"})", "--grant", "learning.note"};
      const auto with = [](std::vector<std::string> words, std::vector<std::string> more) {
        words.insert(words.end(), more.begin(), more.end());
        return words;
      };
      const std::string before = learning.config();
      const auto learnt = learning.mcpac(with(learn, {"--json"}));
      INFO(learnt.out << learnt.err);
      REQUIRE(learnt.exit_code == 0);
      CHECK(has(learnt.err,
                "started without a sandbox, with all files, programs and hosts that "
                "you have"));
      CHECK(has(learnt.err,
                "next: mcpac server confine learning --learn --call note "
                "'{\"text\": \"a\"}' --grant learning.note --apply"));
      const Json proposed = learnt.json();
      // Neither keys, nor what every confined server has, nor more than it used.
      const std::string home = learning.workspace.home().string();
      const std::vector<std::string> needed = {home + "/.cache/learning:rw",
                                               home + "/.config/learning", "./data:rw"};
      CHECK(proposed.at("sandbox").at("files") == Json(needed));
      CHECK(proposed.at("files").at(2).at("reason") == "created ./data/notes.txt.new and 1 more");
      CHECK_FALSE(proposed.at("not_proposed").dump().contains(".cache"));
      CHECK(proposed.at("network") ==
            Json::array({{{"line", "127.0.0.1:9"}, {"reason", "dialled by its address"}}}));
      CHECK(proposed.at("not_proposed")
                .dump()
                .contains(R"(/.home/.ssh","reason":"read ~/.ssh/id_ed25519; it holds keys)"));
      CHECK_FALSE(proposed.dump().contains("aws"));  // is not there
      CHECK_FALSE(proposed.dump().contains("temporary"));
      CHECK(learning.config() == before);

      const auto applied = learning.mcpac(with(learn, {"--apply"}));
      INFO(applied.out << applied.err);
      REQUIRE(applied.exit_code == 0);
      CHECK(has(applied.err, "confined, learning lists the same 1 tool"));
      // All else of the file is as it was, in its order.
      auto expected = mcpac::parse_ordered_json(before, "before").value();
      expected["mcpServers"]["learning"]["sandbox"] = {
          {"files", needed}, {"network", std::vector<std::string>{"127.0.0.1:9"}}};
      CHECK(mcpac::parse_ordered_json(learning.config(), "after").value().dump() ==
            expected.dump());
      // What it has stays, by whichever way it is looked at; a locked server can be observed.
      for (const auto& words :
           {with(learn, {"--json"}),
            std::vector<std::string>{"server", "confine", "learning", "--json"}}) {
        const auto again = learning.mcpac(words);
        INFO(again.err);
        REQUIRE(again.exit_code == 0);
        CHECK(again.json().at("sandbox") == proposed.at("sandbox"));
        CHECK(again.json().at("network").at(0).at("reason").dump().starts_with("\"in its entry"));
        CHECK(again.json().at("takes_away").empty());
      }
      const auto called = learning.mcpac(
          {"tools", "call", "learning.note", R"({"text": "kept"})", "--grant", "learning.note"});
      INFO(called.out << called.err);
      CHECK(has(called.out, "kept"));
      const auto dialled = learning.mcpac(
          {"tools", "call", "learning.note", R"({"text": "dial"})", "--grant", "learning.note"});
      INFO(dialled.err);
      CHECK(has(dialled.err, "nothing of this machine is at 127.0.0.1:5432 in its sandbox"));
      // The server chose those words: nothing is advised but to look, and that once.
      CHECK_FALSE(has(dialled.err, "\"network\""));
      CHECK(times(dialled.err, "mcpac server confine learning --learn --call") == 1);
      CHECK(has(dialled.err,
                "a connection was refused: its \"sandbox\" gives it 127.0.0.1:9, and every other "
                "port is closed"));
      CHECK(learning.workspace.read("project/data/notes.txt") == "kept");
      CHECK(learning.workspace.read(".home/.cache/learning/seen") == "kept");

      // Without its configuration it ends at its start, and says in vain what a person cannot see.
      learning.write_config(R"({"files": ["./data:rw"]})");
      const auto ended = learning.mcpac({"server", "test", "learning"});
      INFO(ended.err);
      CHECK(ended.exit_code != 0);
      CHECK(has(ended.err, "it tried to open ~/.config/learning/config.json: not granted"));
      CHECK(has(ended.err, fmt::format(R"(add "{}/.config/learning" to "files")", home)));
      CHECK(has(ended.err, "mcpac server confine learning --learn"));
      // A host of this machine, which its sandbox does not have.
      CHECK(
          has(ended.err, "it tried to reach 127.0.0.1 (port 5432), where nothing of this machine"));
      CHECK(has(ended.err, R"(add "127.0.0.1:5432" to "network")"));
      // What does not start confined is not written.
      const std::string short_of = learning.config();
      const auto refused = learning.mcpac({"server", "confine", "learning", "--apply"});
      INFO(refused.out << refused.err);
      CHECK(refused.exit_code != 0);
      CHECK(has(refused.err, "nothing was written"));
      CHECK(learning.config() == short_of);
      // A server that is disabled is not started for a trial either.
      learning.write_config(R"({"files": ["./data:rw"]}, "disabled": true)");
      const auto disabled = learning.mcpac({"server", "confine", "learning", "--apply"});
      INFO(disabled.err);
      CHECK(disabled.exit_code == 0);
      CHECK(has(disabled.err, "learning is disabled, and was not tried"));
      learning.write_config(R"({"files": ["./data:rw"]})");
      const auto off = learning.mcpac({"server", "confine", "learning", "--off"});
      CHECK(off.exit_code == 0);
      CHECK(has(off.err, "next: mcpac lock accept learning"));
      fs::remove(learning.workspace.folder() / "project/mcpac.lock");
      REQUIRE(learning.mcpac({"generate"}).exit_code == 0);
      CHECK(mcpac::parse_ordered_json(learning.config(), "off").value().dump() ==
            mcpac::parse_ordered_json(before, "before").value().dump());
      // A call that no rule lets through is not made for learning either.
      const auto denied = learning.mcpac(
          {"server", "confine", "learning", "--learn", "--call", "note", R"({"text": "no"})"});
      INFO(denied.err);
      CHECK(denied.exit_code == 77);
      CHECK(learning.workspace.read("project/data/notes.txt") == "kept");
    }
  }

  TEST_CASE("a server is learnt by a session, in which each of its starts is observed") {
    const Learning learning(false);
    // Its own entry gives too little: the session has it as it is learnt, without its sandbox.
    learning.write_config(R"({"files": ["./data:rw"]})");
    const std::string home = learning.workspace.home().string();
    const auto confine = [&](std::vector<std::string> more, std::vector<std::string> session) {
      std::vector<std::string> words = {"server", "confine", "learning", "--learn", "--json"};
      words.insert(words.end(), more.begin(), more.end());
      if (!session.empty()) words.emplace_back("--");
      words.insert(words.end(), session.begin(), session.end());
      return learning.mcpac(words);
    };
    learning.write_config("");
    REQUIRE(learning.mcpac({"generate"}).exit_code == 0);
    learning.write_config(R"({"files": ["./data:rw"]})");
    REQUIRE(learning.mcpac({"lock", "accept", "learning", "--yes"}).exit_code != 70);
    const std::string before = learning.config();
    const std::vector<std::string> call = {
        mcpac::testing::in_build("bin/mcpac"), "tools",   "call",         "learning.note",
        R"({"text": "in a session"})",         "--grant", "learning.note"};
    const auto learnt = confine({}, call);
    INFO(learnt.out << learnt.err);
    REQUIRE(learnt.exit_code == 0);
    CHECK(has(learnt.err, "learning is started without a sandbox, and observed for"));
    CHECK(has(learnt.err, "learning was started in the session 1 time"));
    CHECK(has(learnt.err, "in a session"));  // what it says is no part of the proposal
    CHECK(learnt.json().at("sandbox").at("files") ==
          Json{"./data:rw", home + "/.cache/learning:rw", home + "/.config/learning"});
    CHECK(learning.workspace.read("project/data/notes.txt") == "in a session");
    CHECK(learning.config() == before);
    // A session that fails, or has no part for the server, is no ground for a proposal.
    using Words = std::vector<std::string>;
    for (const auto& [session, why] :
         {std::pair(Words{"/bin/sh", "-c", "exit 3"}, "/bin/sh failed: exit status 3"),
          std::pair(Words{"/bin/sh", "-c", "kill -9 $$"}, "/bin/sh was ended by signal 9"),
          std::pair(Words{"/bin/true"}, "/bin/true did not start the server learning"),
          std::pair(Words{"./not there"}, "cannot start ./not there")}) {
      CAPTURE(why);
      const auto failed = confine({}, session);
      CHECK(failed.exit_code == 69);
      CHECK(has(failed.err, "MCPAC-E0300"));
      CHECK(has(failed.err, why));
      CHECK_FALSE(has(failed.out, "sandbox"));
    }
    const auto forced = confine({"--force"}, {"/bin/sh", "-c", "exit 3"});
    CHECK(forced.exit_code == 0);
    CHECK(has(forced.err, "exit status 3"));
    CHECK(forced.json().at("sandbox").at("files").dump().contains("/.config/learning"));
    CHECK(learning.mcpac({"server", "confine", "learning", "--", "/bin/true"}).exit_code == 64);
    // The variable alone takes no sandbox away, whoever answers behind it.
    for (const std::string& folder : {learning.workspace.folder().string(),
                                      (learning.workspace.folder() / "nowhere").string()}) {
      const auto confined =
          learning.mcpac({"server", "test", "learning"}, {"MCPAC_LEARN=" + folder});
      INFO(confined.err);
      CHECK(confined.exit_code != 0);
      CHECK(has(confined.err, "MCPAC_LEARN names no learning session"));
      CHECK(has(confined.err, "it tried to open ~/.config/learning/config.json: not granted"));
    }
  }

  TEST_CASE("a call that fails for what a sandbox does not give is explained beside its answer") {
    const Learning learning(false);
    const std::string home = learning.workspace.home().string();
    learning.write_config(fmt::format(R"({{"files": ["{}/.config/learning"]}})", home));
    const auto generated = learning.mcpac({"generate"});
    INFO(generated.err);
    REQUIRE(generated.exit_code == 0);
    const auto called = learning.mcpac({"tools", "call", "learning.note", R"({"text": "no"})",
                                        "--grant", "learning.note", "--json"});
    INFO(called.out << called.err);
    const std::string data = (learning.workspace.folder() / "project/data").string();
    CHECK(has(called.err, fmt::format(R"({} is not given to it by its "sandbox")", data)));
    CHECK(has(called.err, "mcpac server confine learning --learn --call"));
    // Told as text, what to do stands there once.
    const auto told = learning.mcpac(
        {"tools", "call", "learning.note", R"({"text": "no"})", "--grant", "learning.note"});
    INFO(told.err);
    CHECK(has(told.err, "the tool answered that it failed"));
    CHECK(times(told.err, "--learn") == 1);
    // The answer is the server's own.
    CHECK(has(called.out, "isError"));
    CHECK_FALSE(has(called.out, "sandbox"));
    const auto audit = learning.mcpac({"audit", "list", "--json", "--kind", "Anomaly"});
    CHECK(has(audit.out, data));
    CHECK(has(audit.out, "\"server\": \"learning\""));
    CHECK(learning.mcpac({"audit", "verify"}).exit_code == 0);
  }

  TEST_CASE("real servers are learnt by what their entries name and what they do") {
    const auto entry = [](const std::string& name, const std::string& more) {
      return fmt::format(
          R"("{}": {{"command": "node", "args": ["{}"{}}})", name,
          mcpac::testing::in_source("tests/servers/node_modules/@modelcontextprotocol/server-" +
                                    name + "/dist/index.js"),
          more);
    };
    const Workspace workspace(R"({"mcpServers": {}})");
    workspace.write(
        "mcpac.json",
        fmt::format(R"({{"mcpServers": {{{}, {}}}}})", entry("filesystem", R"(, "./data"])"),
                    entry("memory", fmt::format(R"(], "env": {{"MEMORY_FILE_PATH": "{}"}})",
                                                (workspace.folder() / "data/m.json").string()))));
    const auto lines = [&](const std::string& name) {
      const auto learnt = workspace.mcpac({"server", "confine", name, "--learn", "--json"});
      INFO(learnt.out << learnt.err);
      CHECK(learnt.exit_code == 0);
      return learnt.exit_code == 0 ? learnt.json() : Json::object();
    };
    CHECK(lines("filesystem").at("sandbox") == Json{{"files", {"./data:rw"}}});
    const Json memory = lines("memory");
    CHECK(memory.at("sandbox") == Json{{"files", {"./data:rw"}}});
    CHECK(memory.at("not_proposed").empty());
    CHECK(memory.at("notes").empty());
    const auto applied = workspace.mcpac({"server", "confine", "memory", "--learn", "--apply"});
    INFO(applied.err);
    CHECK(has(applied.err, "confined, memory lists the same 9 tools"));
  }
}
