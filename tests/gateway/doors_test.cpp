// The doors of one `mcpac serve`: which token opens which, and how they close while somebody waits.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <string>
#include <vector>

#include "gateway/support_http.h"
#include "gateway/support_jwt.h"
#include "gateway/support_serving.h"
#include "gateway/support_session.h"
#include "gateway/support_tls.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::testing;
using namespace std::chrono_literals;
using e2e::Workspace;

namespace {

// An issuer that takes connections and says nothing.
class SilentIssuer {
 public:
  SilentIssuer() : listening_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof place;
    auto* address = reinterpret_cast<sockaddr*>(&place);
    REQUIRE(::bind(listening_.get(), address, size) == 0);
    REQUIRE(::listen(listening_.get(), 8) == 0);
    REQUIRE(::getsockname(listening_.get(), address, &size) == 0);
    url_ = fmt::format("http://127.0.0.1:{}", ntohs(place.sin_port));
  }
  [[nodiscard]] const std::string& url() const { return url_; }
  // Somebody came within ten seconds.
  [[nodiscard]] bool is_asked() const {
    pollfd watched{listening_.get(), POLLIN, 0};
    return ::poll(&watched, 1, 10'000) == 1;
  }

 private:
  UniqueFd listening_;
  std::string url_;
};

Post list_tools(const std::string& token) {
  return {.token = token,
          .more = stateless_headers("tools/list"),
          .body = request(1, "tools/list", stateless()).dump()};
}

std::uint16_t port_of(const Json& door) {
  const std::string url = string_member(door, "http");
  return static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
}

std::string status_at(std::uint16_t port, const std::string& token) {
  TlsClient client(port);
  REQUIRE(client.is_open());
  Post listing = list_tools(token);
  listing.host = fmt::format("localhost:{}", port);
  client.send(post_text(port, listing));
  return client.read_until("\r\n\r\n").substr(9, 3);
}

}  // namespace

TEST_SUITE("gateway/doors") {
  TEST_CASE("mcpac serve ends in order while an issuer is asked about a token") {
    const Workspace workspace(Workspace::fixture("plain"));
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    workspace.write("echo.policy", "allow fixture.echo\n");
    const TestKey key("ES256", "one");
    for (const bool has_other_work : {false, true}) {
      const SilentIssuer issuer;
      Json claims = claims_of();
      claims["iss"] = issuer.url();
      std::vector<std::string> options{"--oauth-issuer", issuer.url(), "--oauth-audience",
                                       kAudience,        "--scope",    "read=echo.policy"};
      if (has_other_work) options.insert(options.end(), {"--grant", "fixture.slow"});
      Serving serving(workspace, options);
      RawClient waiting(serving.port());
      waiting.send(post_text(serving.port(), list_tools(key.sign(claims))));
      REQUIRE(issuer.is_asked());
      RawClient busy(serving.port());
      if (has_other_work) {
        const Json params = stateless({{"name", "fixture.slow"}, {"arguments", {{"ms", 300}}}});
        busy.send(
            post_text(serving.port(), {.token = serving.token(),
                                       .more = stateless_headers("tools/call", "fixture.slow"),
                                       .body = request(1, "tools/call", params).dump()}));
      }
      const auto begin = std::chrono::steady_clock::now();
      CHECK(serving.end() == 0);
      CHECK(std::chrono::steady_clock::now() - begin < 8s);
      CHECK(waiting.read_all().find("200 OK") == std::string::npos);
    }
  }

  TEST_CASE("the one-time token opens the doors of this machine, and none of the network") {
    const Workspace workspace(Workspace::fixture("plain"));
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    workspace.write("echo.policy", "allow fixture.echo\n");
    std::ignore = make_certificate(workspace.folder(), "own");
    const auto created =
        workspace.mcpac({"token", "create", "one", "--policy", "echo.policy", "--json"});
    REQUIRE(created.exit_code == 0);
    Serving serving(workspace,
                    {"--http", "0.0.0.0:0", "--host", "localhost", "--tls-cert", "own.crt",
                     "--tls-key", "own.key", "--tokens", "--grant", "fixture.echo"});
    REQUIRE(serving.doors().size() == 2);
    CHECK_FALSE(serving.token().empty());
    CHECK_FALSE(serving.doors()[1].contains("token"));
    const auto network = port_of(serving.doors()[1]);
    CHECK(status_at(serving.port(), serving.token()) == "200");
    CHECK(status_at(network, serving.token()) == "401");
    const std::string own = created.json().at("token");
    CHECK(status_at(serving.port(), own) == "200");
    CHECK(status_at(network, own) == "200");
    CHECK(serving.end() == 0);
  }
}
