#include "policy/match/url.h"

#include <doctest/doctest.h>

namespace mcpac::policy {
namespace {

std::string host_of(std::string_view text) {
  const auto url = read_url(text);
  if (!url) return "refused";
  const auto* name = std::get_if<std::string>(&url->host);
  return name == nullptr ? "address" : *name;
}

}  // namespace

// Expectations from the host parsing of url.spec.whatwg.org, sections 3.5 and 4.5.
TEST_CASE("every spelling of an IPv4 address is an address") {
  for (const char* url :
       {"http://127.0.0.1/", "http://127.1/", "http://0x7f.1/", "http://0177.0.0.1/",
        "http://2130706433/", "http://0x7f000001/", "http://127.0.0.1./", "http://%31%32%37.0.0.1/",
        "http://0x/", "http://\xEF\xBC\x91\xEF\xBC\x92\xEF\xBC\x97.0.0.1/"}) {
    CHECK_MESSAGE(host_of(url) == "address", url);
  }
  for (const char* url : {"http://256.1.1.1/", "http://1.2.3.4.5/", "http://1.2.3.09/",
                          "http://a.1/", "http://4294967296/"}) {
    CHECK_MESSAGE(host_of(url) == "refused", url);
  }
}

TEST_CASE("what parsers read apart is refused") {
  for (const char* url :
       {"https://user@a.example/", "https://@a.example/", "https://a.example\\@b.example/",
        "https:a.example", "https:/a.example", "https:///a.example", " https://a.example/",
        "https://a.example/ ", "javascript://a.example/", "file:///etc/passwd",
        "https://a..example/", "https://a.example:99999/", "https://a.example:+80/",
        "https://[::1/", "https://[::1%25eth0]/", "https://a%00.example/", "https://a%20b.example/",
        "https://a%2540b.example/", ""}) {
    CHECK_MESSAGE(host_of(url) == "refused", url);
  }
}

TEST_CASE("a path that servers read apart is refused, and a code without a need is not sent") {
  for (const char* url :
       {"https://a.example/..%2fsecret", "https://a.example/x/%2e%2E%2Fsecret",
        "https://a.example/x%5c..%5csecret", "https://a.example/x%2f..", "https://a.example/a%00b",
        "https://a.example/a%0Ab", "https://a.example/.%2fx?q"}) {
    CHECK_MESSAGE(host_of(url) == "refused", url);
  }
  const auto sent = [](std::string_view text) { return read_url(text).value().sent_text(); };
  CHECK(sent("https://a.example/%61dmin/%7Euser?q=%61") == "https://a.example/admin/~user?q=a");
  CHECK(sent("https://a.example/%%361") == "https://a.example/a");
  CHECK(sent("https://a.example/x/%2e%2e/y") == "https://a.example/y");
  for (const char* url :
       {"https://a.example/a%20b/%C3%BC", "https://a.example/group%2Fproject",
        "https://a.example/@scope%2fname", "https://a.example/?next=%2Fa%2F..%2Fb&c=a%0Ab",
        "https://a.example/web/2020/https://b.example/", "https://a.example/100%25",
        "https://a.example/a..b%2Fc", "https://a.example/#..%2f"}) {
    REQUIRE_MESSAGE(read_url(url).has_value(), url);
    CHECK(sent(url) == url);
  }
}

TEST_CASE("what is read is read again in the text that is written") {
  // Bytes beyond ASCII are encoded there, and a colon begins no path.
  for (const std::string url : {"http://0/:0\xA7/:./", "http://h/:./", "http://h/\xA7/..;x"}) {
    const auto first = read_url(url);
    if (!first) {
      CHECK_FALSE(read_url("http://h/%A7/..;x").has_value());
      continue;
    }
    const auto again = read_url(first->text());
    REQUIRE_MESSAGE(again.has_value(), url);
    CHECK(again->text() == first->text());
  }
}

TEST_CASE("names are compared in lower case, as A-labels, without the last dot") {
  CHECK(host_of("HTTPS://WWW.Example.COM./x") == "www.example.com");
  CHECK(host_of("https://b\xC3\xBC"
                "cher.example/") == "xn--bcher-kva.example");
  CHECK(host_of("https://a_b.example/") == "a_b.example");
  CHECK(host_of("https://a.example:/") == "a.example");
  CHECK(host_of("https://a.example?x@y") == "a.example");
}

TEST_CASE("a special address is admitted only by a network within its range") {
  const auto all = IpNetwork::parse("0.0.0.0/0").value();
  CHECK(all.admits(*parse_ipv4("93.184.216.34")));
  CHECK_FALSE(all.admits(*parse_ipv4("169.254.169.254")));
  CHECK(all.contains(*parse_ipv4("169.254.169.254")));
  CHECK(IpNetwork::parse("169.254.169.254/32")->admits(*parse_ipv4("169.254.169.254")));
  CHECK(unwrap(*parse_ipv6("64:ff9b::7f00:1")) == *parse_ipv4("127.0.0.1"));
  CHECK_FALSE(IpNetwork::parse("::/0")->admits(*parse_ipv6("::1")));
  CHECK_FALSE(IpNetwork::parse("10.0.0.1/8").has_value());
}

}  // namespace mcpac::policy
