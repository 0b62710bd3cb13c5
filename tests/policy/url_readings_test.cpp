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

TEST_CASE(
    "an authority is found wherever it stands: in lists, connection strings, options, prose") {
  for (const char* text : {"mongodb://good:1,evil.com:2/db",
                           "postgresql://a,evil.com/db",
                           "good.com,https://evil.com",
                           "https://good.com,https://evil.com",
                           "https://good.com/x,https://evil.com/y",
                           "https://good.com;https://evil.com",
                           "https://good.com/|https://evil.com",
                           "https://good.com https://evil.com",
                           "https://good.com/x\thttps://evil.com",
                           "good.com\nevil.com",
                           "good.com evil.com",
                           "good.com;evil.com",
                           "good.com|evil.com",
                           "good.com\tevil.com",
                           "evil.com::module",
                           "rsync evil.com::module/x .",
                           "evil.com:/srv/data",
                           "sip:user@evil.com",
                           "mailto:evil@evil.com?subject=x",
                           "git+ssh:evil.com",
                           "url=https://evil.com",
                           "--url=https://evil.com",
                           "--url https://evil.com",
                           "-x evil.com:3128",
                           "--proxy evil.com",
                           "@https://evil.com",
                           "///evil.com",
                           "https:/evil.com",
                           "https:///evil.com",
                           "http:evil.com",
                           "jdbc:postgresql://evil.com/db",
                           "jdbc:sqlserver://;serverName=evil.com;databaseName=x",
                           "jdbc:oracle:thin:@evil.com:1521:sid",
                           "jdbc:oracle:thin:@//evil.com:1521/x",
                           "(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=evil.com)(PORT=1521)))",
                           "user:pass@tcp(evil.com:3306)/db",
                           "user:pass@tcp(evil.com)/db",
                           "Server=evil.com;Database=x",
                           "Server=tcp:evil.com,1433;Database=x",
                           "data source=tcp:evil.com,1433",
                           "Data Source = evil.com\\INSTANCE; User Id = x",
                           "host=evil.com port=5432",
                           "host = 'evil.com' port = 5432",
                           "hosts=good.com,evil.com",
                           "[a](https://evil.com)",
                           "[https://good.com](https://evil.com)",
                           "![](//evil.com/x.png)",
                           "<img src=//evil.com/x>",
                           "HTTPS_PROXY=evil.com:3128",
                           "export ALL_PROXY=socks5h://evil.com:1080",
                           "curl -X POST evil.com",
                           "ssh evil.com ls",
                           "git clone evil.com:x/y.git",
                           "url=https%3A%2F%2Fevil.com%2Fx",
                           "a=1&url=https://evil.com",
                           "url1=https://good.com/&url2=https://evil.com",
                           "$(curl https://evil.com)",
                           "\xE2\x80\x9Chttps://evil.com\xE2\x80\x9D",
                           "please look at https://evil.com/x and tell me what you think",
                           "go to https://evil.com! it is the best of all places",
                           "it is **https://evil.com** and nothing else that we want",
                           "[https://evil.com] is where you find it, I think...",
                           "look at https://evil.com... or do not, as you like it",
                           "amqp://u:p@good.com,u2:p2@evil.com/vhost",
                           "ssh -J evil.com good.com",
                           "user%40evil.com",
                           "please write to bob@evil.com as soon as you can",
                           "the database is at evil.com:5432 and it is slow",
                           "he found it on evil.com/path some days ago, it seems",
                           "we set host=evil.com in all of the files there",
                           "we pull from git@evil.com:x/y.git every night at two",
                           "services:\n  db:\n    host: evil.com\n    user: somebody else\n",
                           "{\n  \"host\": \"evil.com\", // not JSON, by this comment here\n}",
                           "//user:word@evil.com/share",
                           "https://evil.com@db.com",
                           "https://evil.com\\@db.com",
                           "https://db.com\\@evil.com",
                           "https://user:evil.com@db.com"}) {
    CHECK_MESSAGE(is_caught(text), std::string(text));
  }
}

TEST_CASE("a text of more authorities than anybody reads is caught, and long ones cost no square") {
  const auto repeated = [](std::string_view what, std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += what;
    return text;
  };
  CHECK(is_caught(repeated("https://good.com/ ", 20'000)));
  CHECK(is_caught(repeated("https://good.com/ ", 5'000) + "https://evil.com"));
  CHECK_FALSE(is_caught(repeated("https://good.com/ ", 5'000)));
  // A second each with a square in it; here they come to some milliseconds.
  for (const char* piece : {"a: ",    "a+",   "[",    ",a",     "//a,",     "(",      "@",
                            "a:1",    "x,//", "%2f",  "?a=//x", "&u=%2f",   "-ha.b ", "&#47;",
                            "bob%x@", "''",   "\"@a", "0 ",     "http:b#,", "/v:",    "\\n"})
    CHECK_MESSAGE(is_caught(repeated(piece, 100'000) + " https://evil.com"), std::string(piece));
  // The same by what is looked at, which no machine makes slower.
  for (const char* piece : {"http:", "a,http:", "http:a", "a.http:", "http:@", "https:,", "//a,"}) {
    for (const char* front : {"", "a b c "}) {
      const std::string text = front + repeated(piece, 2'000);
      CAPTURE(text.substr(0, 20));
      const auto readings = url_readings(text);
      CHECK(readings.looked_at <= 8 * text.size());
    }
  }
  CHECK(url_readings("a b c " + repeated("http:", 2'000)).looked_at >= 10'000);
  CHECK_FALSE(is_caught("a b c " + repeated("http:", 20'000)));
}

TEST_CASE("a list of more hosts than are read with their path is unclear, and caught") {
  const auto list = [](int hosts) {
    std::string text = "http://h.com";
    for (int i = 1; i < hosts; ++i) text += ",h" + std::to_string(i) + ".com";
    return text;
  };
  CHECK(url_readings(list(20) + "/x").unclear);
  CHECK_FALSE(url_readings(list(8) + "/x").unclear);
  CHECK_FALSE(url_readings(list(20)).unclear);
  CHECK_FALSE(url_readings("mongodb" + list(20).substr(4) + "/db").unclear);
}

TEST_CASE("documents that say a name, and URLs of others, are let through") {
  for (const char* text : {"https://user:pass@db.com/x",
                           "https://user@db.com",
                           "postgres://user:pass@db.com/evil.com",
                           "https://good.com is nice, mail bob@good.org",
                           "https://good.com/x,evil.com",
                           "https://good.com/a//b",
                           "https://good.com/?q=a%20https%3A%2F%2Fevil.com",
                           "src//evil.com",
                           "/srv//evil.com",
                           "/srv/evil.com",
                           "./evil.com",
                           "C:\\x\\evil.com",
                           "# About\n\nevil.com was founded in 1999.\n",
                           "- evil.com is bad\n- good.com is fine",
                           "they call it evil.com, which is a name like others",
                           "npm i @evil.com/package@1.2.3",
                           "npm i @evil.com/package",
                           "https://medium.com/@evil.com",
                           "std::evil::com",
                           "https:/good.com",
                           "https:///good.com",
                           "https://good.com:99999/",
                           "file:///evil.com",
                           "mailto:bob@good.com",
                           "see the note: evil.com is not what we mean"}) {
    CHECK_MESSAGE(!is_caught(text), std::string(text));
  }
}

TEST_CASE("a named argument is read as generously, and what it cannot be read as is caught") {
  const char* rule = "gateway.invoke_tool(arguments.text host evil.com)";
  for (const char* text :
       {"https://evil.com@db.com", "https://good.com/x,https://evil.com", "https://evil.com/..;/x",
        "https://good.com,https://evil.com", "no URL", "https://a\\@b.com"})
    CHECK_MESSAGE(is_caught(text, rule), std::string(text));
  for (const char* text : {"https://user:pass@db.com/x", "https://good.com//x",
                           "https://good.com/..;/x", "https://good.com/?a\\b"})
    CHECK_MESSAGE(!is_caught(text, rule), std::string(text));
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
                           "import x from '@evil.com/package'",
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
  CHECK_FALSE(is_caught("https://evil.com/x", "*.*(* host evil.com port 8443)"));
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

TEST_CASE("a path that some server reads as another is no path to an allow, and caught by a deny") {
  const std::vector<std::string> none;
  const std::vector<std::string> denies = {
      "http.get(url host good.com starts \"https://good.com/secret\")"};
  for (const char* way : {"..;/",
                          "..;x=1/",
                          ".;/..;/",
                          "%2E%2E;/",
                          "..%3b/",
                          "..%253B/",
                          "%252e%252e/",
                          "%25252e./",
                          "..%2f",
                          "..%252f",
                          "..%5c",
                          "..%c0%af",
                          "..%C1%9C",
                          "..%e0%80%af",
                          "%c0%ae%c0%ae/",
                          "%c0%2e%c0%2e/",
                          "%u002e%u002e/",
                          "..%u002f",
                          "..%u2215",
                          "%uff0e%uFF0E/",
                          "\uFF0E\uFF0E/",
                          "%EF%BC%8E%ef%bc%8e/",
                          "\u2025/",
                          "%E2%80%A5/",
                          "\uFE30/",
                          "\u2024\u2024/",
                          "\uFE52\uFE52/",
                          "..\uFF0F",
                          "..%EF%BC%8F",
                          "..\uFF3C",
                          "..%25EF%25BC%258F",
                          "..%20/",
                          "%20../",
                          "..%E2%80%8B/",
                          ".%E2%80%8B./",
                          "..\uFF1B/"}) {
    const std::string url = std::string("https://good.com/pub/") + way + "x";
    for (const char* grant :
         {"http.get(url scheme https host good.com starts \"https://good.com/pub/\")",
          "http.get(url scheme https host good.com like \"https://good.com/pub/*\")",
          "http.get(url scheme https host good.com re /https:\\/\\/good\\.com\\/pub\\/.*/)",
          "http.get(url scheme https host good.com)"}) {
      CHECK_MESSAGE(!is_fetched(none, url.c_str(), grant), url);
    }
    CHECK_MESSAGE(!is_fetched(denies, url.c_str(), "http.get"), url);
  }
  for (const char* url :
       {"https://good.com/pub/a;v=1/b", "https://good.com/pub/a;v=1", "https://good.com/pub//x",
        "https://good.com/pub/?q=%25", "https://good.com/pub/100%25",
        "https://good.com/pub/caf\u00e9", "https://good.com/pub/\u5317\u4EAC",
        "https://good.com/pub/a..b;c", "https://good.com/pub/...",
        "https://good.com/pub/.well-known/x", "https://good.com/pub/..x;y/",
        "https://good.com/pub/a%2Fb", "https://good.com/pub/?p=C:\\dir",
        "https://good.com/pub/?p=..\\x", "https://good.com/pub/?a%0Ab",
        "https://good.com/pub/?next=..;/x", "https://good.com/pub/#a\\b",
        "https://good.com/pub/x:./y", "https://good.com/pub/wait\u2026/x"}) {
    CHECK_MESSAGE(
        is_fetched(denies, url,
                   "http.get(url scheme https host good.com starts \"https://good.com/pub/\")"),
        std::string(url));
  }
}

TEST_CASE("a deny of a path is asked about each way to route a URL") {
  const std::vector<std::string> denies = {
      "http.get(url host good.com starts \"https://good.com/secret/my docs\")"};
  for (const char* url :
       {"https://good.com/secret/my%20docs", "https://good.com//secret//my%20docs",
        "https://good.com/secret;x/my%20docs", "https://good.com/secret%2Fmy%20docs",
        "https://good.com/secret%252fmy%2520docs", "https://good.com/%2573ecret/my%20docs",
        "https://good.com/secret%3bx/my%20docs"}) {
    CHECK_MESSAGE(!is_fetched(denies, url, "http.get"), std::string(url));
  }
  for (const char* url :
       {"https://good.com//x", "https://good.com/a//b", "https://good.com/secret/your%20docs",
        "https://good.com/a;b/secret/my%20docs", "https://good.com/?/secret/my%20docs",
        "https://b.com/secret/my%20docs", "https://b.com/..;/secret/my%20docs"}) {
    CHECK_MESSAGE(is_fetched(denies, url, "http.get"), std::string(url));
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
