// How servers come into a sandbox: added, imported, adopted. Each is tried, and nothing gets one
// without a word.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "core/file.h"
#include "core/json.h"
#include "e2e/workspace.h"
#include "places.h"

using e2e::has;
using e2e::Outcome;
using e2e::Workspace;
using mcpac::Json;

namespace {

namespace fs = std::filesystem;

std::string package(const std::string& name) {
  return mcpac::testing::in_source(
      fmt::format("tests/servers/node_modules/@modelcontextprotocol/{}/dist/index.js", name));
}

Json entries(const Workspace& workspace) {
  return mcpac::parse_json(workspace.read("mcpac.json")).value().at("mcpServers");
}

// A registry of npm in this process's reach, with packages that a test puts there.
class Registry {
 public:
  explicit Registry(const fs::path& folder) : folder_(folder) {
    fs::create_directories(folder_);
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    const mcpac::UniqueFd ours(ends[0]);
    const mcpac::UniqueFd theirs(ends[1]);
    const std::string script = mcpac::testing::in_source("tests/servers/registry.mjs");
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(theirs.get(), 1);
      ::execlp("node", "node", script.c_str(), folder_.c_str(), nullptr);
      ::_exit(127);
    }
    std::array<char, 32> line{};
    REQUIRE(::read(ours.get(), line.data(), line.size() - 1) > 5);
    url_ = fmt::format("http://127.0.0.1:{}", std::atoi(line.data() + 5));
  }
  ~Registry() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // A package "@t/NAME" whose program is hello.sh, with members for its manifest.
  void put(const std::string& name, const std::string& version, const std::string& members,
           const std::string& description = "") const {
    const fs::path package = folder_ / fmt::format("@t+{}@{}", name, version) / "package";
    fs::create_directories(package);
    std::string server =
        mcpac::read_file(mcpac::testing::in_source("tests/servers/hello.sh")).value();
    if (!description.empty())
      server.insert(server.find("\"inputSchema\""),
                    fmt::format("\"description\":\"{}\",", description));
    REQUIRE(mcpac::write_file_atomic(package / "hello.sh", server).has_value());
    REQUIRE(
        mcpac::write_file_atomic(package / "package.json",
                                 fmt::format(R"({{"name": "@t/{}", "version": "{}"{}{}}})", name,
                                             version, members.empty() ? "" : ", ", members))
            .has_value());
  }
  // The variables of an entry that is installed from here.
  [[nodiscard]] std::vector<std::string> options() const {
    return {"--env", "npm_config_registry=" + url_, "--env",
            "npm_config_cache=" + (folder_ / ".npm").string()};
  }

 private:
  fs::path folder_;
  std::string url_;
  pid_t pid_ = -1;
};

}  // namespace

TEST_SUITE("e2e/confine entry") {
  TEST_CASE(
      "a server that is added with --confine is tried in a sandbox, and comes in as it works") {
    const Workspace workspace(R"({"mcpServers": {}})");
    fs::create_directories(workspace.folder() / "data");
    const auto add = [&](std::vector<std::string> words) {
      words.insert(words.begin(), {"server", "add"});
      return workspace.mcpac(std::move(words));
    };
    const auto added =
        add({"fs", "--confine", "--", "node", package("server-filesystem"), "./data"});
    INFO(added.err);
    REQUIRE(added.exit_code == 0);
    CHECK(has(added.err, "./data:rw"));
    CHECK(has(added.err, "args[1] names it"));
    CHECK(has(added.err, "lists 14 tools"));
    CHECK(entries(workspace).at("fs").at("sandbox").at("files") == Json::array({"./data:rw"}));
    // What a person names stands for what the command names.
    CHECK(add({"own", "--files", "./data", "--", "node", package("server-filesystem"), "./data"})
              .exit_code == 0);
    CHECK(entries(workspace).at("own").at("sandbox").at("files") == Json::array({"./data"}));
    CHECK(add({"memory", "--confine", "--", "node", package("server-memory")}).exit_code == 0);
    CHECK(entries(workspace).at("memory").at("sandbox") == true);
    // One that does not start so is not added, and the ways out are said.
    const auto refused =
        add({"bad", "--confine", "--", "node", package("server-filesystem"), "/nowhere"});
    CHECK(refused.exit_code == 69);
    CHECK(has(refused.err, "bad does not start in a sandbox with no files"));
    CHECK(has(refused.err, "--files PATH[:rw]"));
    CHECK(has(refused.err, "nothing was added"));
    // A data folder that is yet to be made is said; each advice once.
    const auto missing = add(
        {"fs", "--force", "--confine", "--", "node", package("server-filesystem"), "./missing"});
    INFO(missing.err);
    CHECK(has(missing.err,
              (workspace.folder() / "missing").string() + ": it is not there, so it is not given"));
    CHECK(has(missing.err, "mkdir "));
    for (const auto& error : {refused.err, missing.err}) {
      const auto learn = error.find("--learn");
      CHECK(learn != std::string::npos);
      CHECK(error.find("--learn", learn + 1) == std::string::npos);
    }
    CHECK_FALSE(has(missing.err, "it runs in a sandbox"));
    CHECK(has(missing.err, "nothing was replaced: fs stays as it was"));
    CHECK(has(add({"far", "--confine", "--url", "https://a.example/mcp"}).err, "MCPAC-E1000"));
    // One that says which variable it lacks is answered by that, where it is set here.
    ::setenv("MCPAC_TEST_TOKEN", "s3cr3t-of-a-test", 1);
    const auto lacking =
        add({"token", "--confine", "--", "/bin/sh", "-c",
             "test \"$MCPAC_TEST_TOKEN\" || echo MCPAC_TEST_TOKEN is not set >&2; exit 3"});
    ::unsetenv("MCPAC_TEST_TOKEN");
    INFO(lacking.err);
    CHECK(has(lacking.err, "--env MCPAC_TEST_TOKEN='${env:MCPAC_TEST_TOKEN}'"));
    CHECK_FALSE(has(lacking.err, "--files"));
    CHECK_FALSE(has(lacking.err, "s3cr3t"));
    const auto container = add({"box", "--confine", "--", "docker", "run", "x"});
    CHECK(has(container.err, "no child of it"));
    CHECK_FALSE(has(container.err, "--files PATH"));
    CHECK(entries(workspace).size() == 3);
    CHECK(has(workspace.mcpac({"init", "--config", "other.json"}).err, "--confine"));
  }

  TEST_CASE("what is wrong in `server add` is named, with a way out that works") {
    const Workspace workspace(R"({"mcpServers": {}})");
    const std::string before = workspace.read("mcpac.json");
    const auto add = [&](std::vector<std::string> words) {
      words.insert(words.begin(), {"server", "add"});
      return workspace.mcpac(std::move(words));
    };
    const std::string memory = package("server-memory");
    struct Case {
      std::vector<std::string> words;
      std::vector<std::string> said;
      std::vector<std::string> unsaid;
    };
    const std::vector<Case> cases = {
        {{"a", "--netwrk", "a.example", "--", "node", memory},
         {"mcpac server add has no option '--netwrk'", "did you mean '--network'?"},
         {"not expected"}},
        {{"a", "--confin", "--", "node", memory}, {"did you mean '--confine'?"}, {"--config"}},
        {{"a", "npx", "-y", "@t/a"},
         {"has no option '-y'", "put -- before a command"},
         {"not expected"}},
        {{"a", "--", "--confine", "npx", "@t/a"}, {"'--confine' is no program"}, {}},
        {{"a", "--confine", "--", "node", "./gone.js"},
         {"\"node\" has no file", "gone.js", "check \"args\""},
         {"--files", "--learn"}},
        {{"a", "--confine", "--", "/usr/bin/python3", "-u", "gone.py"},
         {"has no file", "gone.py"},
         {"--files"}},
        {{"a", "--files", "./gone:rw", "--", "node", memory}, {"mkdir "}, {"--files PATH"}},
        {{"a", "--confine", "--env", "X=${env:MCPAC_TEST_GONE}", "--", "node", memory},
         {"MCPAC-E0114", "export MCPAC_TEST_GONE="},
         {"--files PATH"}},
        {{"a", "--network", "https://a.example:443", "--", "node", memory},
         {"MCPAC-E0111"},
         {"--files PATH"}},
    };
    for (const auto& [words, said, unsaid] : cases) {
      const auto refused = add(words);
      CAPTURE(refused.err);
      CHECK(refused.exit_code != 0);
      for (const auto& text : said) CHECK_MESSAGE(has(refused.err, text), text);
      for (const auto& text : unsaid) CHECK_MESSAGE(!has(refused.err, text), text);
    }
    CHECK(workspace.read("mcpac.json") == before);
    // A home is never given, whatever the option: none is advised for it.
    const auto home = add({"home", "--confine", "--", "node", memory, workspace.home().string()});
    CHECK_FALSE(has(home.err, "or itself with --files"));
    // Where a server is to write, in a folder that is not there.
    const std::string file = (workspace.folder() / "store/m.jsonl").string();
    const auto absent =
        add({"mem", "--confine", "--env", "MEMORY_FILE_PATH=" + file, "--", "node", memory});
    CHECK(has(absent.err, "its folder is not there, so it is not given"));
    CHECK(has(absent.err, "mkdir " + (workspace.folder() / "store").string()));
    const auto reaching = add({"net", "--network", "a.example:443", "--", "node", memory});
    INFO(reaching.err);
    CHECK(reaching.exit_code == 0);
    CHECK(entries(workspace).at("net").at("sandbox") ==
          Json{{"network", Json::array({"a.example:443"})}});
  }

  TEST_CASE("a folder of a project starts no second one without a word") {
    const Workspace workspace(R"({"mcpServers": {}})");
    const fs::path below = workspace.folder() / "sub/deeper";
    fs::create_directories(below);
    const std::vector<std::string> words = {"server", "add", "a", "--", "node", "x.js"};
    const auto refused = workspace.mcpac(words, {.folder = below});
    CHECK(refused.exit_code == 64);
    CHECK(has(refused.err, "mcpac -C " + workspace.folder().string()));
    CHECK_FALSE(fs::exists(below / "mcpac.json"));
    CHECK(workspace.mcpac({"init"}, {.folder = below}).exit_code == 0);
    CHECK(workspace.mcpac(words, {.folder = below}).exit_code == 0);
  }

  TEST_CASE("a script in a folder of all kinds has the code beside it, and not the rest") {
    const Workspace workspace("{}");
    const auto downloads = [&](const std::string& name) { return "elsewhere/downloads/" + name; };
    fs::create_directories(workspace.folder() / "elsewhere/downloads/own_package");
    fs::create_directories(workspace.folder() / "project");
    for (const char* name : {"letter.txt", "helper.py", "own_package/__init__.py"})
      workspace.write(downloads(name), "# code\n");
    fs::copy_file(mcpac::testing::in_source("tests/servers/attempts.py"),
                  workspace.folder() / downloads("serve.py"));
    const fs::path script = workspace.folder() / downloads("serve.py");
    workspace.write("project/mcpac.json", fmt::format(R"({{"mcpServers": {{"a": {{
      "command": "/usr/bin/python3", "args": ["{}"], "era": "initialize", "sandbox": true}}}}}})",
                                                      script.string()));
    const auto mcpac = [&](std::vector<std::string> words) {
      return workspace.mcpac(std::move(words), {.folder = workspace.folder() / "project"});
    };
    REQUIRE(mcpac({"generate"}).exit_code == 0);
    const auto read = [&](const std::string& name) {
      const Json arguments = {{"what", "read"}, {"on", (workspace.folder() / name).string()}};
      const auto called = mcpac({"tools", "call", "a.attempt", arguments.dump(), "--grant", "a.*"});
      return called.out + called.err;
    };
    CHECK(has(read(downloads("helper.py")), "# code"));
    CHECK(has(read(downloads("own_package/__init__.py")), "# code"));
    CHECK(has(read(downloads("letter.txt")), "ENOENT"));
    // A folder that says that it is one program is given whole.
    workspace.write(downloads("pyproject.toml"), "[project]\n");
    CHECK(has(read(downloads("letter.txt")), "# code"));
  }

  TEST_CASE("an import with --confine takes what works in a sandbox, and nothing with more") {
    const Workspace workspace(R"({"mcpServers": {}})");
    fs::create_directories(workspace.folder() / "data");
    workspace.write("theirs.json", fmt::format(R"({{"mcpServers": {{
      "fs": {{"command": "node", "args": ["{0}", "./data"]}},
      "bad": {{"command": "node", "args": ["{0}", "/nowhere"]}},
      "far": {{"url": "https://a.example/mcp"}}}}}})",
                                               package("server-filesystem")));
    const auto imported =
        workspace.mcpac({"server", "add", "--import", "theirs.json", "--confine"});
    INFO(imported.err);
    CHECK(imported.exit_code == 69);
    CHECK(has(imported.err, "bad is not imported: bad does not start in a sandbox"));
    const Json now = entries(workspace);
    CHECK(now.size() == 2);
    CHECK(now.at("fs").at("sandbox").at("files") == Json::array({"./data:rw"}));
    CHECK_FALSE(now.at("far").contains("sandbox"));
  }

  TEST_CASE(
      "adopted servers are confined by a switch or a yes, and those that do not start so work on") {
    const std::string theirs = fmt::format(R"({{"mcpServers": {{
      "fs": {{"command": "node", "args": ["{0}", "DATA"]}},
      "bad": {{"command": "/bin/sh", "args": ["-c", "test -e DATA || echo no $A_TOKEN >&2; test -e DATA && exec node {0} DATA"],
              "env": {{"A_TOKEN": "s3cr3t-of-bad-1"}}}}}}}})",
                                           package("server-filesystem"));
    struct Case {
      std::string answers;  // empty: there is no terminal
      std::vector<std::string> more;
      bool confines;
    };
    const std::vector<Case> cases = {
        {"", {}, false}, {"", {"--confine"}, true}, {"y,y", {}, true}, {"n,n", {}, false}};
    for (const auto& [answers, more, confines] : cases) {
      CAPTURE(answers);
      CAPTURE(more.size());
      const Workspace workspace(R"({"mcpServers": {}})");
      const std::string data = (workspace.folder() / "data").string();
      fs::create_directories(data);
      std::string text = theirs;
      for (auto at = text.find("DATA"); at != std::string::npos; at = text.find("DATA"))
        text.replace(at, 4, data);
      workspace.write("home/.cursor/mcp.json", text);
      std::vector<std::string> words = {
          "connect", "cursor", "--ask", "*.*", "--adopt", "--file", "home/.cursor/mcp.json"};
      words.insert(words.end(), more.begin(), more.end());
      const Outcome done =
          answers.empty() ? workspace.mcpac(words) : workspace.with_person(answers, words);
      INFO(done.out << done.err);
      CHECK(done.exit_code == 0);
      const Json now = entries(workspace);
      REQUIRE(now.size() == 2);
      CHECK(now.at("fs").contains("sandbox") == confines);
      CHECK_FALSE(now.at("bad").contains("sandbox"));
      CHECK(has(done.out + done.err, confines ? "bad stays as it is" : "not confined: "));
      CHECK(has(done.out + done.err, "no …") == confines);
      CHECK_FALSE(has(done.out + done.err, "s3cr3t"));
      CHECK(workspace.mcpac({"server", "test"}).exit_code == 0);
    }
  }

  TEST_CASE("what npx would download is installed apart, and run without network in a sandbox") {
    const Workspace workspace(R"({"mcpServers": {}})");
    const Registry registry(workspace.folder() / "registry");
    registry.put("hello", "1.0.0", R"("bin": "hello.sh")");
    const std::vector<std::string> cache = {"XDG_CACHE_HOME=" +
                                            (workspace.folder() / "own cache").string()};
    const auto mcpac = [&](std::vector<std::string> words) {
      return workspace.mcpac(std::move(words), {.environment = cache});
    };
    const auto add = [&](const std::string& name, std::vector<std::string> command) {
      std::vector<std::string> words = {"server", "add", name, "--confine"};
      for (const auto& option : registry.options()) words.push_back(option);
      words.push_back("--");
      words.insert(words.end(), command.begin(), command.end());
      return mcpac(words);
    };
    const auto called = [&] {
      return mcpac({"tools", "call", "hello.hello", "{}", "--grant", "hello.*"});
    };
    fs::create_directories(workspace.folder() / "data");
    const auto added = add("hello", {"npx", "-y", "@t/hello@^1", "./data"});
    INFO(added.err);
    REQUIRE(added.exit_code == 0);
    CHECK(has(added.err, "@t/hello 1.0.0 is installed"));
    CHECK(entries(workspace).at("hello").at("sandbox").at("files") == Json::array({"./data:rw"}));
    REQUIRE(mcpac({"generate"}).exit_code == 0);
    CHECK(has(called().out, "hello from /home/mcpac-server"));
    // What is learnt is what is run, and nothing of its launcher; confined and locked as it is.
    const auto learnt = mcpac({"server", "confine", "hello", "--learn", "--call", "hello", "{}",
                               "--grant", "hello.*", "--json"});
    INFO(learnt.out << learnt.err);
    REQUIRE(learnt.exit_code == 0);
    CHECK(has(learnt.err, "@t/hello 1.0.0 is installed, and started instead of npx"));
    CHECK(has(learnt.err, "called hello.hello"));
    CHECK(learnt.json().at("sandbox") == Json{{"files", {"./data:rw"}}});
    CHECK(learnt.json().at("files").at(0).at("reason") == "in its entry");
    CHECK_FALSE(has(learnt.out, ".npm"));
    CHECK(has(mcpac({"server", "list"}).out, "(installed @t/hello 1.0.0)"));
    // What is installed stays, whatever its registry has; an update is a command of its own.
    registry.put("hello", "1.1.0", R"("bin": "hello.sh")", "in other words");
    CHECK(has(mcpac({"server", "test"}).out, "hello: ok"));
    CHECK(has(mcpac({"server", "install", "hello"}).err, "@t/hello 1.0.0 is installed; "));
    const auto updated = mcpac({"server", "update", "hello"});
    INFO(updated.err);
    CHECK(has(updated.err, "@t/hello 1.1.0 is installed; it was @t/hello 1.0.0"));
    CHECK(mcpac({"lock", "status"}).exit_code == 77);
    CHECK(called().exit_code != 0);
    // A run installs nothing.
    fs::remove_all(workspace.folder() / "own cache/mcpac/server-packages");
    const auto absent = called();
    INFO(absent.out << absent.err);
    CHECK(has(absent.err, "@t/hello@^1 is not installed"));
    CHECK(has(absent.err, "mcpac server install hello"));
    CHECK(has(mcpac({"server", "list"}).out, "(not installed: mcpac server install hello)"));

    // Programs of a package, and its scripts.
    registry.put("two", "1.0.0", R"("bin": {"one": "hello.sh", "other": "./package.json"})");
    registry.put("none", "1.0.0", "");
    registry.put("scripts", "1.0.0",
                 R"("bin": "hello.sh", "scripts": {"postinstall": "touch built"})");
    CHECK(has(add("two", {"npx", "@t/two"}).err, "npx --package @t/two one"));
    CHECK(has(add("none", {"npx", "@t/none"}).err, "@t/none has no program"));
    const auto gone = add("gone", {"npx", "@t/gone"});
    CHECK(has(gone.err, "    npm error code E404"));
    CHECK(has(gone.err, "check the name and the version of @t/gone"));
    CHECK_FALSE(has(gone.err, "server install gone"));
    CHECK(entries(workspace).size() == 1);
    CHECK(add("one", {"npx", "-p", "@t/two", "one"}).exit_code == 0);
    CHECK(has(add("scripts", {"npm", "exec", "--", "@t/scripts"}).err,
              "install scripts of @t/scripts were not run"));
    const auto built = [&] {
      int count = 0;
      for (const auto& entry : fs::recursive_directory_iterator(workspace.folder() / "own cache"))
        count += entry.path().filename() == "built" ? 1 : 0;
      return count;
    };
    CHECK(built() == 0);
    CHECK(mcpac({"server", "install", "scripts", "--scripts"}).exit_code == 0);
    CHECK(built() == 1);
  }

  TEST_CASE(
      "what uvx would download is installed by uv into a folder of ours, and run from there") {
    // uv as its documentation has it, for machines without Python's registry: a venv below
    // UV_TOOL_DIR with the package's distribution, and links to its programs in UV_TOOL_BIN_DIR.
    const Workspace workspace(R"({"mcpServers": {}})");
    const auto uv = workspace.write(
        "bin/uv", fmt::format(R"SH(#!/bin/sh
[ "$1 $2" = "tool install" ] || exit 2
case "$*" in *--no-build*mcp-hello@2.1) ;; *) exit 3;; esac
venv="$UV_TOOL_DIR/mcp-hello"
/usr/bin/python3 -m venv --without-pip "$venv" || exit 4
mkdir -p "$UV_TOOL_BIN_DIR" "$venv"/lib/python3/site-packages/mcp_hello-2.1.dist-info
# A path with a blank is no interpreter for the kernel.
{{ echo '#!/bin/sh'; echo "'''exec' '$venv/bin/python' \"\$0\" \"\$@\""; echo "' '''"; cat '{}'; }} > "$venv/bin/mcp-hello"
chmod 755 "$venv/bin/mcp-hello"
ln -s "$venv/bin/mcp-hello" "$UV_TOOL_BIN_DIR/mcp-hello"
)SH",
                              mcpac::testing::in_source("tests/servers/attempts.py")));
    fs::permissions(uv, fs::perms(0755));
    fs::copy_file(uv, uv.parent_path() / "uvx");
    const std::vector<std::string> environment = {
        "XDG_CACHE_HOME=" + (workspace.folder() / "own cache").string(),
        fmt::format("PATH={}:/usr/bin:/bin", uv.parent_path().string())};
    const auto added =
        workspace.mcpac({"server", "add", "hello", "--confine", "--", "uvx", "mcp-hello@2.1"},
                        {.environment = environment});
    INFO(added.err);
    REQUIRE(added.exit_code == 0);
    CHECK(has(added.err, "mcp-hello 2.1 is installed"));
    CHECK(has(workspace.mcpac({"server", "test"}, {.environment = environment}).out, "hello: ok"));
  }

  TEST_CASE(
      "a confined server works from odd paths, through links and without a home that it may "
      "write") {
    const Workspace workspace("{}");
    const fs::path project = workspace.folder() / "pro ject, ünï='x' $(1)";
    const auto file = [&](const std::string& name) {
      fs::create_directories((project / name).parent_path());
      return project / name;
    };
    fs::create_directory_symlink(project, workspace.folder() / "above");
    fs::create_directories(file("sha red/in ner/x").parent_path());
    fs::copy_file(mcpac::testing::in_source("tests/servers/attempts.py"), file("of mine/real.py"));
    fs::create_directory_symlink("of mine", project / "bin link");
    fs::create_symlink("real.py", project / "of mine/serve me");
    REQUIRE(mcpac::write_file_atomic(file("a file"), "what it holds").has_value());
    const std::string server =
        R"("command": "./bin link/serve me", "era": "initialize", "env": {"PATH": "/usr/bin:/bin"})";
    REQUIRE(mcpac::write_file_atomic(project / "mcpac.json", fmt::format(R"({{"mcpServers": {{
      "one": {{{0}, "sandbox": {{"files": ["./sha red:rw", "./sha red/in ner", "./a file"]}}}},
      "two": {{{0}, "sandbox": {{"files": ["./sha red:rw"]}}}}}}}})",
                                                                         server))
                .has_value());
    const auto mcpac = [&](std::vector<std::string> words) {
      // Nobody writes to this home.
      return workspace.mcpac(std::move(words), {.folder = workspace.folder() / "above",
                                                .environment = {"HOME=/proc/self/fdinfo"}});
    };
    const auto generated = mcpac({"generate"});
    INFO(generated.err);
    REQUIRE(generated.exit_code == 0);
    const auto attempt = [&](const std::string& by, const std::string& what,
                             const std::string& on) {
      const Json arguments = {{"what", what}, {"on", (project / on).string()}};
      const auto called =
          mcpac({"tools", "call", by + ".attempt", arguments.dump(), "--grant", "*.*"});
      return called.out + called.err;
    };
    // Two servers that share a folder; a place in another keeps what it was given.
    CHECK(has(attempt("one", "write", "sha red/new"), "done"));
    CHECK(has(attempt("two", "write", "sha red/new"), "done"));
    CHECK(has(attempt("one", "write", "sha red/in ner/new"), "EROFS"));
    CHECK(has(attempt("one", "read", "a file"), "what it holds"));
    CHECK(has(attempt("two", "read", "a file"), "ENOENT"));
    CHECK(has(attempt("one", "read", "mcpac.json"), "ENOENT"));
  }

  TEST_CASE("what no sandbox holds is said where rules about its paths are looked at") {
    const Workspace workspace(fmt::format(
        R"({{"mcpServers": {{
      "bare": {{"command": "node", "args": ["{0}", "./data"]}},
      "held": {{"command": "node", "args": ["{0}", "./data"], "sandbox": {{"files": ["./data:rw"], "network": ["a.example:443"], "memory": "512MB"}}}}}}}})",
        package("server-filesystem")));
    fs::create_directories(workspace.folder() / "data");
    workspace.write("mcpac.policy", "allow *.*\ndeny *.*(path within ./data/secret)\n");
    const std::string line =
        "bare is not confined: rules about its paths hold by how they are read";
    const auto generated = workspace.mcpac({"generate"});
    INFO(generated.err);
    REQUIRE(generated.exit_code == 0);
    CHECK(has(generated.err, line));
    CHECK_FALSE(has(generated.err, "held is not confined"));
    CHECK_FALSE(has(workspace.mcpac({"generate"}).err, line));  // no news
    const auto checked = workspace.mcpac({"policy", "check", "mcpac.policy"});
    CHECK(has(checked.out, line));
    CHECK_FALSE(has(checked.out, "held is not confined"));
    workspace.write("other", "allow bare.*\nallow held.*(path within ./data)\n");
    CHECK_FALSE(has(workspace.mcpac({"policy", "check", "other"}).out, "not confined"));
    const auto doctor = workspace.mcpac({"doctor"});
    CHECK(has(doctor.out, "confined servers: held"));
    CHECK(has(doctor.out, "not confined: bare: "));
    // What two servers have in common is explained once.
    CHECK(has(doctor.out, "bare has no root: a relative path in a call may be counted from"));
    CHECK(has(doctor.out, "held has no root either (paths may count from "));
    // Rules that no file has yet.
    const auto piped =
        workspace.mcpac({"policy", "check", "/dev/stdin"}, {.input = "allow bare.*\n"});
    INFO(piped.err);
    CHECK(has(piped.out, "/dev/stdin: ok, 1 rule"));
    CHECK(has(workspace.mcpac({"policy", "check", "-"}, {.input = "alow x\n"}).err,
              "standard input:1"));
    const auto list = workspace.mcpac({"server", "list"});
    CHECK(has(list.out, "./data  (not confined)"));
    CHECK(has(list.out, "(sandbox ./data:rw; network a.example:443; memory 512MB)"));
  }
}
