#include "policy/match/url_readings.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "core/ascii.h"
#include "core/percent_code.h"
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

// What stands around a URL in texts: blanks, quotes, brackets, the punctuation behind it.
bool is_around(char c) {
  return is_blank(c) || std::string_view("\"'`<>(){}").find(c) != std::string_view::npos;
}
std::string_view without_surroundings(std::string_view text) {
  text = trimmed(text, is_around);
  while (!text.empty() && std::string_view(",;!").find(text.back()) != std::string_view::npos)
    text = trimmed(text.substr(0, text.size() - 1), is_around);
  return text;
}

// How many bytes a scheme at the beginning has, its colon not counted; 0: there is none.
std::size_t any_scheme_of(std::string_view text) {
  if (text.empty() || !is_letter(text.front())) return 0;
  const auto end = std::ranges::find_if_not(
      text, [](char c) { return is_alphanumeric(c) || c == '+' || c == '-' || c == '.'; });
  return end != text.end() && *end == ':' ? static_cast<std::size_t>(end - text.begin()) : 0;
}

// An address written as four numbers, or in square brackets: fewer numbers are a version or a
// price, unless something behind them says otherwise.
bool is_plain_address(std::string_view host) {
  return host.starts_with('[') || std::ranges::count(host, '.') == 3 || host.starts_with("0x") ||
         host.starts_with("0X");
}

class HostReader {
 public:
  explicit HostReader(std::vector<NamedHost>& found) : found_(found) {}

  // `text`: without what stands around it, with slashes for backslashes.
  void read(std::string_view text, int depth = 0) {
    if (text.starts_with("//")) return authority("", text.substr(2));
    const auto scheme = any_scheme_of(text);
    const auto rest = text.substr(std::min(scheme + 1, text.size()));
    if (scheme > 0 && rest.starts_with("//"))
      return authority(lowered(text.substr(0, scheme)), rest.substr(2));
    // "view-source:https://h", "git::ssh://h".
    const auto inner = rest.substr(rest.starts_with(':') ? 1 : 0);
    const bool is_word = scheme > 0 && text.substr(0, scheme).find('.') == std::string_view::npos;
    if (is_word && depth < kMostNested && any_scheme_of(inner) > 0) read(inner, depth + 1);
    bare(text);
  }

 private:
  static constexpr int kMostNested = 3;

  // Up to the path, and to a blank, which no host has.
  static std::string_view front(std::string_view text) {
    const auto end = std::ranges::find_if(
        text, [](char c) { return c == '/' || c == '?' || c == '#' || is_blank(c); });
    return text.substr(0, static_cast<std::size_t>(end - text.begin()));
  }

  void authority(std::string scheme, std::string_view text) {
    text = front(text);
    add(std::move(scheme), text.substr(std::min(text.rfind('@') + 1, text.size())));
  }

  // "h", "h:443", "h/path", "user@h", "git@h:path": one word; several of them, "a,b".
  void bare(std::string_view text) {
    if (std::ranges::any_of(text, is_blank)) return;
    if (text.find_first_of("/?#") != std::string_view::npos) return one(text);
    while (!text.empty()) {
      const auto end = std::min(text.find_first_of(",;|"), text.size());
      one(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  void one(std::string_view text) {
    auto host = front(text);
    const bool has_path = host.size() < text.size();
    const auto at = host.rfind('@');
    const bool has_user = at != std::string_view::npos && at > 0;
    if (at != std::string_view::npos && !has_user) return;  // "@scope/package"
    if (has_user) host.remove_prefix(at + 1);
    if (host.starts_with('[')) return add("", host);
    if (std::ranges::count(host, ':') > 1) return add("", "[" + std::string(host) + "]");
    const auto colon = host.find(':');
    const bool has_port = colon != std::string_view::npos && colon + 1 < host.size();
    const auto name = percent_decoded(host.substr(0, colon));
    const auto read = read_host(name);
    if (!read) return;
    const bool is_address = std::holds_alternative<IpAddress>(*read);
    const auto* ascii = std::get_if<std::string>(&*read);
    const bool is_host = is_address ? has_user || has_port || has_path || is_plain_address(name)
                                    : has_user || ascii->contains('.') || is_localhost(*ascii);
    if (is_host) add("", host);
  }

  // A host and, where digits follow its colon, a port.
  void add(std::string scheme, std::string_view text) {
    const auto bracket = text.starts_with('[') ? text.find(']') : 0;
    if (bracket == std::string_view::npos) return;
    const auto colon = text.find(':', bracket);
    auto host = read_host(text.substr(0, colon));
    if (!host) return;
    std::optional<std::uint16_t> port;
    if (colon != std::string_view::npos) {
      const auto digits = text.substr(colon + 1);
      std::uint16_t number = 0;
      const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
      if (parsed.ec == std::errc{} && parsed.ptr == digits.data() + digits.size()) port = number;
    }
    found_.push_back({std::move(scheme), std::move(*host), port});
  }

  std::vector<NamedHost>& found_;
};

// Longer ones name no host that anybody looks up.
constexpr std::size_t kLongestLoose = 64 * 1024;

void add_named_hosts(std::string_view text, std::vector<NamedHost>& hosts) {
  std::string clean;
  for (const char c : text.substr(0, kLongestLoose)) clean += c == '\\' ? '/' : c;
  HostReader(hosts).read(clean);
  // Behind two slashes parsers leave line ends out, as in a URL of our schemes.
  if (!clean.contains("//") || std::erase_if(clean, is_left_out) == 0) return;
  HostReader(hosts).read(clean);
}

}  // namespace

UrlReadings url_readings(std::string_view text) {
  UrlReadings readings;
  text = without_surroundings(text);
  const auto colon = colon_of(text);
  if (colon == std::string_view::npos) {
    add_named_hosts(text, readings.hosts);
    return readings;
  }
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
