// URLs that a deny over any string catches, though read_url() refuses them.
#include "policy/match/url_readings.h"

#include <doctest/doctest.h>

#include "policy/support_world.h"

namespace mcpac::policy::testing {
namespace {

bool is_caught(const std::string& text) {
  const World world;
  auto authority = world
                       .load({LayerText{.name = "the command line",
                                        .grants = {"gateway.*"},
                                        .asks = {},
                                        .denies = {"*.*(* host evil.com)"},
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
    CHECK_MESSAGE(is_caught(text), text);
  }
}

TEST_CASE("a deny over any string on hosts lets ordinary texts through") {
  for (const char* text :
       {"", "http", "http:", "http: the protocol", "ftp: upload\nfailed", "Note: http is old",
        "evil.com", "https://good.com/\nand more", "https://good.com is nice\nevil.com is not",
        "https://good.com/a\\b", "file:///x", "mailto:a@b.c", "https://good.com\nmore",
        "see http:/evil"}) {
    CHECK_MESSAGE(!is_caught(text), text);
  }
}

}  // namespace mcpac::policy::testing
