// The way to servers over HTTP where a proxy stands before the network, against
// tests/servers/proxy.mjs; and what of that way the programs of servers are given.
#include "mcp/proxy.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/beast/http/verb.hpp>

#include "core/file.h"
#include "mcp/environment.h"
#include "mcp/http_connection.h"
#include "mcp/oauth/web.h"
#include "mcp/support_http.h"

using namespace mcpac;
using namespace test;
namespace asio = boost::asio;

namespace {

// Of this process, for as long as it lives; nothing: not set.
class WithVariables {
 public:
  explicit WithVariables(const std::map<std::string, std::string>& variables) {
    for (const auto& [name, value] : variables) {
      before_.emplace(name, mcp::process_variable(name.c_str()));
      REQUIRE(::setenv(name.c_str(), value.c_str(), 1) == 0);
    }
  }
  WithVariables(const WithVariables&) = delete;
  WithVariables& operator=(const WithVariables&) = delete;
  ~WithVariables() {
    for (const auto& [name, value] : before_) {
      if (value)
        ::setenv(name.c_str(), value->c_str(), 1);
      else
        ::unsetenv(name.c_str());
    }
  }

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

using Environment = std::map<std::string, std::string>;

Result<std::optional<mcp::Proxy>> chosen(const std::string& url, const Environment& environment) {
  return mcp::proxy_for(
      mcp::parse_url(url).value(), [&](const char* name) -> std::optional<std::string> {
        const auto found = environment.find(name);
        return found == environment.end() ? std::nullopt : std::optional(found->second);
      });
}

// "host:port", "" for none.
std::string place(const std::string& url, const Environment& environment) {
  const auto proxy = chosen(url, environment);
  REQUIRE_MESSAGE(proxy.has_value(), test::shown(proxy));
  return *proxy ? (*proxy)->place() : "";
}

std::string proxy_url(const HttpFixture& proxy, const std::string& login = "") {
  return fmt::format("http://{}127.0.0.1:{}", login, proxy.port());
}

mcp::ServerConfig named(const std::string& url) {
  mcp::ServerConfig config;
  config.name = "web";
  config.url = url;
  return config;
}

}  // namespace

TEST_SUITE("mcp/proxy") {
  TEST_CASE("the proxy is the one that the environment names, as curl reads it") {
    const std::string https = "https://a.example/mcp";
    const std::string http = "http://a.example/mcp";
    CHECK(place(https, {}).empty());
    CHECK(place(https, {{"HTTPS_PROXY", "http://p:3128"}}) == "p:3128");
    CHECK(place(https, {{"HTTPS_PROXY", "p:3128/"}}) == "p:3128");
    CHECK(place(https, {{"HTTPS_PROXY", "http://p"}}) == "p:1080");
    CHECK(place(https, {{"HTTPS_PROXY", "http://[::2]:3128"}}) == "[::2]:3128");
    CHECK(place(https, {{"HTTPS_PROXY", "http://p:1"}, {"https_proxy", "http://q:2"}}) == "q:2");
    CHECK(place(https, {{"HTTPS_PROXY", "http://p:1"}, {"https_proxy", ""}}) == "p:1");
    CHECK(place(https, {{"HTTP_PROXY", "http://p:1"}}).empty());
    CHECK(place(https, {{"ALL_PROXY", "http://p:1"}}) == "p:1");
    CHECK(place(http, {{"HTTP_PROXY", "http://p:1"}}) == "p:1");
    CHECK(place(http, {{"HTTPS_PROXY", "http://p:1"}}).empty());
    // In a CGI program it is a header of the client's.
    CHECK(place(http, {{"HTTP_PROXY", "http://p:1"}, {"REQUEST_METHOD", "GET"}}).empty());
    CHECK(place(http, {{"http_proxy", "http://p:1"}, {"REQUEST_METHOD", "GET"}}) == "p:1");
    const auto login = chosen(https, {{"HTTPS_PROXY", "http://jo:p%40ss%3A@p:1"}});
    REQUIRE(login);
    CHECK((*login)->authorization == "Basic am86cEBzczo=");
    CHECK((*login)->place() == "p:1");
    // Never a direct connection, nor a word of the value.
    for (const char* value :
         {"socks5://jo:hunter2@p:1", "https://jo:hunter2@p:1", "http://jo:hunter2@",
          "http://jo:hunter2@p:port", "http://jo:hunter2@p:1/path", "http://jo:hunter2%zz@p:1",
          "http://a%3Ab:hunter2@p:1", "hunter2://"}) {
      CAPTURE(value);
      const auto refused = chosen(https, {{"HTTPS_PROXY", value}});
      REQUIRE_FALSE(refused);
      CHECK(refused.error().what.contains("HTTPS_PROXY"));
      CHECK_FALSE(refused.error().fix.empty());
      CHECK_FALSE(refused.error().to_text().contains("hunter2"));
    }
  }

  TEST_CASE("what NO_PROXY names goes without one, and this machine always does") {
    const auto is_direct = [](const std::string& url, const std::string& list) {
      return place(url, {{"HTTPS_PROXY", "http://p:1"}, {"NO_PROXY", list}}).empty();
    };
    for (const auto& [url, list] : std::vector<std::pair<std::string, std::string>>{
             {"https://a.example/", "*"},
             {"https://a.example/", "b,a.example"},
             {"https://A.EXAMPLE/", "a.example"},
             {"https://a.example./", "a.example"},
             {"https://x.a.example/", "a.example"},
             {"https://x.a.example/", ".a.example"},
             {"https://x.a.example/", "*.a.example"},
             {"https://a.example/", ".a.example"},
             {"https://a.example:8443/", "a.example:8443"},
             {"https://a.example/", "b.example a.example"},
             {"https://10.1.2.3/", "10.0.0.0/8"},
             {"https://10.1.2.3/", "10.1.2.3"},
             {"https://10.1.2.3:8443/", "10.1.2.3:8443"},
             {"https://[fd00::1]/", "fd00::/8"},
             {"https://[fd00::1]/", "[fd00::1]"},
             {"https://[fd00::1]:8443/", "[fd00::1]:8443"},
             {"https://[::ffff:10.1.2.3]/", "10.0.0.0/8"}}) {
      CAPTURE(url);
      CAPTURE(list);
      CHECK(is_direct(url, list));
    }
    for (const auto& [url, list] :
         std::vector<std::pair<std::string, std::string>>{{"https://a.example/", ""},
                                                          {"https://xa.example/", "a.example"},
                                                          {"https://a.example.com/", "a.example"},
                                                          {"https://a.example/", "a.example:8443"},
                                                          {"https://a.example/", "a.example:"},
                                                          {"https://11.1.2.3/", "10.0.0.0/8"},
                                                          {"https://10.1.2.3/", "10.0.0.0/33"},
                                                          {"https://10.1.2.3/", "10.0.0.0/"},
                                                          {"https://10.1.2.3/", "2.3"},
                                                          {"https://a.example/", ","}}) {
      CAPTURE(url);
      CAPTURE(list);
      CHECK_FALSE(is_direct(url, list));
    }
    for (const char* url :
         {"https://localhost/", "https://LOCALHOST./", "https://x.localhost/", "https://127.9.9.9/",
          "https://[::1]/", "https://[::ffff:127.0.0.1]/", "https://0.0.0.0/"})
      CHECK(place(url, {{"HTTPS_PROXY", "http://p:1"}, {"ALL_PROXY", "http://p:1"}}).empty());
  }

  TEST_CASE("servers are reached through a proxy with a login: a tunnel for https, URLs for http") {
    const auto folder =
        TemporaryFolder::create(std::filesystem::temp_directory_path(), "mcpac-proxy-");
    REQUIRE(folder.has_value());
    const auto key = (folder->path() / "key.pem").string();
    const auto cert = (folder->path() / "cert.pem").string();
    REQUIRE(
        ::system(fmt::format("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 "
                             "-nodes -days 2 -subj /CN=mcp.example -addext "
                             "subjectAltName=DNS:mcp.example -keyout {} -out {} 2>/dev/null",
                             key, cert)
                     .c_str()) == 0);
    const HttpFixture web({"initialize", "--key", key, "--cert", cert});
    const HttpFixture proxy({"--to", std::to_string(web.port()), "--login", "jo:p@ss:w0rd"},
                            "proxy.mjs");
    const HttpFixture plain({"initialize"});
    const HttpFixture to_plain({"--to", std::to_string(plain.port()), "--login", "jo:p@ss:w0rd"},
                               "proxy.mjs");
    const std::string login = "jo:p%40ss%3Aw0rd@";
    const WithVariables way({{"https_proxy", proxy_url(proxy, login)},
                             {"http_proxy", proxy_url(to_plain, login)},
                             {"no_proxy", "other.example"},
                             {"SSL_CERT_FILE", cert}});
    for (const auto& [url, through] : {std::pair("https://mcp.example:8443/json", &proxy),
                                       std::pair("http://mcp.example:8080/sse", &to_plain)}) {
      CAPTURE(std::string(url));
      ConnectedOverHttp server(named(url));
      REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
      CHECK(server.list()->tools.size() == 7);
      const auto headers = parse_json(text_of(server.call("headers")));
      REQUIRE(headers);
      CHECK_FALSE(headers->contains("proxy-authorization"));
      CHECK((*headers)["host"] == (through == &proxy ? "mcp.example:8443" : "mcp.example:8080"));
      const Json log = through->log();
      REQUIRE_FALSE(log.empty());
      for (const Json& one : log) {
        CHECK(one["login"] == "Basic am86cEBzczp3MHJk");
        CHECK(one["method"] == (through == &proxy ? "CONNECT" : one["method"]));
        CHECK(one["url"] == (through == &proxy ? "mcp.example:8443" : url));
        if (through == &proxy) CHECK(one["headers"].size() == 3);  // nothing of the call's
      }
    }
    // A certificate of another name is none here either.
    ConnectedOverHttp other(named("https://mcp2.example/json"));
    REQUIRE_FALSE(other.client);
    CHECK(other.client.error().id == ErrorId::kServerTls);
    CHECK(other.client.error().fix.contains("SSL_CERT_FILE"));
    // Loopback never: neither proxy leads to that port.
    ConnectedOverHttp near(plain.config("/json"));
    CHECK_MESSAGE(near.client.has_value(), test::shown(near.client));
    for (const Json& one : to_plain.log())
      CHECK_FALSE(one["url"].get<std::string>().contains("127.0.0.1"));
  }

  TEST_CASE("a proxy that refuses is named with what to do, and its password nowhere") {
    const HttpFixture web({"initialize"});
    const HttpFixture proxy({"--to", std::to_string(web.port()), "--login", "jo:right"},
                            "proxy.mjs");
    const HttpFixture closed({"--to", "1", "--refuse", "403"}, "proxy.mjs");
    for (const auto& [value, what] : std::vector<std::pair<std::string, std::string>>{
             {proxy_url(proxy), "the proxy wants a login"},
             {proxy_url(proxy, "jo:hunter2@"), "does not accept the login"},
             {proxy_url(closed, "jo:hunter2@"), "403"},
             {"http://jo:hunter2@127.0.0.1:1", "cannot connect"},
             {"socks5://jo:hunter2@127.0.0.1:1", "cannot be used"}}) {
      const WithVariables way({{"HTTPS_PROXY", value}, {"https_proxy", ""}});
      ConnectedOverHttp server(named("https://mcp.example/json"));
      REQUIRE_FALSE(server.client);
      const auto text = server.client.error().to_text();
      CAPTURE(text);
      CHECK(text.contains(what));
      CHECK(text.contains("HTTPS_PROXY"));
      CHECK_FALSE(text.contains("hunter2"));
      CHECK_FALSE(text.contains("am86aHVudGVyMg"));
    }
    const WithVariables way({{"HTTP_PROXY", proxy_url(proxy, "jo:hunter2@")}, {"http_proxy", ""}});
    ConnectedOverHttp server(named("http://mcp.example/json"));
    REQUIRE_FALSE(server.client);
    CHECK(server.client.error().to_text().contains("does not accept the login"));
  }

  TEST_CASE(
      "a token in the name of a proxy's login is a secret, a name beside a password is none") {
    for (const std::string login :
         {"tok3n:@", "tok3n@", "tok3n:x@", "tok3n:x-oauth-basic@", "jo%40work:tok3n@"}) {
      CAPTURE(login);
      const WithVariables way({{"HTTPS_PROXY", "http://" + login + "127.0.0.1:1"}});
      mcp::SecretValues secrets;
      mcp::know_proxies(secrets);
      CHECK(secrets.redact("by tok3n, jo@work") == "by ${env:HTTPS_PROXY}, jo@work");
    }
  }

  TEST_CASE("a proxy leads what a server named no further than a direct connection would") {
    const HttpFixture web({"initialize"});
    const HttpFixture proxy({"--to", std::to_string(web.port())}, "proxy.mjs");
    const WithVariables way({{"https_proxy", proxy_url(proxy)}, {"http_proxy", proxy_url(proxy)}});
    std::string here(256, '\0');
    REQUIRE(::gethostname(here.data(), here.size() - 1) == 0);
    here.resize(here.find('\0'));
    asio::io_context loop;
    auto near = mcp::oauth::Web::make(loop.get_executor(), mcp::Reach::kPublic);
    REQUIRE(near);
    for (const std::string& host : {std::string("10.0.0.1"), std::string("169.254.169.254"),
                                    std::string("[fd00::1]"), here}) {
      CAPTURE(host);
      mcp::oauth::WebRequest request;
      request.url = "https://" + host + "/";
      CHECK_FALSE(test::run(loop, near->fetch(std::move(request))));
    }
    // Whoever answers through it may name public places alone, though the proxy stands on this
    // machine.
    const auto connection = mcp::HttpConnection::make(
        loop.get_executor(), mcp::parse_url("http://10.0.0.1/log").value(), nullptr);
    const auto opened = test::run(loop, connection->open());
    REQUIRE_MESSAGE(opened.has_value(), test::shown(opened));
    mcp::HttpRequest request(boost::beast::http::verb::get, "/log", 11);
    request.set(boost::beast::http::field::host, "10.0.0.1");
    const auto head = test::run(loop, connection->exchange(std::move(request)));
    REQUIRE_MESSAGE(head.has_value(), test::shown(head));
    CHECK(head->reach == mcp::Reach::kPublic);
    connection->close();
    const Json log = proxy.log();
    REQUIRE(log.size() == 1);
    CHECK(log[0]["url"] == "http://10.0.0.1/log");
  }

  TEST_CASE("authorities that cannot be read are said, and an empty variable is none") {
    {
      const WithVariables gone(Environment{{"SSL_CERT_FILE", "/nowhere/ca.pem"}});
      const auto context = mcp::make_tls_context();
      REQUIRE_FALSE(context);
      CHECK(context.error().what.contains("SSL_CERT_FILE"));
      CHECK(context.error().where == "/nowhere/ca.pem");
    }
    const WithVariables empty(Environment{{"SSL_CERT_FILE", ""}, {"SSL_CERT_DIR", ""}});
    CHECK(mcp::make_tls_context().has_value());
  }

  TEST_CASE(
      "a server gets the way to the network, and a proxy's password that it repeats is not shown") {
    const std::map<std::string, std::string> names = {{"HTTPS_PROXY", "http://jo:hunter2@p:1"},
                                                      {"no_proxy", "a"},
                                                      {"ALL_PROXY", "p"},
                                                      {"SSL_CERT_FILE", "/a"},
                                                      {"SSL_CERT_DIR", "/b"},
                                                      {"NODE_EXTRA_CA_CERTS", "/c"},
                                                      {"REQUESTS_CA_BUNDLE", "/d"},
                                                      {"CURL_CA_BUNDLE", "/e"},
                                                      {"NODE_USE_ENV_PROXY", "1"},
                                                      {"GIT_SSL_CAINFO", "/f"}};
    const std::map<std::string, std::string> others = {
        {"NODE_TLS_REJECT_UNAUTHORIZED", "0"}, {"PROXY_TOKEN", "x"}, {"MY_TOKEN", "x"}};
    const WithVariables passed(names);
    const WithVariables kept(others);
    const auto environment = mcp::make_environment({{"NO_PROXY", "own"}});
    const auto has = [&](const std::string& line) {
      return std::ranges::find(environment, line) != environment.end();
    };
    for (const auto& [name, value] : names) CHECK_MESSAGE(has(name + "=" + value), name);
    for (const auto& [name, value] : others) CHECK_MESSAGE(!has(name + "=" + value), name);
    CHECK(has("NO_PROXY=own"));
    mcp::ServerConfig config;
    config.name = "away";
    config.command = "sh";
    config.arguments = {"-c", "echo \"$HTTPS_PROXY: getaddrinfo ENOTFOUND a.example\" >&2; exit 1"};
    Connected server(config);
    REQUIRE_FALSE(server.client);
    const auto text = server.client.error().to_text();
    CAPTURE(text);
    CHECK_FALSE(text.contains("hunter2"));
    CHECK(text.contains("${env:HTTPS_PROXY}"));
    CHECK(text.contains("behind a proxy set HTTPS_PROXY and NO_PROXY"));
    for (const char* line : {"Error: self-signed certificate in certificate chain",
                             "x509: certificate signed by unknown authority",
                             "invalid peer certificate: UnknownIssuer",
                             "ssl.SSLCertVerificationError: [SSL: CERTIFICATE_VERIFY_FAILED]"})
      CHECK_MESSAGE(mcp::network_advice(line).contains("NODE_EXTRA_CA_CERTS"), line);
    for (const char* line :
         {"curl: (6) Could not resolve host: a", "dial tcp: lookup a: no such host",
          "dns error: failed to lookup address information", "connect ETIMEDOUT"})
      CHECK_MESSAGE(mcp::network_advice(line).contains("HTTPS_PROXY"), line);
    CHECK(mcp::network_advice("TypeError: x is not a function").empty());
  }
}
