// Servers with a "sandbox": real ones do their work, and one that tries everything gets nothing
// that its entry did not give, whatever the rules say of its arguments.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

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

std::string npm(const std::string& where, const std::string& name) {
  return mcpac::testing::in_source(
      fmt::format("tests/{}/node_modules/@modelcontextprotocol/{}/dist/index.js", where, name));
}
std::string server(const std::string& name) {
  return mcpac::testing::in_source("tests/servers/" + name);
}

// Six servers, each confined; two of them have a folder to write.
std::string confined_servers() {
  return fmt::format(R"({{"mcpServers": {{
    "filesystem": {{"command": "node", "args": ["{}", "./data"], "sandbox": {{"files": ["./data:rw"]}}}},
    "memory": {{"command": "node", "args": ["{}"], "env": {{"MEMORY_FILE_PATH": "/tmp/memory.json"}},
               "sandbox": true}},
    "everything": {{"command": "node", "args": ["{}"], "sandbox": true}},
    "thinking": {{"command": "node", "args": ["{}"], "sandbox": true}},
    "attempts": {{"command": "/usr/bin/python3", "args": ["{}"], "era": "initialize",
                 "sandbox": {{"files": ["./data:rw", "./shown"]}}}},
    "hello": {{"command": "{}", "era": "initialize", "sandbox": true}}
  }}}})",
                     npm("servers", "server-filesystem"), npm("servers", "server-memory"),
                     npm("servers", "server-everything"),
                     npm("ecosystem", "server-sequential-thinking"), server("attempts.py"),
                     server("hello.sh"));
}

class Confined {
 public:
  explicit Confined(bool ordinary = false, const std::string& config = confined_servers())
      : workspace(config) {
    fs::create_directories(workspace.folder() / "shown");
    fs::create_directories(workspace.folder() / "beside");
    workspace.write("shown/text", "what is shown");
    workspace.write("data/note", "a note");
    workspace.write("beside/secret", "canary");
    if (!ordinary) return;
    ordinary_ = true;
    for (const auto& entry : fs::recursive_directory_iterator(workspace.folder()))
      REQUIRE(::lchown(entry.path().c_str(), kOrdinary, kOrdinary) == 0);
    REQUIRE(::lchown(workspace.folder().c_str(), kOrdinary, kOrdinary) == 0);
  }
  Outcome mcpac(std::vector<std::string> words) const {
    RunOptions options;
    if (ordinary_) {
      options.enter = [] {
        return ::setgroups(0, nullptr) == 0 && ::setresgid(kOrdinary, kOrdinary, kOrdinary) == 0 &&
               ::setresuid(kOrdinary, kOrdinary, kOrdinary) == 0;
      };
    }
    return workspace.mcpac(std::move(words), options);
  }
  void generate() const {
    const auto made = mcpac({"generate"});
    INFO(made.out << made.err);
    REQUIRE(made.exit_code == 0);
  }
  // What the tool said, or what mcpac did.
  std::string call(const std::string& tool, const Json& arguments) const {
    const auto called = mcpac({"tools", "call", tool, arguments.dump(), "--grant", "*.*"});
    if (called.exit_code != 0) return called.out + called.err;
    return called.out.substr(0, called.out.find_last_not_of('\n') + 1);
  }
  std::string attempt(const std::string& what, const std::string& on = "") const {
    return call("attempts.attempt", {{"what", what}, {"on", on}});
  }
  [[nodiscard]] std::string path(const std::string& below) const {
    return (workspace.folder() / below).string();
  }

  Workspace workspace;

 private:
  static constexpr unsigned kOrdinary = 4242;
  bool ordinary_ = false;
};

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
  Outcome mcpac(std::vector<std::string> words) const {
    return workspace.mcpac(std::move(words), options_);
  }
  void write_config(const std::string& sandbox) const {
    workspace.write(
        "project/mcpac.json",
        fmt::format(R"({{"other": 1, "mcpServers": {{"learning": {{
                      "command": "/usr/bin/python3", "args": ["{}"], "era": "initialize"{}}}}},
                      "more": []}})",
                    server("learning.py"), sandbox.empty() ? "" : ", \"sandbox\": " + sandbox));
    if (options_.enter)
      REQUIRE(::lchown((workspace.folder() / "project/mcpac.json").c_str(), kUser, kUser) == 0);
  }
  [[nodiscard]] std::string config() const { return workspace.read("project/mcpac.json"); }

  Workspace workspace;

 private:
  static constexpr unsigned kUser = 4242;
  RunOptions options_;
};

int count_marked(const std::string& mark) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream in(entry.path() / "environ");
    const std::string text(std::istreambuf_iterator<char>(in), {});
    if (text.contains("MCPAC_TEST_MARK=" + mark)) ++count;
  }
  return count;
}

void check_real_servers(bool ordinary) {
  const Confined confined(ordinary);
  confined.generate();
  CHECK(has(confined.call("filesystem.read_text_file", {{"path", "note"}}), "a note"));
  CHECK(has(confined.call("filesystem.write_file",
                          {{"path", confined.path("data/new")}, {"content", "written inside"}}),
            "wrote"));
  CHECK(confined.workspace.read("data/new") == "written inside");
  CHECK(has(confined.call("memory.create_entities",
                          {{"entities", Json::array({{{"name", "n"},
                                                      {"entityType", "t"},
                                                      {"observations", Json::array({"o"})}}})}}),
            "entityType"));
  CHECK(has(confined.call("everything.echo", {{"message", "across"}}), "across"));
  CHECK(has(confined.call("thinking.sequentialthinking", {{"thought", "one"},
                                                          {"nextThoughtNeeded", false},
                                                          {"thoughtNumber", 1},
                                                          {"totalThoughts", 1}}),
            "thoughtNumber"));
  CHECK(has(confined.call("hello.hello", Json::object()), "hello from /home/mcpac-server"));
  CHECK(confined.attempt("read", confined.path("shown/text")) == "\"what is shown\"");
}

}  // namespace

TEST_SUITE("e2e/confined") {
  TEST_CASE(
      "real servers list their tools and do calls in a sandbox, as root and as an ordinary user") {
    check_real_servers(false);
  }
  TEST_CASE("real servers do so as an ordinary user") {
    // Who is one already had that in the case before.
    if (::geteuid() != 0) {
      MESSAGE("skipped: only root can become another user");
      return;
    }
    check_real_servers(true);
  }

  TEST_CASE("a confined server that tries everything gets nothing, and leaves nothing") {
    for (const bool ordinary : {false, true}) {
      if (ordinary && ::geteuid() != 0) continue;
      CAPTURE(ordinary);
      const Confined confined(ordinary);
      confined.generate();
      const std::string secret = confined.path("beside/secret");
      CHECK(confined.attempt("read", secret) == "ENOENT");
      CHECK(confined.attempt("read", confined.path("shown/../beside/secret")) == "ENOENT");
      CHECK(confined.attempt("read", "/etc/shadow") == "ENOENT");
      CHECK(confined.attempt("read", "/root/.ssh/id_ed25519") == "ENOENT");
      CHECK(confined.attempt("read", confined.path("mcpac.json")) == "ENOENT");
      CHECK(confined.attempt("list", "/home") == "[\"mcpac-server\"]");
      CHECK(confined.attempt("list", confined.path("")) != "[]");
      CHECK_FALSE(has(confined.attempt("list", confined.path("")), "beside"));
      // Read-only, its own code and the system's with it.
      CHECK(confined.attempt("write", confined.path("shown/text")) == "EROFS");
      const std::string own_code = confined.attempt("append_to_self");
      CHECK((own_code == "EROFS" || own_code == "EACCES"));  // a user may not by its mode either
      CHECK(confined.attempt("write", "/usr/bin/new") == "EROFS");
      CHECK(confined.attempt("link", confined.path("data/link")) == "EACCES");
      CHECK(confined.attempt("set_id", confined.path("data/note")) == "EPERM");
      // Others, the network, the kernel.
      const std::string seen = confined.attempt("processes");
      CHECK((seen == "FileNotFoundError" || seen == "ENOENT" || !has(seen, "mcpac-whole")));
      CHECK_FALSE(has(seen, "doctest"));
      CHECK(confined.attempt("connect", "192.0.2.1:80") == "ENETUNREACH");
      CHECK(confined.attempt("unix", "/run/docker.sock") == "ENOENT");
      CHECK(confined.attempt("mount", "/tmp") == "EPERM");
      CHECK(confined.attempt("unshare") == "EPERM");
      CHECK(confined.attempt("trace") == "EPERM");
      CHECK(confined.attempt("memory_of_keeper") != "\"done\"");
      CHECK(confined.attempt("fill", "/tmp/full") == "ENOSPC");
      CHECK(confined.attempt("grow") == "\"bounded\"");
      const std::string mark = fmt::format("confined-{}-{}", ::getpid(), ordinary);
      CHECK(confined.attempt("leave", mark) == "\"done\"");
      CHECK(count_marked(mark) == 0);
      // Nothing of ours, but what it needs.
      CHECK(has(confined.attempt("environment"), "\"HOME\""));
      for (const char* variable : {"XDG_", "USER", "SHELL", "E2E_"})
        CHECK_FALSE(has(confined.attempt("environment"), variable));
    }
  }

  TEST_CASE("a confined server that cannot be started says so, with what to write") {
    struct Case {
      std::string entry;
      std::string said;
    };
    const auto entry = [](const std::string& command, const std::string& sandbox) {
      return fmt::format(R"("command": "{}", "sandbox": {})", command, sandbox);
    };
    const std::vector<Case> cases = {
        {entry("node", R"({"files": ["./nowhere"]})"), "make it, or name what is there"},
        {entry("node", R"({"files": ["./nowhere:rw"]})"), "MCPAC-E0720"},
        {entry("node", R"({"files": ["./link"]})"), "leads through a link"},
        {entry("node", R"({"files": ["/"]})"), "cannot be granted"},
        {entry("node", R"({"files": ["/proc"]})"), "kernel's view"},
        {entry("node", R"({"files": ["."]})"), ""},
        {entry("node", R"({"file": ["."]})"), "files"},
        {entry("node", R"({"files": "data"})"), "MCPAC-E0111"},
        {entry("node", "3"), "true, false"},
        {entry("./no interpreter", "true"), "script without its interpreter"},
        {entry("./set id", "true"), "set-id"},
        {entry("./nowhere", "true"), "check \\\"command\\\""},
        {entry("npx", "true"), "downloads"},
        {entry("docker", "true"), "no child of it"},
        {R"("url": "https://example.com/mcp", "sandbox": true)", "goes with"},
    };
    for (const auto& [text, said] : cases) {
      CAPTURE(text);
      if (said.empty()) continue;
      const Confined confined(false, fmt::format(R"({{"mcpServers": {{"one": {{{}}}}}}})", text));
      fs::create_symlink("data", confined.path("link"));
      confined.workspace.write("no interpreter", "#!/nowhere/interpreter\n");
      fs::copy_file("/bin/true", confined.path("set id"));
      REQUIRE(::chmod(confined.path("no interpreter").c_str(), 0755) == 0);
      REQUIRE(::chmod(confined.path("set id").c_str(), 04755) == 0);
      const auto tested = confined.mcpac({"server", "test", "one", "--json"});
      INFO(tested.out << tested.err);
      CHECK(tested.exit_code != 0);
      CHECK(has(tested.out + tested.err, said));
    }
  }

  TEST_CASE("a server is learnt, confined by what it used, and told what it lacks") {
    for (const bool ordinary : {false, true}) {
      if (ordinary && ::geteuid() != 0) continue;
      CAPTURE(ordinary);
      const Learning learning(ordinary);
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
      expected["mcpServers"]["learning"]["sandbox"] = {{"files", needed}};
      CHECK(mcpac::parse_ordered_json(learning.config(), "after").value().dump() ==
            expected.dump());
      const auto called = learning.mcpac(
          {"tools", "call", "learning.note", R"({"text": "kept"})", "--grant", "learning.note"});
      INFO(called.out << called.err);
      CHECK(has(called.out, "kept"));
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
      // What does not start confined is not written.
      const std::string short_of = learning.config();
      const auto refused = learning.mcpac({"server", "confine", "learning", "--apply"});
      INFO(refused.out << refused.err);
      CHECK(refused.exit_code != 0);
      CHECK(has(refused.err, "nothing was written"));
      CHECK(learning.config() == short_of);
      CHECK(learning.mcpac({"server", "confine", "learning", "--off"}).exit_code == 0);
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

  TEST_CASE("real servers are learnt by what their entries name and what they do") {
    const auto entry = [](const std::string& name, const std::string& more) {
      return fmt::format(R"("{}": {{"command": "node", "args": ["{}"{}}})", name,
                         npm("servers", "server-" + name), more);
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
    CHECK(lines("filesystem").at("sandbox") == Json{{"files", {"./data"}}});
    const Json memory = lines("memory");
    CHECK(memory.at("sandbox") == Json{{"files", {"./data:rw"}}});
    CHECK(memory.at("not_proposed").empty());
    CHECK(memory.at("notes").empty());
    const auto applied = workspace.mcpac({"server", "confine", "memory", "--learn", "--apply"});
    INFO(applied.err);
    CHECK(has(applied.err, "confined, memory lists the same 9 tools"));
  }

  TEST_CASE("a confined server that ends says how, what it wrote, and what it had") {
    const Confined confined;
    confined.generate();
    const std::string ended = confined.attempt("end", "3");
    INFO(ended);
    CHECK(has(ended, "exit status 3"));
    CHECK(has(ended, "sandbox"));
  }
}
