// URLs and hosts against the data of the Web Platform Tests (data/README.md).
#include <doctest/doctest.h>
#include <re2/re2.h>

#include <algorithm>
#include <set>

#include "policy/match/url.h"
#include "policy/support_world.h"

namespace mcpac::policy::testing {
namespace {

bool has_odd_bytes(std::string_view text) {
  return std::ranges::any_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '\\'; });
}

// Names that are refused although WHATWG takes them: A-labels that do not decode or are not what
// their U-label encodes to, symbols that IDNA 2008 does not admit, empty and overlong labels.
bool is_doubtful_name(std::string name) {
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const bool ascii =
      std::ranges::all_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  std::size_t label = 0;
  std::size_t longest = 0;
  for (const char c : name) {
    label = c == '.' ? 0 : label + 1;
    longest = std::max(longest, label);
  }
  return !ascii || name.contains("xn--") || name.contains('%') || name.contains("..") ||
         name == "." || longest > 63 || name.size() > 253;
}

// Whose readers take the path for several: dots beside encoded slashes, encoded control bytes, two
// dots in one character.
bool is_doubtful_path(std::string_view href) {
  static const RE2 kDoubtful(
      "%(?:[01][0-9A-Fa-f]|7[Ff])|%(?:2[fF]|5[cC])|(?:\\.|%2[eE])(?:\\.|%2[eE])?%2[fF]|"
      "%E2%80%A5");
  return RE2::PartialMatch(href.substr(0, href.find_first_of("?#")), kDoubtful);
}

// What this reader refuses on purpose although WHATWG reads it (url.h says why).
bool refused_on_purpose(const std::string& input, const std::string& href) {
  const auto scheme = href.substr(0, href.find(':'));
  const bool special = std::set<std::string>{"http", "https", "ws", "wss", "ftp"}.contains(scheme);
  const auto authority = input.substr(std::min(input.find("://") + 3, input.size()));
  const auto host = authority.substr(0, authority.find_first_of("/?#"));
  return has_odd_bytes(input) || !special || input.starts_with(' ') || input.ends_with(' ') ||
         host.contains('@') || host.empty() || is_doubtful_name(host) || is_doubtful_path(href);
}

}  // namespace

TEST_CASE("a URL of the Web Platform Tests is refused or written as the standard writes it") {
  int read = 0;
  int failures = 0;
  for (const Json& line : lines_of("whatwg_urls.jsonl")) {
    const std::string input = line["input"];
    const auto url = read_url(input);
    if (line.contains("failure")) {
      ++failures;
      CHECK_MESSAGE(!url.has_value(), input);
      continue;
    }
    const std::string href = line["href"];
    if (!url) {
      CHECK_MESSAGE(refused_on_purpose(input, href), input);
      continue;
    }
    ++read;
    CHECK(url->text() == href);
    const auto again = read_url(url->text());
    REQUIRE_MESSAGE(again.has_value(), input);
    CHECK(again->text() == href);
    CHECK(again->host == url->host);
    CHECK(again->port == url->port);
  }
  CHECK(read > 120);
  CHECK(failures > 100);
}

TEST_CASE("a host of the Web Platform Tests is refused or becomes the A-label of the standard") {
  int read = 0;
  for (const Json& line : lines_of("whatwg_hosts.jsonl")) {
    const std::string input = line["input"];
    const auto host = read_host(input);
    if (line["output"].is_null()) {
      CHECK_MESSAGE(!host.has_value(), input);
      continue;
    }
    if (!host) {
      CHECK_MESSAGE(is_doubtful_name(input), input);
      continue;
    }
    ++read;
    const auto* name = std::get_if<std::string>(&*host);
    REQUIRE_MESSAGE(name != nullptr, input);
    CHECK(*name == line["output"].get<std::string>());
  }
  CHECK(read > 30);
}

}  // namespace mcpac::policy::testing
