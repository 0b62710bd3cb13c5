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
  TEST_CASE("a tool that cannot work with what its confined server gets is not offered") {
    const auto tool = [](const char* name, const Json& effects) {
      return Json{{"name", name},
                  {"inputSchema", {{"type", "object"}}},
                  {"_meta", {{"io.mcpac/effects", effects}}}};
    };
    const Json host = {{"effect", "NetRead"}, {"host", "api.example.com"}, {"required", true}};
    const Json cache = {{"effect", "FsWrite"}, {"path", "./cache"}};
    const auto config = [](const std::string& sandbox) {
      return fmt::format(R"({{"mcpServers": {{"notes": {{"command": "node", "args":
        ["{}", "scripted", "./script.json"], "sandbox": {}}}}}}})",
                         server("fixture.mjs"), sandbox);
    };
    const Confined confined(false, config(R"({"files": ["./script.json"]})"));
    const Workspace& workspace = confined.workspace;
    const Json tools = {tool("fetch", Json::array({host})), tool("keep", Json::array({cache})),
                        tool("plain", Json::array())};
    workspace.write("script.json", Json{{"version", "1"}, {"tools", tools}}.dump());
    const auto made = confined.mcpac({"generate"});
    INFO(made.err);
    REQUIRE(made.exit_code == 0);
    CHECK(has(made.err,
              "note: notes.fetch is not offered: it says it needs: network "
              "api.example.com:443 (required), which its entry does not give; where it "
              "is meant to: \"sandbox\": {\"network\": [\"api.example.com:443\"]}"));
    CHECK(has(made.err, "note: notes.keep is degraded: it says it needs: writes ./cache"));
    const auto listed = confined.mcpac({"tools", "list"});
    CHECK(has(listed.out, "[not offered]"));
    CHECK(has(listed.out, "[degraded]"));
    CHECK(has(confined.mcpac({"tools", "describe", "notes.fetch"}).out, "// not offered: it says"));

    const auto prompt = confined.mcpac({"prompt"});
    CHECK_FALSE(has(prompt.out, "fetch"));
    CHECK(has(prompt.out, "keep"));

    const auto called = confined.mcpac({"tools", "call", "notes.fetch", "--grant", "*.*"});
    CHECK(called.exit_code == 77);
    CHECK(has(called.err, "MCPAC-E0416"));
    CHECK(confined.mcpac({"tools", "call", "notes.keep", "--grant", "*.*"}).exit_code == 0);

    const std::string program =
        "#include <mcpac.hpp>\n"
        "int agent_main(mcpac::Requires<mcp::notes::fetch> rt) {\n"
        "  rt.notes.fetch();\n  return 0;\n}\n";
    const auto file = workspace.write("agent.cpp", program);
    for (const auto& words : std::vector<std::vector<std::string>>{
             {"execute", "--grant", "*.*", "-f", file.string()},
             {"permissions", "analyze", file.string()},
             {"permissions", "analyze", file.string(), "--grant", "*.*"}}) {
      const auto refused = confined.mcpac(words);
      INFO(refused.out, refused.err);
      CHECK(refused.exit_code == 77);
      CHECK(has(refused.err, "MCPAC-E0416"));
      CHECK(has(refused.err, "agent.cpp:3:"));
      CHECK(has(refused.err, R"("sandbox": {"network": ["api.example.com:443"]})"));
    }

    // Ordinary clients do not see it; who runs the gateway is told once.
    RunOptions client;
    client.input =
        R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}})"
        "\n"
        R"({"jsonrpc":"2.0","method":"notifications/initialized"})"
        "\n"
        R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})"
        "\n";
    const auto served = workspace.mcpac({"serve", "--grant", "*.*"}, client);
    INFO(served.out, served.err);
    CHECK(has(served.out, "notes.keep"));
    CHECK_FALSE(has(served.out, "notes.fetch"));
    CHECK(has(served.err, "notes.fetch is not offered: it says it needs: network"));

    // Of a server that is not confined nothing is withheld.
    workspace.write("mcpac.json", config("false"));
    const auto bare = confined.mcpac({"tools", "list"});
    CHECK_FALSE(has(bare.out, "[not offered]"));
  }

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
}
