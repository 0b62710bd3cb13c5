// URLs that a deny over any string catches, though read_url() refuses them.
#include <doctest/doctest.h>

#include "core/json_schema.h"
#include "policy/match/url.h"
#include "policy/support_world.h"

namespace mcpac::policy::testing {
namespace {

bool is_caught(const std::string& text, const std::string& rule = "*.*(* host evil.com)") {
  const World world;
  auto authority = world
                       .load({LayerText{.name = "the command line",
                                        .grants = {"gateway.*"},
                                        .asks = {},
                                        .denies = {rule},
                                        .files = {}}})
                       .value();
  const auto tool = Permission::parse("gateway.invoke_tool").value();
  return !authority.decide(tool, {{"name", "x"}, {"arguments", {{"text", text}}}}).allowed();
}

}  // namespace

TEST_CASE("a deny over any string catches URLs that parsers read apart") {
  for (const char* text :
       {"http://evil.com", "http://x@evil.com/", "http:\\\\evil.com", "http:/evil.com",
        " http://evil.com", "HTTP:evil.com", "http:///evil.com", "http://good.com\\@evil.com/",
        "ht\ntp://evil.com/", "http://ev\til.com/", "\x01http://evil.com/\n", "http:\nevil.com",
        "http://evil.com/a\nb", "http://evil.com and more", "wss:evil.com", "http:/\\evil.com",
        "http://good.com @evil.com/", "http://good.com\n @evil.com"}) {
    CHECK_MESSAGE(is_caught(text), std::string(text));
  }
}

TEST_CASE("a deny over any string on a host catches every way to write an authority") {
  for (const char* text : {"evil.com",
                           "EVIL.com.",
                           "evil.com:443",
                           "evil.com/path",
                           "evil.com?q",
                           "evil.com:8080/x",
                           "//evil.com",
                           "//evil.com/x",
                           "\\\\evil.com\\share",
                           "//ev\til.com",
                           "ssh://evil.com",
                           "ssh://git@evil.com:22/x",
                           "git@evil.com:owner/repo.git",
                           "user:pw@evil.com",
                           "bob@evil.com",
                           "mailto:bob@evil.com",
                           "git+https://evil.com/x.git",
                           "git+ssh://git@evil.com/x",
                           "postgres://u:p@evil.com/db",
                           "view-source:https://evil.com/",
                           "url:ssh://evil.com",
                           "\"https://evil.com\"",
                           "'evil.com'",
                           "<https://evil.com>",
                           "(https://evil.com/x)",
                           "`ssh://evil.com`",
                           "https://evil.com,",
                           " \"ssh://evil.com\" ",
                           "ssh://ev%69l.com",
                           "ev%69l.com",
                           "git::ssh://evil.com/x",
                           "file://evil.com/share",
                           "good.com,evil.com",
                           "good.com;evil.com:80",
                           "jdbc:x:y://evil.com/db",
                           "//u@evil.com",
                           "ssh://evil.com and more",
                           "ev\xE2\x93\x98l.com",
                           "evil\xE3\x80\x82"
                           "com"}) {
    CHECK_MESSAGE(is_caught(text), std::string(text));
  }
}

TEST_CASE("a deny over any string on hosts lets ordinary texts through") {
  for (const char* text : {"",
                           "http",
                           "http:",
                           "http: the protocol",
                           "ftp: upload\nfailed",
                           "Note: http is old",
                           "see evil.com for more",
                           "evil.com is not a good place",
                           "https://good.com/\nand more",
                           "https://good.com is nice\nevil.com is not",
                           "https://good.com/a\\b",
                           "file:///x",
                           "mailto:a@b.c",
                           "https://good.com\nmore",
                           "see http:/evil",
                           "notevil.com",
                           "evil.com.good.com",
                           "https://good.com/?u=https://evil.com",
                           "good.com/evil.com",
                           "@evil.com/package",
                           "evil",
                           "// evil.com",
                           "src/evil.community"}) {
    CHECK_MESSAGE(!is_caught(text), std::string(text));
  }
}

TEST_CASE("an address is caught however it is named, and numbers that are none are not") {
  const char* rule = "*.*(* ip in {10.0.0.0/8, 127.0.0.0/8, ::1/128})";
  for (const char* text : {"10.0.0.5", "10.0.0.5:22", "ssh://10.0.0.5", "root@10.0.0.5", "//10.5/x",
                           "127.1:8080", "[::1]:80", "::1", "localhost", "localhost:8080",
                           "0x7f000001", "2130706433:80", "git@localhost:x"}) {
    CHECK_MESSAGE(is_caught(text, rule), std::string(text));
  }
  for (const char* text :
       {"10.5", "10.0.1", "167772165", "12:34:56", "10", "10 apples", "1.2.3.4", "v10.0.0.5"}) {
    CHECK_MESSAGE(!is_caught(text, rule), std::string(text));
  }
}

TEST_CASE("a name alone is a host to rules that say which, and a scheme is not made up") {
  for (const char* text : {"readme.md", "v1.2", "ssh://a.com", "//a.com/x", "a.com:80"}) {
    CHECK_MESSAGE(!is_caught(text, "*.*(* host *)"), text);
    CHECK_MESSAGE(!is_caught(text, "*.*(* scheme http)"), text);
    CHECK_MESSAGE(!is_caught(text, "*.*(* port 80)"), text);
  }
  CHECK(is_caught("https://a.com/x", "*.*(* host *)"));
  const char* both = "*.*(* host evil.com scheme https port {443, 8443})";
  for (const char* text : {"evil.com", "evil.com:443", "git+https://evil.com:8443"})
    CHECK_MESSAGE(is_caught(text, both), text);
  for (const char* text : {"evil.com:80", "ssh://evil.com", "http://evil.com"})
    CHECK_MESSAGE(!is_caught(text, both), text);
  CHECK(is_caught("a.evil.com./x", "*.*(* host *.evil.com.)"));
}

namespace {

bool is_fetched(const std::vector<std::string>& denies, const char* url,
                const char* grant = "http.get(url scheme https host good.com)") {
  const World world;
  auto authority = world
                       .load({LayerText{.name = "the command line",
                                        .grants = {grant},
                                        .asks = {},
                                        .denies = denies,
                                        .files = {}}})
                       .value();
  const auto tool = Permission::parse("http.get").value();
  const auto schema = JsonSchema::compile(world.tools.at(tool)).value();
  Json arguments = {{"url", url}};
  return !authority.complete(tool, *schema, arguments) &&
         authority.decide(tool, arguments).allowed();
}

}  // namespace

TEST_CASE("a path below a host is denied however it is spelled") {
  const std::vector<std::string> denies = {
      "http.get(url host good.com starts \"https://good.com/secret\")"};
  for (const char* grant : {"http.get(url scheme https host good.com)", "http.get"}) {
    for (const char* url :
         {"https://good.com/secret", "https://good.com//secret", "https://good.com/%73ecret",
          "https://good.com/x/../secret", "https://good.com/x/%2e%2e/secret",
          "https://good.com/x/..%2fsecret", "https://good.com/x%5c..%5csecret",
          "https://good.com/.//secret", "https://good.com/x//../../secret"}) {
      CHECK_MESSAGE(!is_fetched(denies, url, grant), url);
    }
    for (const char* url :
         {"https://good.com/", "https://good.com/a%20b/%C3%BC", "https://good.com/group%2Fproject",
          "https://good.com/?next=%2F..%2Fsecret", "https://good.com/web/2020/https://x.org/",
          "https://good.com/a..b/c", "https://good.com/?a//b"}) {
      CHECK_MESSAGE(is_fetched(denies, url, grant), url);
    }
  }
}

TEST_CASE("a URL that is admitted by its host is sent without codes that it does not need") {
  const World world;
  auto authority = world.grant({"http.get(url scheme https host good.com)"}).value();
  const auto tool = Permission::parse("http.get").value();
  const auto schema = JsonSchema::compile(world.tools.at(tool)).value();
  Json arguments = {{"url", "https://GOOD.com/%61dmin/%7Eu//x?q=%2F"}};
  CHECK_FALSE(authority.complete(tool, *schema, arguments));
  CHECK(arguments["url"] == "https://good.com/admin/~u//x?q=%2F");
  CHECK(authority.decide(tool, arguments).allowed());
}

TEST_CASE("a last dot of a host is one spelling, in rules and in values") {
  for (const char* grant :
       {"http.get(url scheme https host good.com.)", "http.get(url scheme https host *.good.com.)",
        "http.get(url scheme https host {good.com., x.org})"}) {
    CHECK_MESSAGE(is_fetched({}, "https://good.com/", grant), grant);
    CHECK_MESSAGE(is_fetched({}, "https://good.com./", grant), grant);
    CHECK_FALSE(is_fetched({"http.get(url host good.com)"}, "https://good.com./", grant));
    CHECK_FALSE(is_fetched({"*.*(* host good.com.)"}, "https://good.com/", grant));
  }
}

}  // namespace mcpac::policy::testing
