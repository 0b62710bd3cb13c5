// The parts of a login by themselves: what a challenge says, where documents are, who is believed.
#include <doctest/doctest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/verb.hpp>

#include "core/file.h"
#include "mcp/address.h"
#include "mcp/http_connection.h"
#include "mcp/oauth/assertion.h"
#include "mcp/oauth/challenge.h"
#include "mcp/oauth/form.h"
#include "mcp/oauth/metadata.h"
#include "mcp/oauth/pkce.h"
#include "mcp/oauth/scopes.h"
#include "mcp/oauth/store.h"
#include "mcp/oauth/web.h"
#include "mcp/server_config.h"
#include "mcp/support.h"

using namespace mcpac;
using namespace mcpac::mcp::oauth;

namespace {

mcp::Url url(std::string_view text) {
  auto parsed = mcp::parse_url(text);
  REQUIRE(parsed.has_value());
  return *parsed;
}

Json json(std::string_view text) {
  auto parsed = parse_json(text);
  REQUIRE(parsed.has_value());
  return *parsed;
}

// A fresh private key in PEM.
std::string p256_key() {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  BIO* text = BIO_new(BIO_s_mem());
  REQUIRE(PEM_write_bio_PrivateKey(text, key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
  char* bytes = nullptr;
  const auto size = BIO_get_mem_data(text, &bytes);
  std::string pem(bytes, static_cast<std::size_t>(size));
  BIO_free(text);
  EVP_PKEY_free(key);
  return pem;
}

bool is_public(const char* address) {
  return mcp::is_public(boost::asio::ip::make_address(address));
}

}  // namespace

TEST_SUITE("mcp/oauth") {
  TEST_CASE("a challenge is read in any order, with quotes and without, among other schemes") {
    const auto challenge = parse_challenge(
        R"(Basic realm="a, Bearer scope=no", bEARER error=insufficient_scope , scope="a b",)"
        R"( resource_metadata="https://x.example/\"m", DPoP scope="other")");
    CHECK(challenge.error == "insufficient_scope");
    CHECK(challenge.scope == "a b");
    CHECK(challenge.resource_metadata == R"(https://x.example/"m)");
  }

  TEST_CASE("a challenge that cannot be read says nothing and ends") {
    for (const char* text : {"", ",,,", "Bearer", "Bearer scope=\"open", "\"\"\"",
                             "= = =", "Basic scope=\"x\"", "Bearer \x01\x02"}) {
      const auto challenge = parse_challenge(text);
      CHECK(challenge.error.empty());
      CHECK(challenge.resource_metadata.empty());
    }
    CHECK(parse_challenge("Bearer scope=\"open").scope == "open");
  }

  TEST_CASE("documents are looked for at the path of the server first, then at its root") {
    CHECK(resource_documents(url("https://a.example/x/mcp?q=1")) ==
          std::vector<std::string>{"https://a.example/.well-known/oauth-protected-resource/x/mcp",
                                   "https://a.example/.well-known/oauth-protected-resource"});
    CHECK(
        issuer_documents(url("https://a.example:8443/t")) ==
        std::vector<std::string>{"https://a.example:8443/.well-known/oauth-authorization-server/t",
                                 "https://a.example:8443/.well-known/openid-configuration/t",
                                 "https://a.example:8443/t/.well-known/openid-configuration"});
    CHECK(issuer_documents(url("https://a.example")).size() == 2);
  }

  TEST_CASE("a server's metadata must be about that server") {
    const auto server = url("https://a.example/team/mcp");
    const auto believed = [&](const char* resource) {
      return read_protected_resource(Json{{"resource", resource}}, server).has_value();
    };
    CHECK(believed("https://a.example/team/mcp"));
    CHECK(believed("https://a.example/team/"));
    CHECK(believed("https://a.example"));
    CHECK_FALSE(believed("https://b.example/team/mcp"));
    CHECK_FALSE(believed("http://a.example/team/mcp"));
    CHECK_FALSE(believed("https://a.example:8443/team/mcp"));
    CHECK(believed("https://A.Example/team/mcp"));
    CHECK_FALSE(believed("https://a.example/team/mcp?tenant=other"));
    CHECK_FALSE(believed("https://a.example?tenant=other"));
    CHECK_FALSE(believed("https://a.example/team/mcp#part"));
    CHECK_FALSE(believed("https://a.example/te"));
    CHECK_FALSE(believed("https://a.example/team/mcp/more"));
    CHECK_FALSE(believed(""));
    // What the user says that tokens are for; and metadata that name nothing are about the server.
    CHECK(read_protected_resource(Json{{"resource", "api://files"}}, server, "api://files"));
    CHECK_FALSE(
        read_protected_resource(Json{{"resource", "https://b.example"}}, server, "api://files"));
    CHECK(read_protected_resource(Json::object(), server)->resource ==
          "https://a.example/team/mcp");
    const auto tenant = url("https://a.example/mcp?tenant=one");
    CHECK(read_protected_resource(Json{{"resource", "https://a.example/mcp?tenant=one"}}, tenant));
    CHECK_FALSE(
        read_protected_resource(Json{{"resource", "https://a.example/mcp?tenant=two"}}, tenant));
  }

  TEST_CASE("an issuer is compared letter by letter, but for what names the same place") {
    const auto document = json(R"({"issuer": "https://a.example", "token_endpoint":
        "https://a.example/token", "code_challenge_methods_supported": ["plain", "S256"]})");
    const auto found = read_authorization_server(document, "https://a.example");
    REQUIRE(found.has_value());
    CHECK(found->pkce);
    for (const char* same : {"https://a.example/", "https://A.Example", "https://a.example:443/"}) {
      CAPTURE(same);
      const auto there = read_authorization_server(document, same);
      REQUIRE(there.has_value());
      CHECK(there->issuer == "https://a.example");  // as it says itself
    }
    CHECK(is_same_issuer("https://a.example/t", "https://A.example:443/t/"));
    for (const char* other : {"http://a.example", "https://a.example:8443", "https://b.example",
                              "https://a.example/t", "https://a.example//", "https://a.example?",
                              "https://a.example#", "https://a.example.", "https://user@a.example",
                              "HTTPS://a.example", "https://a.example/%2f", "a.example", ""}) {
      CAPTURE(other);
      CHECK_FALSE(read_authorization_server(document, other).has_value());
      CHECK_FALSE(is_same_issuer(other, "https://a.example"));
    }
    CHECK_FALSE(is_same_issuer("https://a.example/T", "https://a.example/t"));
    CHECK_FALSE(is_same_issuer("https://a.example/t//", "https://a.example/t"));
  }

  TEST_CASE("an endpoint that is neither https nor on this machine is not called") {
    const auto with = [](const char* endpoint) {
      const Json document = {{"issuer", "https://a.example"}, {"token_endpoint", endpoint}};
      return read_authorization_server(document, "https://a.example").has_value();
    };
    CHECK(with("https://login.example/token"));
    CHECK(with("http://127.0.0.1:9/token"));
    CHECK(with("http://localhost/token"));
    CHECK_FALSE(with("http://a.example/token"));
    CHECK_FALSE(with("http://169.254.169.254/latest"));
    CHECK_FALSE(with("file:///etc/passwd"));
    CHECK_FALSE(with("https://user:secret@a.example/token"));
    CHECK_FALSE(with("javascript:alert(1)"));
    CHECK_FALSE(with("https://login.example/token#part"));
    CHECK_FALSE(with("https://login.example/`id`"));
    CHECK_FALSE(with("https://login.example/\"x"));
    CHECK_FALSE(with(("https://login.example/" + std::string(2'048, 'x')).c_str()));
    CHECK_FALSE(with(""));
  }

  TEST_CASE("private, local, reserved and wrapped addresses are not public") {
    for (const char* address :
         {"127.0.0.1", "10.1.2.3", "172.31.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1",
          "0.0.0.0", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fc00::1", "ff02::1",
          "::ffff:10.0.0.1", "2002:a00:1::", "2001:db8::1", "64:ff9b::a00:1"}) {
      CHECK_MESSAGE(!is_public(address), address);
    }
    for (const char* address : {"1.1.1.1", "172.32.0.1", "2606:4700::1111", "::ffff:1.1.1.1"}) {
      CHECK_MESSAGE(is_public(address), address);
    }
  }

  TEST_CASE("a host leads no nearer than it is: this machine is nearest, then its link") {
    const auto at = [](const char* address) {
      return mcp::reach_at(boost::asio::ip::make_address(address));
    };
    for (const char* address :
         {"127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1", "0.0.0.0", "::"})
      CHECK_MESSAGE(at(address) == mcp::Reach::kAnywhere, address);
    for (const char* address : {"169.254.169.254", "::ffff:169.254.169.254", "fe80::1"})
      CHECK_MESSAGE(at(address) == mcp::Reach::kLink, address);
    for (const char* address :
         {"10.1.2.3", "192.168.0.1", "100.64.0.1", "fc00::1", "::ffff:10.0.0.1"})
      CHECK_MESSAGE(at(address) == mcp::Reach::kNetwork, address);
    for (const char* address : {"1.1.1.1", "169.253.0.1", "2606:4700::1111"})
      CHECK_MESSAGE(at(address) == mcp::Reach::kPublic, address);
    CHECK(mcp::Reach::kPublic < mcp::Reach::kNetwork);
    CHECK(mcp::Reach::kNetwork < mcp::Reach::kLink);
    CHECK(mcp::Reach::kLink < mcp::Reach::kAnywhere);
  }

  TEST_CASE("who answers from a private network leads nobody to what only this machine reaches") {
    boost::asio::io_context loop;
    const test::HttpFixture web({}, "oauth_fixture.mjs");
    const auto lan = Web::make(loop.get_executor(), mcp::Reach::kNetwork);
    REQUIRE(lan.has_value());
    const auto refused = test::run(
        loop, lan->fetch_object("http://127.0.0.1:" + std::to_string(web.port()) + "/mcp"));
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().to_text().contains("an address of this machine"));
    CHECK(web.log().empty());
    CHECK_FALSE(lan->may_show(url("http://127.0.0.1:9/x")));
    CHECK_FALSE(lan->may_show(url("https://169.254.169.254/")));
    CHECK_FALSE(lan->may_show(url("https://localhost/")));
    CHECK(lan->may_show(url("https://10.0.0.1/")));
    CHECK(lan->may_show(url("https://login.example/")));
  }

  TEST_CASE("who answers from the internet leads neither us nor a browser to what is near") {
    boost::asio::io_context loop;
    const test::HttpFixture web({}, "oauth_fixture.mjs");
    const auto origin = "http://127.0.0.1:" + std::to_string(web.port());
    const auto far = Web::make(loop.get_executor(), mcp::Reach::kPublic);
    const auto near = Web::make(loop.get_executor(), mcp::Reach::kAnywhere);
    REQUIRE(far.has_value());
    REQUIRE(near.has_value());
    const auto refused = test::run(loop, far->fetch_object(origin + "/mcp"));
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().to_text().contains("private network"));
    CHECK(web.log().empty());
    CHECK(
        test::run(loop, near->fetch_object(origin + "/.well-known/oauth-protected-resource/mcp")));
    for (const char* page :
         {"http://127.0.0.1:9/x", "https://10.0.0.1/", "https://[::1]/", "https://localhost/",
          "https://LOCALHOST./", "https://a.localhost/", "https://2130706433/", "https://127.1/",
          "https://0x7f.1/", "https://a.0x1./"}) {
      CHECK_MESSAGE(!far->may_show(url(page)), page);
      CHECK_MESSAGE(near->may_show(url(page)), page);
    }
    for (const char* page :
         {"https://login.example/x", "https://1.1.1.1/", "https://7up.example/"}) {
      CHECK_MESSAGE(far->may_show(url(page)), page);
    }
  }

  TEST_CASE("from where a server answered is told by its connection, and not by its name") {
    boost::asio::io_context loop;
    const test::HttpFixture web({}, "oauth_fixture.mjs");
    const auto place = url("http://localhost:" + std::to_string(web.port()) + "/log");
    const auto connection = mcp::HttpConnection::make(loop.get_executor(), place, nullptr);
    REQUIRE(test::run(loop, connection->open()).has_value());
    mcp::HttpRequest request(boost::beast::http::verb::get, place.target, 11);
    request.set(boost::beast::http::field::host, place.authority());
    const auto head = test::run(loop, connection->exchange(std::move(request)));
    REQUIRE(head.has_value());
    CHECK(head->reach == mcp::Reach::kAnywhere);
    CHECK(mcp::HttpHead().reach == mcp::Reach::kPublic);
    connection->close();
  }

  TEST_CASE("parameters survive a form, and a name that comes twice is refused") {
    const Parameters given = {{"a b", "c&d=e"}, {"ü", "100%+"}, {"empty", ""}};
    const auto decoded = form_decode(form_encode(given));
    REQUIRE(decoded.has_value());
    CHECK(*decoded == given);
    CHECK_FALSE(form_decode("state=1&state=2").has_value());
    CHECK_FALSE(form_decode("a=%zz").has_value());
    CHECK_FALSE(form_decode("a=%4").has_value());
    CHECK(with_query("https://a.example/x?y=1", {{"b", "2"}}) == "https://a.example/x?y=1&b=2");
  }

  TEST_CASE("the challenge of a verifier is that of RFC 7636, appendix B") {
    CHECK(code_challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk") ==
          "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    CHECK(random_word().size() == 43);
    CHECK(random_word() != random_word());
  }

  TEST_CASE("scopes are united without losing or repeating one") {
    CHECK(unite_scopes("a b", " b  c") == "a b c");
    CHECK(unite_scopes("", "") == "");
    CHECK(contains_scopes("a b c", "c a"));
    CHECK_FALSE(contains_scopes("a", "a b"));
    CHECK(split_scopes("b a  b ") == std::vector<std::string>{"b", "a"});
  }

  TEST_CASE("as many scopes as an answer holds are read in no time") {
    std::string many;
    for (int i = 0; i < 40'000; ++i) many += std::to_string(i) + " ";
    const auto start = std::chrono::steady_clock::now();
    CHECK(split_scopes(many).size() == 40'000);
    CHECK(contains_scopes(many, many));
    // Each word against all before it would be 800 million comparisons, several seconds.
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(1));
  }

  TEST_CASE("an assertion has three parts, and only keys that are strong enough sign") {
    const auto assertion = client_assertion(p256_key(), "k1", "me", "https://a.example");
    REQUIRE_MESSAGE(assertion.has_value(), test::shown(assertion));
    CHECK(std::ranges::count(*assertion, '.') == 2);
    CHECK(assertion->starts_with(base64url(R"({"alg":"ES256","kid":"k1","typ":"JWT"})") + "."));
    CHECK(assertion->size() - assertion->rfind('.') - 1 == 86);  // 64 bytes
    CHECK_FALSE(client_assertion("no key", "", "me", "https://a.example").has_value());
  }

  TEST_CASE("what is kept of a login is readable by the user alone, and else not believed") {
    auto folder = TemporaryFolder::create("/tmp", "mcpac-logins-");
    REQUIRE(folder.has_value());
    const auto inside = folder->path() / "logins";
    Store store(inside, "web", "https://a.example/mcp");
    REQUIRE(store.load().has_value());
    CHECK(store.load()->issuer.empty());
    Kept kept;
    kept.issuer = "https://a.example";
    kept.tokens.access = "secret";
    kept.client.redirect_port = 4711;
    REQUIRE(store.save(kept).has_value());
    const auto again = Store(inside, "web", "https://a.example/mcp").load();
    REQUIRE(again.has_value());
    CHECK(again->tokens.access == "secret");
    CHECK(again->client.redirect_port == 4711);
    CHECK(Store(inside, "web", "https://b.example/mcp").load()->issuer.empty());

    const auto file = *std::filesystem::directory_iterator(inside);
    struct stat found {};
    REQUIRE(::stat(file.path().c_str(), &found) == 0);
    CHECK((found.st_mode & 0777U) == 0600);
    REQUIRE(::chmod(file.path().c_str(), 0644) == 0);
    CHECK_FALSE(store.load().has_value());
    CHECK(store.forget());
    CHECK_FALSE(store.forget());
  }

  TEST_CASE("one at a time has the turn at a login, and it ends with the descriptor") {
    auto folder = TemporaryFolder::create("/tmp", "mcpac-logins-");
    REQUIRE(folder.has_value());
    const Store one(folder->path() / "logins", "web", "https://a.example/mcp");
    const Store same(folder->path() / "logins", "web", "https://a.example/mcp");
    const Store other(folder->path() / "logins", "web", "https://b.example/mcp");
    {
      const auto turn = one.try_turn();
      REQUIRE(turn.has_value());
      CHECK(turn->has_value());
      CHECK_FALSE(same.try_turn()->has_value());
      CHECK(other.try_turn()->has_value());
    }
    CHECK(same.try_turn()->has_value());
    // In memory there is nobody else.
    CHECK(Store({}, "web", "https://a.example/mcp").try_turn()->has_value());
  }

  TEST_CASE("\"auth\" is read, written, and refused where it makes no sense") {
    const auto parse = [](const std::string& auth) {
      return mcp::parse_config(
          R"({"mcpServers": {"web": {"url": "https://a.example", "auth": )" + auth + "}}}",
          "mcpac.json");
    };
    const std::string text = R"({"grant":"client_credentials",)"
                             R"("issuer":"https://login.example/t","clientId":"me",)"
                             R"("clientSecret":"${env:S}","scopes":["a","b"],"redirectPort":8123})";
    const auto config = parse(text);
    REQUIRE_MESSAGE(config.has_value(), test::shown(config));
    CHECK(to_text(to_json(config->servers[0])["auth"]) == text);
    for (const char* wrong :
         {R"("x")", R"({"clientSecret": "s"})", R"({"grant": "client_credentials"})",
          R"({"grant": "password"})", R"({"scopes": ["a b"]})", R"({"redirectPort": 70000})",
          R"({"clientid": "x"})", R"({"clientMetadataUrl": "http://a.example"})",
          R"({"issuer": "https://b.example", "clientId": "x", "clientSecret": "s",
              "privateKey": "k"})",
          R"({"clientId": "x", "clientSecret": "s"})", R"({"clientId": "x", "privateKey": "k"})",
          R"({"issuer": "http://b.example"})", R"({"issuer": "https://b.example?t=1"})",
          R"({"issuer": "https://b.example#t"})", R"({"issuer": "b.example"})",
          R"({"issuer": 1})"}) {
      CHECK_MESSAGE(!parse(wrong).has_value(), wrong);
    }
    const std::string more =
        R"({"grant":"device_code","redirectHost":"localhost","resource":false})";
    const auto device = parse(more);
    REQUIRE_MESSAGE(device.has_value(), test::shown(device));
    CHECK(to_text(to_json(device->servers[0])["auth"]) == more);
    for (const char* wrong : {R"({"redirectHost": "evil.example"})", R"({"resource": true})",
                              R"({"resource": ""})", R"({"resource": "https://a.example#x"})"})
      CHECK_MESSAGE(!parse(wrong).has_value(), wrong);
    for (const char* right :
         {R"({"issuer": "http://127.0.0.1:9/as"})", R"({"resource": "api://files"})",
          R"({"issuer": "${env:ISSUER}"})", R"({"clientId": "x"})"}) {
      CHECK_MESSAGE(parse(right).has_value(), right);
    }
    CHECK_FALSE(
        mcp::parse_config(R"({"mcpServers": {"p": {"command": "x", "auth": {"clientId": "a"}}}})",
                          "mcpac.json")
            .has_value());
  }
}
