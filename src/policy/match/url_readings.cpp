#include "policy/match/url_readings.h"

#include <algorithm>
#include <string>

#include "core/trimmed.h"

namespace mcpac::policy {
namespace {

constexpr std::size_t kLongestScheme = 5;  // "https"

bool is_blank(char c) {
  return static_cast<unsigned char>(c) <= 0x20;
}
// What WHATWG leaves out wherever it stands.
bool is_left_out(char c) {
  return c == '\t' || c == '\n' || c == '\r';
}

// Where the colon behind a scheme of ours stands, line ends within it left out; else nothing.
std::size_t colon_of(std::string_view text) {
  std::string scheme;
  for (std::size_t i = 0; i < text.size() && scheme.size() <= kLongestScheme; ++i) {
    if (text[i] == ':') return default_port(scheme) != 0 ? i : std::string_view::npos;
    const char c = text[i];
    if (!is_left_out(c)) scheme += c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  }
  return std::string_view::npos;
}

// The scheme and the authority, without what stands behind: no test looks at that.
std::string_view front_of(std::string_view url) {
  const auto begin = url.find("://");
  if (begin == std::string_view::npos) return url;
  return url.substr(0, std::min(url.find_first_of("/?#", begin + 3), url.size()));
}

}  // namespace

UrlReadings url_readings(std::string_view text) {
  UrlReadings readings;
  text = trimmed(text, is_blank);
  const auto colon = colon_of(text);
  if (colon == std::string_view::npos) return readings;
  if (auto url = read_url(text)) {
    readings.urls.push_back(std::move(*url));
    return readings;
  }
  std::string joined;
  std::ranges::copy_if(text, std::back_inserter(joined), [](char c) { return !is_left_out(c); });
  // "http: words" is a sentence: no parser takes a blank for the beginning of a host.
  const auto host = joined.find_first_not_of("/\\", joined.find(':') + 1);
  if (host == std::string::npos || joined[host] == ' ') return readings;
  const std::string_view whole = front_of(joined);
  // Up to the first blank, as one would read a URL out of a text; and, where no blank is left in
  // the host, as parsers that leave line ends out.
  const auto end = std::ranges::find_if(text, is_blank) - text.begin();
  std::vector<std::string_view> fronts = {front_of(text.substr(0, static_cast<std::size_t>(end)))};
  if (whole.find(' ') == std::string_view::npos) fronts.push_back(whole);
  // WHATWG takes blanks in the name of a user, and a backslash for the end of the host.
  readings.unclear = whole.find_first_of("@\\") != std::string_view::npos;
  for (const auto front : fronts) {
    auto url = read_url(front);
    readings.unclear = readings.unclear || !url;
    if (url) readings.urls.push_back(std::move(*url));
  }
  return readings;
}

}  // namespace mcpac::policy
