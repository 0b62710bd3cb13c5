// mcpac as an OAuth protected resource: which tokens open what, and which nothing.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <openssl/hmac.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "gate/support_gate.h"
#include "gateway/oauth/resource_server.h"
#include "gateway/support_http.h"
#include "gateway/support_jwt.h"
#include "gateway/support_serving.h"
#include "gateway/support_session.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::testing;
using namespace std::chrono_literals;
using e2e::Workspace;

namespace {

Json changed(Json claims, const std::string& name, const Json& value) {
  claims[name] = value;
  return claims;
}

// A resource server with an issuer whose set of keys the test holds.
struct Resource {
  explicit Resource(Json the_keys = Json::array()) : keys(std::move(the_keys)) {
    clock.stop();
    auto fetch = [this]() -> boost::asio::awaitable<Result<Json>> {
      ++fetches;
      if (hangs) co_await hanging.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
      if (fails) co_return fail(ErrorId::kServerHttp, "the issuer is away");
      co_return Json{{"keys", keys}};
    };
    oauth::OauthSettings settings{.issuer = kIssuer,
                                  .audience = kAudience,
                                  .scopes = {{"read", "/r.policy"}, {"write", "/w.policy"}}};
    auto source = std::make_unique<oauth::KeySource>(loop.get_executor(), std::move(fetch), clock,
                                                     [this](const std::string&) { ++failures; });
    server = std::make_unique<oauth::ResourceServer>(settings, std::move(source), clock);
  }
  std::expected<oauth::Authorized, http::Refusal> admit(const std::string& token) {
    std::optional<std::expected<oauth::Authorized, http::Refusal>> out;
    boost::asio::co_spawn(loop, server->admit(token),
                          [&](const std::exception_ptr& bug, auto given) {
                            REQUIRE_FALSE(bug);
                            out.emplace(std::move(given));
                          });
    loop.restart();
    loop.run();
    REQUIRE(out.has_value());
    return *out;
  }
  // The status that a token is answered with; 200: it opens something.
  unsigned status(const std::string& token) {
    auto given = admit(token);
    return given ? 200 : given.error().status;
  }

  boost::asio::io_context loop;
  gate::testing::WorldClock clock;
  Json keys;
  int fetches = 0;
  int failures = 0;
  bool fails = false;
  bool hangs = false;
  boost::asio::steady_timer hanging{loop, boost::asio::steady_timer::time_point::max()};
  std::unique_ptr<oauth::ResourceServer> server;
};

}  // namespace

TEST_SUITE("gateway/oauth") {
  TEST_CASE("keys that are to be read anew and cannot be are those that there were") {
    const TestKey key("EdDSA", "one");
    const TestKey next("EdDSA", "two");
    Resource resource(Json::array({key.jwk()}));
    const auto renew = [&] {
      boost::asio::co_spawn(resource.loop, resource.server->renew_keys(), boost::asio::detached);
      resource.loop.restart();
      resource.loop.run();
    };
    CHECK(resource.status(key.sign(claims_of())) == 200);
    resource.fails = true;
    renew();
    CHECK(resource.fetches == 2);
    CHECK(resource.failures == 1);
    CHECK(resource.status(key.sign(claims_of())) == 200);
    // No set of keys is no answer.
    resource.fails = false;
    resource.keys = "none today";
    renew();
    CHECK(resource.failures == 2);
    CHECK(resource.status(key.sign(claims_of())) == 200);
    // Another one is: read at once, whatever the pause.
    resource.keys = Json::array({next.jwk()});
    renew();
    CHECK(resource.fetches == 4);
    CHECK(resource.status(key.sign(claims_of())) == 401);
    CHECK(resource.status(next.sign(claims_of())) == 200);
    resource.keys = Json::array();
    renew();
    CHECK(resource.status(next.sign(claims_of())) == 401);
  }

  TEST_CASE("a token of the issuer for this resource opens what its scopes are worth") {
    for (const std::string algorithm : {"RS256", "PS256", "ES256", "EdDSA"}) {
      CAPTURE(algorithm);
      const TestKey key(algorithm, "one");
      Resource resource(Json::array({key.jwk()}));
      const auto who = resource.admit(key.sign(claims_of("write profile read")));
      REQUIRE(who.has_value());
      CHECK(who->policies == std::vector<std::filesystem::path>{"/r.policy", "/w.policy"});
      CHECK(who->name.starts_with("mcpac serve, alice by editor, read write ("));
      CHECK(resource.status(key.sign(claims_of(), {{"typ", "JWT"}})) == 200);
      CHECK(resource.status(key.sign(claims_of(), {{"typ", nullptr}})) == 200);
      CHECK(resource.status(key.sign(claims_of(), {{"kid", nullptr}})) == 200);
      const Json many = Json::array({"https://other.example", kAudience});
      CHECK(resource.status(key.sign(changed(claims_of(), "aud", many))) == 200);
      CHECK(resource.fetches == 1);
    }
  }

  TEST_CASE("a client is subject, client and scopes: the same again has the same name") {
    const TestKey key("EdDSA", "one");
    Resource resource(Json::array({key.jwk()}));
    const auto name = [&](const Json& claims) { return resource.admit(key.sign(claims))->name; };
    const std::string first = name(claims_of());
    CHECK(name(changed(claims_of(), "jti", "another")) == first);
    CHECK(name(claims_of("read write")) != first);
    CHECK(name(changed(claims_of(), "sub", "bob")) != first);
    CHECK(name(changed(claims_of(), "client_id", "other")) != first);
    const std::string shown = name(changed(claims_of(), "sub", "a\n\x1b[31mb"));
    CHECK(shown.find('\n') == std::string::npos);
    CHECK(shown.find('\x1b') == std::string::npos);
  }

  TEST_CASE("claims that are not what they must be open nothing") {
    const TestKey key("ES256", "one");
    Resource resource(Json::array({key.jwk()}));
    const std::vector<Json> wrong{
        changed(claims_of(), "iss", "https://issuer.example/"),
        changed(claims_of(), "iss", Json::array({kIssuer})),
        changed(claims_of(), "aud", "https://mcpac.example"),
        changed(claims_of(), "aud", Json::array({"https://other.example"})),
        changed(claims_of(), "aud", nullptr),
        changed(claims_of(), "exp", now_in(-2min)),
        changed(claims_of(), "exp", std::to_string(now_in(5min))),
        changed(claims_of(), "exp", nullptr),
        changed(claims_of(), "nbf", now_in(2min)),
        changed(claims_of(), "iat", now_in(1h)),
        changed(claims_of(), "nbf", "soon"),
        changed(claims_of(), "sub", ""),
        changed(claims_of(), "sub", 5),
        changed(claims_of(), "sub", std::string(300, 'a')),
        changed(claims_of(), "cnf", {{"jkt", "x"}})};
    for (const Json& claims : wrong) {
      CAPTURE(claims.dump());
      const auto given = resource.admit(key.sign(claims));
      REQUIRE_FALSE(given.has_value());
      CHECK(given.error().status == 401);
      CHECK(given.error().challenge == "error=\"invalid_token\"");
    }
    CHECK(resource.fetches == 0);  // nobody asks the issuer for such
    // Clocks differ by a little.
    CHECK(resource.status(key.sign(changed(claims_of(), "exp", now_in(-30s)))) == 200);
    CHECK(resource.status(key.sign(changed(claims_of(), "nbf", now_in(30s)))) == 200);
    resource.clock.pass(7min);
    CHECK(resource.status(key.sign(claims_of())) == 401);
  }

  TEST_CASE("a token without a scope that opens anything is refused with 403") {
    const TestKey key("EdDSA", "one");
    Resource resource(Json::array({key.jwk()}));
    for (const std::string scope : {"", "other", "READ", "read:all", "readwrite"}) {
      CAPTURE(scope);
      const auto given = resource.admit(key.sign(claims_of(scope)));
      REQUIRE_FALSE(given.has_value());
      CHECK(given.error().status == 403);
      CHECK(given.error().challenge == "error=\"insufficient_scope\"");
    }
    Json listed = claims_of();
    listed.erase("scope");
    listed["scp"] = Json::array({"write"});
    CHECK(resource.status(key.sign(listed)) == 200);
  }

  TEST_CASE("algorithms that are no signatures, and keys that a token brings, are not believed") {
    const TestKey key("RS256", "one");
    const TestKey other("RS256", "one");
    Resource resource(Json::array({key.jwk()}));
    const std::string good = key.sign(claims_of());
    CHECK(resource.status(good) == 200);
    const std::string claims = base64url(claims_of().dump());
    const auto with_header = [&](const Json& header) {
      return base64url(header.dump()) + "." + claims;
    };
    for (const std::string algorithm : {"none", "None", "nOnE", "HS256", "RS1", "RS512", ""}) {
      const std::string text = with_header({{"alg", algorithm}, {"kid", "one"}});
      CHECK(resource.status(text + ".") == 401);
      CHECK(resource.status(text + "." + base64url(key.signature_of(text))) == 401);
    }
    // HMAC under the public key's text: the confusion of RFC 8725 section 2.1.
    const std::string text = with_header({{"alg", "HS256"}, {"kid", "one"}});
    const std::string secret = key.jwk().dump();
    std::string mac(32, '\0');
    HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
         reinterpret_cast<const unsigned char*>(text.data()), text.size(),
         reinterpret_cast<unsigned char*>(mac.data()), nullptr);
    CHECK(resource.status(text + "." + base64url(mac)) == 401);
    // The same key, another algorithm than it is for.
    const std::string pss = with_header({{"alg", "PS256"}, {"kid", "one"}});
    CHECK(resource.status(pss + "." + base64url(key.signature_of(pss))) == 401);
    CHECK(resource.status(other.sign(claims_of())) == 401);
    CHECK(resource.status(other.sign(claims_of(), {{"jwk", other.jwk()}})) == 401);
    CHECK(resource.status(other.sign(claims_of(), {{"jku", "https://evil.example/keys"},
                                                   {"x5u", "https://e.example"}})) == 401);
    CHECK(resource.status(key.sign(claims_of(), {{"crit", Json::array({"exp"})}})) == 401);
    for (const std::string type : {"dpop+jwt", "logout+jwt", "secevent+jwt", "id_token"})
      CHECK(resource.status(key.sign(claims_of(), {{"typ", type}})) == 401);
    CHECK(resource.fetches == 1);
  }

  TEST_CASE("a token that was changed anywhere opens nothing") {
    const TestKey key("ES256", "one");
    Resource resource(Json::array({key.jwk()}));
    const std::string good = key.sign(claims_of());
    REQUIRE(resource.status(good) == 200);
    for (std::size_t i = 0; i < good.size(); ++i) {
      std::string bad = good;
      bad[i] = bad[i] == 'A' ? 'B' : 'A';
      CAPTURE(i);
      CHECK(resource.status(bad) == 401);
    }
    for (const std::string& bad :
         {good + "=", good + ".", good + "A", "." + good, good.substr(0, good.size() - 1),
          good.substr(0, good.rfind('.')), std::string(), std::string(".."),
          std::string(20'000, 'a'), good.substr(0, good.rfind('.')) + "."})
      CHECK(resource.status(bad) == 401);
  }

  TEST_CASE("keys of other kinds, other uses, and too weak ones are none") {
    const TestKey rsa("RS256", "r");
    const TestKey ec("ES256", "e");
    const auto without = [](Json jwk, const std::string& name) {
      jwk.erase(name);
      return jwk;
    };
    Json off_curve = ec.jwk();
    off_curve["y"] = off_curve["x"];
    const std::vector<Json> bad{
        changed(rsa.jwk(), "use", "enc"),
        changed(rsa.jwk(), "key_ops", Json::array({"encrypt"})),
        changed(rsa.jwk(), "alg", "HS256"),
        changed(rsa.jwk(), "alg", "none"),
        changed(rsa.jwk(), "n", base64url(std::string(128, '\xff'))),    // 1,024 bits
        changed(rsa.jwk(), "n", base64url(std::string(2'048, '\xff'))),  // 16,384 bits
        changed(rsa.jwk(), "e", base64url("\x01")),
        changed(rsa.jwk(), "e", base64url("\x02")),
        changed(rsa.jwk(), "e", base64url(std::string(9, '\xff'))),
        changed(rsa.jwk(), "n", "not base64url!"),
        without(rsa.jwk(), "e"),
        changed(ec.jwk(), "crv", "P-521"),
        changed(ec.jwk(), "crv", "secp256k1"),
        changed(ec.jwk(), "x", base64url("short")),
        off_curve,
        Json{{"kty", "oct"}, {"k", base64url("secret")}, {"kid", "o"}},
        Json("a text"),
        Json(nullptr)};
    for (const Json& jwk : bad) {
      CAPTURE(jwk.dump());
      CHECK_FALSE(oauth::read_key(jwk).has_value());
    }
    Json set = Json::array();
    for (const Json& jwk : bad) set.push_back(jwk);
    set.push_back(ec.jwk());
    CHECK(oauth::read_keys({{"keys", set}}).size() == 1);
    CHECK(oauth::read_keys({{"keys", "x"}}).empty());
  }

  TEST_CASE(
      "a new key is found, and made-up keys do not make the issuer be asked again and again") {
    const TestKey first("EdDSA", "first");
    const TestKey second("EdDSA", "second");
    Resource resource(Json::array({first.jwk()}));
    CHECK(resource.status(first.sign(claims_of())) == 200);
    resource.keys = Json::array({second.jwk()});
    for (int i = 0; i < 50; ++i) {
      const TestKey made_up("EdDSA", fmt::format("made-up-{}", i));
      CHECK(resource.status(made_up.sign(claims_of())) == 401);
    }
    CHECK(resource.fetches == 1);
    CHECK(resource.status(second.sign(claims_of())) == 401);
    resource.clock.pass(31s);
    CHECK(resource.status(second.sign(claims_of())) == 200);
    CHECK(resource.status(first.sign(claims_of())) == 401);  // it was taken back
    CHECK(resource.fetches == 2);
  }

  TEST_CASE("an issuer that is away is asked less and less, and locks nobody out for a moment") {
    const TestKey key("EdDSA", "one");
    Resource resource(Json::array({key.jwk()}));
    const auto token = [&] {  // of the time that it is
      Json claims = claims_of();
      claims["exp"] = now_in(48h);
      return key.sign(claims);
    };
    CHECK(resource.status(token()) == 200);
    resource.fails = true;
    resource.clock.pass(61min);
    CHECK(resource.status(token()) == 200);
    CHECK(resource.fetches == 2);
    for (int i = 0; i < 10; ++i) {
      resource.clock.pass(10s);
      CHECK(resource.status(token()) == 200);
    }
    CHECK(resource.fetches == 3);  // after 60 seconds, and not yet after 120 more
    CHECK(resource.failures == 2);
    resource.clock.pass(25h);
    CHECK(resource.status(token()) == 401);
    resource.fails = false;
    resource.clock.pass(11min);
    CHECK(resource.status(token()) == 200);
  }

  TEST_CASE("an issuer that hangs keeps one request waiting, not all with tokens of known keys") {
    const TestKey key("EdDSA", "one");
    Resource resource(Json::array({key.jwk()}));
    Json claims = claims_of();
    claims["exp"] = now_in(48h);
    const std::string token = key.sign(claims);
    CHECK(resource.status(token) == 200);
    resource.hangs = true;
    resource.fails = true;
    resource.clock.pass(61min);
    std::vector<int> answered;
    for (const int who : {1, 2, 3}) {
      boost::asio::co_spawn(resource.loop, resource.server->admit(token),
                            [&answered, who](const std::exception_ptr& bug, const auto& given) {
                              if (!bug && given.has_value()) answered.push_back(who);
                            });
    }
    resource.loop.restart();
    resource.loop.poll();
    CHECK(answered == std::vector<int>{2, 3});
    resource.hanging.cancel();
    resource.loop.run();
    CHECK(answered == std::vector<int>{2, 3, 1});
    CHECK(resource.fetches == 2);
  }

  TEST_CASE("a token that was let in stands until its time is over, or its key was taken back") {
    const TestKey key("EdDSA", "one");
    const TestKey next("EdDSA", "next");
    Resource resource(Json::array({key.jwk()}));
    const auto who = resource.admit(key.sign(claims_of()));
    REQUIRE(who.has_value());
    const auto stands = [&](std::chrono::milliseconds grace = 0ms) {
      return resource.server->still_admits(*who, grace);
    };
    CHECK(stands());
    resource.clock.pass(350s);  // five minutes, and a minute of leeway
    CHECK(stands());
    resource.clock.pass(20s);
    CHECK_FALSE(stands());
    CHECK(stands(5min));
    resource.keys = Json::array({next.jwk()});
    CHECK(resource.status(next.sign(claims_of())) == 401);  // its time is over as well
    Json later = claims_of();
    later["exp"] = now_in(1h);
    CHECK(resource.status(next.sign(later)) == 200);
    CHECK_FALSE(stands(5min));
  }

  TEST_CASE("who is one person to an issuer is one subject, whatever the token is for") {
    const TestKey key("EdDSA", "one");
    Resource resource(Json::array({key.jwk()}));
    const auto subject = [&](const std::string& scopes, const std::string& client,
                             const std::string& sub = "alice") {
      const Json claims = changed(changed(claims_of(scopes), "client_id", client), "sub", sub);
      return resource.admit(key.sign(claims)).value().subject;
    };
    CHECK(subject("read", "editor") == subject("read write", "phone"));
    CHECK(subject("read", "editor") != subject("read", "editor", "alic"));
  }

  TEST_CASE("settings that are not safe are refused") {
    const oauth::OauthSettings good{
        .issuer = kIssuer, .audience = kAudience, .scopes = {{"read", "/r.policy"}}};
    CHECK(oauth::check(good).has_value());
    auto bad = good;
    bad.issuer = "http://issuer.example";
    CHECK_FALSE(oauth::check(bad).has_value());
    bad = good;
    bad.audience = "mcpac";
    CHECK_FALSE(oauth::check(bad).has_value());
    bad = good;
    bad.audience = "https://mcpac.example/\"x";
    CHECK_FALSE(oauth::check(bad).has_value());
    bad = good;
    bad.scopes.clear();
    CHECK_FALSE(oauth::check(bad).has_value());
    bad.scopes = {{"a\"b", "/x"}};
    CHECK_FALSE(oauth::check(bad).has_value());
  }

  TEST_CASE("mcpac serve says where tokens are to be had, and takes them") {
    const Workspace workspace(Workspace::fixture("plain"));
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    workspace.write("echo.policy", "allow fixture.echo\n");
    workspace.write("slow.policy", "allow fixture.slow\n");
    const TestKey key("ES256", "one");
    workspace.write("keys.json", Json{{"keys", Json::array({key.jwk()})}}.dump());
    const Serving serving(
        workspace, {"--oauth-issuer", kIssuer, "--oauth-audience", kAudience, "--oauth-jwks",
                    "keys.json", "--scope", "read=echo.policy", "--scope", "write=slow.policy"});
    CHECK(serving.token().empty());
    const auto ask = [&](const std::string& token) {
      return post(serving.port(), {.token = token,
                                   .more = stateless_headers("tools/list"),
                                   .body = request(1, "tools/list", stateless()).dump()});
    };
    const std::string begin =
        "resource_metadata=\"https://mcpac.example/.well-known/oauth-protected-resource/mcp\", "
        "scope=\"read write\"";
    const auto nobody = ask("");
    CHECK(nobody.status == 401);
    CHECK(nobody.header("www-authenticate") == "Bearer realm=\"mcpac\", " + begin);
    CHECK(ask("x.y.z").header("www-authenticate") ==
          "Bearer realm=\"mcpac\", error=\"invalid_token\", " + begin);
    const auto poor = ask(key.sign(claims_of("other")));
    CHECK(poor.status == 403);
    CHECK(poor.header("www-authenticate") ==
          "Bearer realm=\"mcpac\", error=\"insufficient_scope\", " + begin);
    const auto tools = ask(key.sign(claims_of("read"))).json().at("result").at("tools");
    REQUIRE(tools.size() == 1);
    CHECK(tools[0].at("name") == "fixture.echo");
    CHECK(ask(key.sign(claims_of("read write"))).json().at("result").at("tools").size() == 2);
    RawClient client(serving.port());
    client.send(
        fmt::format("GET /.well-known/oauth-protected-resource/mcp HTTP/1.1\r\nHost: "
                    "127.0.0.1:{}\r\n\r\n",
                    serving.port()));
    const auto document = client.read();
    CHECK(document.status == 200);
    CHECK(document.json().at("resource") == kAudience);
    CHECK(document.json().at("authorization_servers") == Json::array({kIssuer}));
    CHECK(document.json().at("scopes_supported") == Json::array({"read", "write"}));
    // The record names who it was, and holds nothing of a token.
    const auto started = events(workspace, "RunStarted");
    REQUIRE_FALSE(started.empty());
    CHECK(std::string(started[0].at("payload").at("program"))
              .starts_with("mcpac serve, alice by editor, read ("));
  }
}
