// The small parts of the client: secrets, printable text, URLs, header values, server-sent events.
#include <doctest/doctest.h>
#include <stdlib.h>

#include "core/file.h"
#include "core/printable.h"
#include "mcp/http_headers.h"
#include "mcp/secrets.h"
#include "mcp/sse_parser.h"
#include "mcp/url.h"

using namespace mcpac;

namespace {

std::vector<std::string> events(const std::vector<std::string>& pieces, std::size_t limit = 1000) {
  mcp::SseParser parser(limit);
  std::vector<std::string> out;
  for (const auto& piece : pieces) {
    parser.push(piece);
    while (auto data = parser.next()) out.push_back(*data);
  }
  return out;
}

}  // namespace

TEST_SUITE("mcp/secrets") {
  TEST_CASE("references are expanded, other text stays") {
    ::setenv("MCPAC_TEST_A", "alpha-value", 1);
    mcp::SecretValues secrets;
    CHECK(secrets.expand("x${env:MCPAC_TEST_A}y${env:MCPAC_TEST_A}", "w") ==
          std::string("xalpha-valueyalpha-value"));
    CHECK(secrets.expand("${HOME} $5 ${input:x} }{", "w") ==
          std::string("${HOME} $5 ${input:x} }{"));
    // The default where it is not set, or empty.
    ::setenv("MCPAC_TEST_EMPTY", "", 1);
    CHECK(secrets.expand("${env:MCPAC_TEST_EMPTY:-a:b-c} ${env:MCPAC_TEST_NONE:-}${env:X_Y_Z:-$5}",
                         "w") == std::string("a:b-c $5"));
    CHECK(secrets.redact("a:b-c") == "a:b-c");
    CHECK(secrets.expand("${env:MCPAC_TEST_A:-other}", "w") ==
          secrets.expand("${env:MCPAC_TEST_A}", "w"));
    for (const char* text : {"${env:A:-${env:B}}", "${env:A:?b}", "${env:A-b}", "${env::-b}"})
      CHECK_MESSAGE(secrets.expand(text, "w").error().id == ErrorId::kConfigInvalid, text);
    CHECK(secrets.expand("$${env:MCPAC_TEST_A} $${x} $$5", "w") ==
          std::string("${env:MCPAC_TEST_A} ${x} $$5"));
    CHECK(secrets.redact("is alpha-value here") == "is ${env:MCPAC_TEST_A} here");
  }

  TEST_CASE("a file's final newline is no part of the secret") {
    auto folder = TemporaryFolder::create("/tmp", "mcpac-test-");
    REQUIRE(folder.has_value());
    const auto path = (folder->path() / "token").string();
    REQUIRE(write_file_atomic(path, "from-a-file\r\n").has_value());
    mcp::SecretValues secrets;
    CHECK(secrets.expand("${file:" + path + "}", "w") == std::string("from-a-file"));
    CHECK(secrets.redact("from-a-file") == "${file:" + path + "}");
    CHECK(secrets.expand("${file:/no/such/file}", "w").error().id == ErrorId::kSecretMissing);
  }

  TEST_CASE(
      "of the tokens that a server gives one after the other the last are taken out of texts") {
    mcp::SecretValues secrets;
    const auto token = [](std::size_t i) { return "token-number-" + std::to_string(1'000 + i); };
    secrets.keep("the-secret-that-stays", "${login:web}");
    for (std::size_t i = 0; i < 2 * mcp::SecretValues::kMostKept; ++i) {
      secrets.keep(token(i), "${login:web}");
      secrets.keep("the-secret-that-stays", "${login:web}");
    }
    CHECK(secrets.redact(token(0)) == token(0));
    CHECK(secrets.redact("a " + token(2 * mcp::SecretValues::kMostKept - 1)) == "a ${login:web}");
    CHECK(secrets.redact("the-secret-that-stays") == "${login:web}");
    // What the configuration has is never forgotten.
    ::setenv("MCPAC_TEST_A", "alpha-value", 1);
    REQUIRE(secrets.expand("${env:MCPAC_TEST_A}", "w").has_value());
    for (std::size_t i = 0; i < 2 * mcp::SecretValues::kMostKept; ++i) {
      secrets.keep(token(i), "${login:web}");
    }
    CHECK(secrets.redact("alpha-value") == "${env:MCPAC_TEST_A}");
  }

  TEST_CASE("what leads nowhere is an error") {
    mcp::SecretValues secrets;
    CHECK(secrets.expand("${env:MCPAC_NOT_SET_AT_ALL}", "w").error().id == ErrorId::kSecretMissing);
    CHECK(secrets.expand("${env:}", "w").error().id == ErrorId::kConfigInvalid);
    CHECK(secrets.expand("${env:A", "w").error().id == ErrorId::kConfigInvalid);
  }

  TEST_CASE("the longer of two values that start alike is found whole") {
    ::setenv("MCPAC_TEST_SHORT", "token", 1);
    ::setenv("MCPAC_TEST_LONG", "token-and-more", 1);
    mcp::SecretValues secrets;
    REQUIRE(secrets.expand("${env:MCPAC_TEST_SHORT}${env:MCPAC_TEST_LONG}", "w").has_value());
    CHECK(secrets.redact("token-and-more token") ==
          "${env:MCPAC_TEST_LONG} ${env:MCPAC_TEST_SHORT}");
  }

  TEST_CASE("of two values that overlap nothing is left") {
    mcp::SecretValues secrets;
    secrets.keep("secret-one-and", "${login:a}");
    secrets.keep("and-the-other", "${login:b}");
    CHECK(secrets.redact("<secret-one-and-the-other>") == "<${login:a}>");
    CHECK(secrets.redact("secret-one-andand-the-other") == "${login:a}${login:b}");
    CHECK_FALSE(secrets.occurs_in("secret-one-an d-the-other"));
  }

  TEST_CASE("what is known is not forgotten for others") {
    mcp::SecretValues secrets;
    secrets.know("the-first-secret", "[redacted]");
    for (std::size_t i = 0; i < 2 * mcp::SecretValues::kMostKept; ++i)
      secrets.keep("token-number-" + std::to_string(1'000 + i), "${login:web}");
    CHECK(secrets.redact("the-first-secret") == "[redacted]");
  }

  TEST_CASE("JSON forms, percent-encoded forms and single lines are found") {
    ::setenv("MCPAC_TEST_ODD", "a\"b/c d\nsecond line of it", 1);
    mcp::SecretValues secrets;
    REQUIRE(secrets.expand("${env:MCPAC_TEST_ODD}", "w").has_value());
    const std::string ref = "${env:MCPAC_TEST_ODD}";
    CHECK(secrets.redact(R"(a\"b/c d\nsecond line of it)") == ref);
    CHECK(secrets.redact("a%22b%2Fc%20d%0Asecond%20line%20of%20it") == ref);
    CHECK(secrets.redact("> second line of it <") == "> " + ref + " <");
    Json value = {{"k", {"a\"b/c d\nsecond line of it", 1}}, {"second line of it", true}};
    secrets.redact(value);
    CHECK(to_text(value).find("second line") == std::string::npos);
    OrderedJson ordered = {{"z", 1}, {"second line of it", 2}};
    secrets.redact(ordered);
    CHECK(to_text(ordered) == R"({"z":1,"${env:MCPAC_TEST_ODD}":2})");
  }

  TEST_CASE("values of three bytes and variables that every server gets are not redacted") {
    ::setenv("MCPAC_TEST_TINY", "abc", 1);
    ::setenv("HOME", "/home/somebody", 1);
    mcp::SecretValues secrets;
    REQUIRE(secrets.expand("${env:MCPAC_TEST_TINY}${env:HOME}", "w").has_value());
    CHECK(secrets.redact("abc /home/somebody") == "abc /home/somebody");
  }
}

TEST_SUITE("mcp/printable") {
  TEST_CASE(
      "colours go, other control characters become visible, long text is cut between letters") {
    CHECK(printable("\x1b[31mred\x1b[0m\nnext\ttab\r\n") == "red next tab");
    CHECK(printable("\x1b]0;title\x07") == "\\u001b]0;title\\u0007");
    CHECK(printable("a\xc2\x9b"
                    "b") == "a\\u009bb");
    CHECK(printable("ääää", 3) == "ä…");
  }
}

TEST_SUITE("mcp/url") {
  TEST_CASE("URLs are taken apart") {
    const auto url = mcp::parse_url("https://example.com:8443/mcp?x=1#part");
    REQUIRE(url.has_value());
    CHECK(url->tls);
    CHECK(url->host == "example.com");
    CHECK(url->port == 8443);
    CHECK(url->target == "/mcp?x=1");
    CHECK(url->authority() == "example.com:8443");
    const auto six = mcp::parse_url("http://[::1]");
    REQUIRE(six.has_value());
    CHECK(six->host == "::1");
    CHECK(six->target == "/");
    CHECK(six->authority() == "[::1]");
    CHECK(six->is_address());
  }

  TEST_CASE("what is no plain http URL is refused") {
    for (const auto* text :
         {"", "ftp://a/", "http://", "http://a b/", "http://a/\r\nX: y", "http://u:p@a/",
          "http://a:0/", "http://a:99999/", "http://a:8x/", "http://[::1/", "http://[zz]/",
          "http://ä/", "http://a\\b/", "http://:80/"}) {
      CAPTURE(text);
      CHECK_FALSE(mcp::parse_url(text).has_value());
    }
  }
}

TEST_SUITE("mcp/headers") {
  TEST_CASE("values that a header cannot carry are encoded") {
    CHECK(mcp::encode_header_value("read_file") == "read_file");
    CHECK(mcp::encode_header_value("a b") == "a b");
    CHECK(mcp::encode_header_value(" a") == "=?base64?IGE=?=");
    CHECK(mcp::encode_header_value("a\r\nb") == "=?base64?YQ0KYg==?=");
    CHECK(mcp::encode_header_value("=?base64?literal?=") == "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=");
  }

  TEST_CASE("a session id is visible ASCII of limited length") {
    CHECK(mcp::is_session_id("abc-123"));
    CHECK_FALSE(mcp::is_session_id(""));
    CHECK_FALSE(mcp::is_session_id("a b"));
    CHECK_FALSE(mcp::is_session_id("a\r\nb"));
    CHECK_FALSE(mcp::is_session_id(std::string(2000, 'x')));
  }
}

TEST_SUITE("mcp/sse") {
  TEST_CASE("events are found however the stream is cut") {
    const std::string text =
        "\xef\xbb\xbf: hello\r\n\r\nevent: message\ndata: one\n\nid: 7\rdata:two\rdata:  three\r\r"
        "data\n\nretry: 25\n\nid: only\ndata: last\n\ndata: cut off";
    const std::vector<std::string> expected = {"one", "two\n three", "", "last"};
    CHECK(events({text}) == expected);
    for (std::size_t i = 0; i <= text.size(); ++i) {
      CAPTURE(i);
      CHECK(events({text.substr(0, i), text.substr(i)}) == expected);
    }
    std::vector<std::string> bytes;
    for (const char c : text) bytes.emplace_back(1, c);
    CHECK(events(bytes) == expected);
  }

  TEST_CASE("id and retry are kept, an id that no header can carry is not") {
    mcp::SseParser parser(100);
    parser.push("id: 5\nretry: 30\ndata:\n\nid: a\x01\ndata: x\n\n");
    while (parser.next()) {
    }
    CHECK(parser.last_id() == "5");
    CHECK(parser.retry() == std::chrono::milliseconds(30));
  }

  TEST_CASE("an event over the limit is an error that stays, in one line or in many") {
    for (const std::string& piece :
         {std::string("data: xxxxxxxxx"), std::string("data: xxxxxxxxx\n")}) {
      mcp::SseParser parser(50);
      for (int i = 0; i < 20; ++i) {
        parser.push(piece);
        CHECK_FALSE(parser.next().has_value());
      }
      CHECK(parser.over_long());
    }
  }
}
