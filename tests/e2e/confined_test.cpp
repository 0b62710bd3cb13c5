// Servers with a "sandbox": real ones do their work, and one that tries everything gets nothing
// that its entry did not give, whatever the rules say of its arguments.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <grp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>
#include <tuple>

#include "core/file.h"
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

  TEST_CASE("a confined server that ends says how, what it wrote, and what it had") {
    const Confined confined;
    confined.generate();
    const std::string ended = confined.attempt("end", "3");
    INFO(ended);
    CHECK(has(ended, "exit status 3"));
    CHECK(has(ended, "sandbox"));
  }
}
