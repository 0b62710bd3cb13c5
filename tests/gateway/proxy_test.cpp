// The HTTP door behind a proxy that ends TLS: Debian's nginx, configured as its users do.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "e2e/workspace.h"
#include "gateway/support_http.h"
#include "gateway/support_serving.h"
#include "gateway/support_session.h"
#include "gateway/support_tls.h"
#include "places.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::testing;
using e2e::Workspace;

namespace {

// Installed, or unpacked by ./dev test: Debian starts a web server where it is installed.
std::string nginx_program() {
  for (const std::string& place :
       {std::string("/usr/sbin/nginx"),
        mcpac::testing::in_source("tests/servers/debian/usr/sbin/nginx")})
    if (::access(place.c_str(), X_OK) == 0) return place;
  return "";
}

// A port that no other program can have meanwhile: nginx, which says the same (SO_REUSEPORT),
// listens beside this socket, which does not.
struct KeptPort {
  KeptPort() : fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int yes = 1;
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof place;
    REQUIRE(::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes) == 0);
    REQUIRE(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&place), size) == 0);
    REQUIRE(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&place), &size) == 0);
    port = ntohs(place.sin_port);
  }
  UniqueFd fd;
  std::uint16_t port = 0;
};

bool is_open(std::uint16_t port) {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(port);
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0;
}

class Nginx {
 public:
  // Until it listens at this port.
  Nginx(const std::string& program, const std::filesystem::path& folder, std::uint16_t port) {
    const std::string place = folder.string();
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(127);
      ::execl(program.c_str(), "nginx", "-p", place.c_str(), "-c", "nginx.conf", "-e", "nginx.log",
              nullptr);
      ::_exit(127);
    }
    for (int i = 0; i < 1'000 && !is_open(port) && ::waitpid(pid_, nullptr, WNOHANG) == 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    REQUIRE(is_open(port));
  }
  ~Nginx() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Nginx(const Nginx&) = delete;
  Nginx& operator=(const Nginx&) = delete;

 private:
  pid_t pid_ = 0;
};

// The answer with its head, as nginx hands it on.
std::string through(std::uint16_t port, const std::string& token, const std::string& more,
                    const std::string& until, const std::string& host = "") {
  TlsClient client(port);
  client.send(post_text(port, {.token = token,
                               .more = stateless_headers("tools/list") + more,
                               .host = host.empty() ? fmt::format("localhost:{}", port) : host,
                               .body = request(1, "tools/list", stateless()).dump()}));
  return client.read_until(until);
}

}  // namespace

TEST_SUITE("gateway/proxy") {
  TEST_CASE("behind nginx, which ends TLS, clients come by the public URL, and nobody by another") {
    const std::string nginx = nginx_program();
    if (nginx.empty()) {
      MESSAGE("skipped: no nginx (Debian's package nginx; ./dev test unpacks it)");
      return;
    }
    const Workspace workspace(Workspace::fixture("plain"));
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    const auto files = make_certificate(workspace.folder(), "own");
    // What people write: nothing, and three ways to pass the name on. nginx speaks HTTP/1.0.
    const std::array<std::string, 4> headers = {"", "proxy_set_header Host $host;",
                                                "proxy_set_header Host $http_host;",
                                                "proxy_set_header Host $host:$server_port;"};
    std::vector<KeptPort> sockets(headers.size());
    std::vector<std::string> options{"--grant", "fixture.*"};
    for (const auto& socket : sockets) {
      options.emplace_back("--public-url");
      options.push_back(fmt::format("https://localhost:{}/mcp/", socket.port));
    }
    Serving serving(workspace, options);
    CHECK(serving.doors().front().at("public").size() == sockets.size());
    std::string servers;
    for (std::size_t i = 0; i < headers.size(); ++i)
      servers += fmt::format(
          "server {{ listen 127.0.0.1:{} ssl reuseport; server_name localhost; location / {{ "
          "proxy_pass "
          "http://127.0.0.1:{}; {} }} }}\n",
          sockets[i].port, serving.port(), headers[i]);
    const std::string where = workspace.folder().string();
    std::string temporary;
    for (const char* name : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"})
      temporary += fmt::format("{}_temp_path {}/nginx-{};\n", name, where, name);
    workspace.write(
        "nginx.conf",
        fmt::format("daemon off; master_process off; pid nginx.pid;\nevents {{}}\nhttp {{ "
                    "access_log off; ssl_certificate {}; ssl_certificate_key {};\n{}{}}}\n",
                    files.certificate.string(), files.key.string(), temporary, servers));
    const Nginx proxy(nginx, workspace.folder(), sockets.back().port);

    for (const auto& socket : sockets) {
      CAPTURE(&socket - sockets.data());
      const std::string origin = fmt::format("Origin: https://localhost:{}\r\n", socket.port);
      CHECK(through(socket.port, serving.token(), origin, "fixture.echo")
                .starts_with("HTTP/1.1 200"));
      const std::string evil =
          through(socket.port, serving.token(), "Origin: https://evil.example\r\n", "--public-url");
      CHECK(evil.starts_with("HTTP/1.1 403"));
      CHECK(evil.find("the header Origin says https://evil.example") != std::string::npos);
    }
    const std::string bent =
        through(sockets[2].port, serving.token(), "", "--public-url", "evil.example");
    CHECK(bent.starts_with("HTTP/1.1 403"));
    CHECK(bent.find("the header Host says evil.example") != std::string::npos);

    // The official client, over the whole way: a session, a call, and events before its answer.
    const std::string url = fmt::format("https://localhost:{}/mcp/", sockets[1].port);
    const auto client = e2e::run_program(
        {"env", "NODE_EXTRA_CA_CERTS=" + files.certificate.string(), "node",
         mcpac::testing::in_source("tests/gateway/sdk_client.mjs"), "http", url, serving.token(),
         Json::array({made("fixture.echo", {{"apple", "red"}})}).dump()},
        workspace.environment(), {.folder = workspace.folder()});
    INFO(client.err);
    REQUIRE(client.exit_code == 0);
    CHECK(text_in(client.json().at("results").at(0)).find("red") != std::string::npos);
    CHECK(serving.end() == 0);
  }
}
