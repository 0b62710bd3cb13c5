// Servers with a "sandbox": real ones do their work, and one that tries everything gets nothing
// that its entry did not give, whatever the rules say of its arguments.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
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

std::string npm(const std::string& where, const std::string& name) {
  return mcpac::testing::in_source(
      fmt::format("tests/{}/node_modules/@modelcontextprotocol/{}/dist/index.js", where, name));
}
std::string server(const std::string& name) {
  return mcpac::testing::in_source("tests/servers/" + name);
}

std::string attempts_with(const std::string& sandbox) {
  return fmt::format(R"({{"mcpServers": {{"attempts": {{"command": "/usr/bin/python3",
                        "args": ["{}"], "era": "initialize", "sandbox": {}}}}}}})",
                     server("attempts.py"), sandbox);
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
    ordinary_ = ordinary;
    if (ordinary) own();
  }
  // Gives all of it to the ordinary user.
  void own() const {
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
  // All of it by one call and one server, coded so that no reading of the gate finds a place in it.
  std::vector<std::string> coded(const std::vector<std::pair<std::string, std::string>>& attempts,
                                 std::vector<std::string> rules) const {
    Json list = Json::array();
    for (const auto& [what, on] : attempts) list.push_back(Json::array({what, on}));
    std::string text;
    for (const char c : list.dump()) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
    rules.insert(rules.begin(), {"tools", "call", "attempts.coded", Json{{"text", text}}.dump()});
    const auto called = mcpac(std::move(rules));
    INFO(called.out << called.err);
    REQUIRE(called.exit_code == 0);
    return Json::parse(called.out).get<std::vector<std::string>>();
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

  TEST_CASE("a confined server that ends says how, what it wrote, and what it had") {
    const Confined confined;
    confined.generate();
    const std::string ended = confined.attempt("end", "3");
    INFO(ended);
    CHECK(has(ended, "exit status 3"));
    CHECK(has(ended, "sandbox"));
  }

  TEST_CASE("nothing lies behind a denied place, whatever a confined server makes of a text") {
    for (const bool ordinary : {false, true}) {
      if (ordinary && ::geteuid() != 0) continue;
      CAPTURE(ordinary);
      const auto prepared = [&] {
        auto confined =
            std::make_unique<Confined>(ordinary, attempts_with(R"({"files": ["./data:rw"]})"));
        for (const char* file : {"data/secret/key", "data/sub/secret/key", "data/key.pem"}) {
          fs::create_directories(fs::path(confined->path(file)).parent_path());
          confined->workspace.write(file, "canary");
        }
        fs::create_directories(confined->path("data/empty"));
        fs::create_symlink("secret/key", confined->path("data/link"));
        fs::create_directory_symlink("sub", confined->path("data/also"));
        if (ordinary) confined->own();
        confined->generate();
        return confined;
      };
      const auto attempts_on = [](const Confined& confined) {
        const std::string secret = confined.path("data/secret/key");
        // As servers open what rules read: each of these was a way around a path rule.
        std::vector<std::pair<std::string, std::string>> all = {
            {"read", secret},
            {"read", "data/secret/key"},               // from where it starts
            {"read", "./data/../data/./secret//key"},  // dots
            {"read", confined.path("data/empty/../secret/key")},
            {"read", "/proc/self/root" + secret},
            {"read", "/proc/self/cwd/data/secret/key"},
            {"read", "/proc/1/root" + secret},
            {"read", "/proc/1/cwd" + secret},
            {"read", "/proc/thread-self/root" + secret},
            {"read", confined.path("data/link")},  // links that its user made
            {"read", confined.path("data/also/secret/key")},
            {"read", confined.path("data/key.pem")},
            {"below", secret},  // from a folder that is held open
            {"shell", fmt::format("cat ' {0}' {0} $(echo {0}) ~/../..{0} 2>/dev/null", secret)},
            {"shell", fmt::format("cd {}/data/s*t && cat *", confined.path(""))},  // wildcards
            {"shell", fmt::format("cat {}/data/{{SECRET,Secret}}/key", confined.path(""))},
            {"shell", fmt::format("grep -r canary {}/data", confined.path(""))},  // a folder above
            {"shell", fmt::format("tar c {}/data | cat", confined.path(""))},
            // Moved, linked, made again: the place, what holds it, what is put over it.
            {"rename", confined.path("data/secret") + " -> " + confined.path("data/empty/moved")},
            {"rename", confined.path("data/empty") + " -> " + confined.path("data/secret")},
            {"rename", confined.path("data/note") + " -> " + confined.path("data/key.pem")},
            {"rename", confined.path("data/sub") + " -> " + confined.path("data/moved")},
            {"read", confined.path("data/moved/secret/key")},
            {"read", confined.path("data/empty/moved/key")},
            {"hard_link", secret + " -> " + confined.path("data/hard")},
            {"hard_link", confined.path("data/key.pem") + " -> " + confined.path("data/hard2")},
            {"read", confined.path("data/hard")},
            {"read", confined.path("data/hard2")},
            {"write", secret},
            {"write", confined.path("data/key.pem")},
            {"make", confined.path("data/secret/new")},
            {"list", confined.path("data/secret")},
            {"read", secret},
            {"read", confined.path("data/key.pem")}};
        return all;
      };
      const auto canaries = [](const std::vector<std::string>& said) {
        return std::ranges::count_if(said, [](const auto& one) { return has(one, "canary"); });
      };
      {
        // Without the rules there is something behind each spelling.
        const auto bare = prepared();
        const auto said = bare->coded(attempts_on(*bare), {"--grant", "attempts.coded"});
        CHECK(canaries(said) >= 15);
      }
      const auto confined = prepared();
      const auto all = attempts_on(*confined);
      const auto said = confined->coded(
          all, {"--grant", "attempts.coded", "--deny", "*.*(* within ./data/secret)", "--deny",
                "*.*(* within ./data/sub/secret)", "--deny", "*.*(* matches ./data/key.pem)"});
      REQUIRE(said.size() == all.size());
      for (std::size_t i = 0; i < all.size(); ++i) {
        CAPTURE(all[i].first);
        CAPTURE(all[i].second);
        CHECK_FALSE(has(said[i], "canary"));
        const bool may_be_done = all[i].first == "shell";
        if (!may_be_done) CHECK_FALSE(has(said[i], "done"));
      }
      for (const char* file : {"data/secret/key", "data/key.pem"})
        CHECK(confined->workspace.read(file) == "canary");
    }
  }

  TEST_CASE("rules give a confined server the places of its tools, and say so") {
    const Confined confined(false, attempts_with("true"));
    for (const char* folder : {"data/out", "data/secret"})
      fs::create_directories(confined.path(folder));
    confined.workspace.write("data/secret/key", "canary");
    confined.workspace.write("data/one", "canary");
    fs::create_hard_link(confined.path("data/one"), confined.path("data/out/two"));
    confined.generate();
    const std::vector<std::string> rules = {
        "--grant", "attempts.coded",
        "--grant", "attempts.read_file(path within ./data except {./data/secret})",
        "--grant", "attempts.write_file(path within ./data/out)",
        "--grant", "attempts.read_file(path within ./nowhere)",
        "--deny",  "*.*(* within ./data/later)",
        "--deny",  "*.*(* matches ./data/one)"};
    const auto said = confined.coded({{"read", confined.path("data/note")},
                                      {"write", confined.path("data/out/new")},
                                      {"write", confined.path("data/note")},
                                      {"read", confined.path("data/secret/key")},
                                      {"list", confined.path("data/secret")},
                                      {"read", confined.path("shown/text")},
                                      {"list", confined.path("beside")}},
                                     rules);
    CHECK(said == std::vector<std::string>{"\"a note\"", "\"done\"", "EROFS", "EACCES", "EACCES",
                                           "ENOENT", "ENOENT"});
    CHECK(confined.workspace.read("data/out/new") == "written");
    // Its record has them, beside their rules.
    const auto listed = confined.mcpac({"audit", "list", "--kind", "RunStarted", "--json"});
    INFO(listed.out << listed.err);
    REQUIRE(listed.exit_code == 0);
    for (const char* text : {"server_places", "/data/out", "read-write", "/data/secret",
                             "attempts.write_file(path within ./data/out)"})
      CHECK(has(listed.out, text));
    // And whoever asks before hears of them, and of what is not there.
    std::vector<std::string> words = {"policy", "explain", "attempts.read_file",
                                      R"({"path": "data/note"})"};
    words.insert(words.end(), rules.begin(), rules.end());
    const auto explained = confined.mcpac(words);
    INFO(explained.out << explained.err);
    CHECK(explained.exit_code == 0);
    CHECK(has(explained.out, "attempts: " + confined.path("data") + " read-only: --grant: "));
    CHECK(has(explained.out, "attempts: " + confined.path("data/out") + " read-write: "));
    CHECK(has(explained.out, "attempts: " + confined.path("data/secret") + " absent: "));
    CHECK(has(explained.out, "so the server does not have it; make it"));
    CHECK(has(explained.out, "data/later is not there: what is made there"));
    CHECK(has(explained.out, "data/one has 2 names (hard links)"));
    words.push_back("--json");
    const auto json = confined.mcpac(words).json();
    CHECK(json.at("server_places").at("attempts").at("places").size() == 2);
    CHECK(json.at("server_places").at("attempts").at("absent").size() == 3);
  }
}
