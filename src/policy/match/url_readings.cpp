// SPDX-License-Identifier: Apache-2.0

// The authorities in a text (url.h, url_readings).
#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "core/ascii.h"
#include "core/characters.h"
#include "core/percent_code.h"
#include "core/trimmed.h"
#include "core/uri_spelling.h"
#include "policy/match/parameter_names.h"
#include "policy/match/url.h"

namespace mcpac::policy {
namespace {

constexpr std::size_t kLongestScheme = 5;  // "https"
// No scheme is longer ("ms-secondary-screen-controller"), and no address in brackets.
constexpr std::size_t kLongestAnyScheme = 64;
// As many as a value may have readings (readings.h): a text with more is unclear.
constexpr std::size_t kMostAuthorities = 10'000;
// Hosts of a list that are read with the path behind it: of more, the paths are unclear.
constexpr std::size_t kMostWithPath = 8;
// "https%3A%2F%2F", and what stands in values of queries: encoded twice, targets in targets.
constexpr std::size_t kLongestCoded = 16;
constexpr std::size_t kMostCodes = 3;
constexpr int kDeepestTarget = 4;

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
    if (!is_left_out(text[i])) scheme += to_lower(text[i]);
  }
  return std::string_view::npos;
}

// The scheme and the authority, without what stands behind.
std::string_view front_of(std::string_view url) {
  const auto begin = url.find("://");
  if (begin == std::string_view::npos) return url;
  return url.substr(0, std::min(url.find_first_of("/?#", begin + 3), url.size()));
}

// What stands around a URL in texts: blanks, quotes, brackets, the punctuation behind it.
bool is_around(char c) {
  return is_blank(c) || std::string_view("\"'`<>(){}").contains(c);
}
std::string_view without_surroundings(std::string_view text) {
  text = trimmed(text, is_around);
  while (!text.empty() && std::string_view(",;!").contains(text.back()))
    text = trimmed(text.substr(0, text.size() - 1), is_around);
  return text;
}

// An address written as four numbers, or in square brackets: fewer numbers are a version or a
// price, unless something beside them says otherwise.
bool has_four_numbers(std::string_view host) {
  return host.starts_with('[') || std::ranges::count(host, '.') == 3;
}

// What a host can consist of, codes and characters of IDNA among it.
bool is_of_host(char c) {
  static constexpr auto kSet = [] {
    std::array<bool, 256> set{};
    for (std::size_t byte = 0; byte < set.size(); ++byte) {
      const char one = static_cast<char>(byte);
      set[byte] = byte >= 0x80 || one == '.' || one == '%' || is_bare(one);
    }
    return set;
  }();
  return kSet[static_cast<unsigned char>(c)];
}

// Parameters of a query that are targets, by the last word of their names: what they hold is a host
// also without a scheme ("?url=h", "?to=a@h").
bool is_target(std::string_view parameter) {
  static constexpr std::string_view kWords[] = {
      "url",  "uri",      "href",   "link",  "redirect",    "next",     "return",
      "to",   "goto",     "target", "dest",  "destination", "continue", "callback",
      "host", "hostname", "server", "proxy", "endpoint",    "webhook",  "domain",
      "site", "forward",  "cc",     "bcc",   "data",        "address",  "origin"};
  const auto words = words_of(parameter);
  return !words.empty() && std::ranges::find(kWords, words.back()) != std::end(kWords);
}

// Names of what holds an address: "10.1" is one there.
bool is_of_address(std::string_view name) {
  static constexpr std::string_view kWords[] = {"host", "hostname", "server",
                                                "ip",   "address",  "addr"};
  const auto words = words_of(name);
  return !words.empty() && std::ranges::find(kWords, words.back()) != std::end(kWords);
}

// Parameters that say what is searched for, said or shared: a URL there is no target.
bool is_mention(std::string_view parameter) {
  static constexpr std::string_view kWords[] = {
      "q",     "query", "search", "s",       "keyword", "keywords", "text",        "body",
      "title", "quote", "u",      "subject", "message", "content",  "description", "prompt"};
  const auto words = words_of(parameter);
  return !words.empty() && std::ranges::find(kWords, words.back()) != std::end(kWords);
}

// Options of programs of the network that take no value: what stands behind one is an operand.
bool is_flag(std::string_view word) {
  static constexpr std::string_view kLong[] = {"--silent",     "--insecure", "--location",
                                               "--verbose",    "--fail",     "--head",
                                               "--show-error", "--include",  "--compressed"};
  if (word.starts_with("--")) return std::ranges::find(kLong, word) != std::end(kLong);
  return word.size() > 1 && word.starts_with('-') &&
         std::ranges::all_of(word.substr(1), is_alphanumeric) &&
         std::string_view("sSkLvfgz46").contains(word.back());
}

// Schemes of protocols that begin with a host, beside ours: one slash behind them is enough to some
// parsers (curl), and three do not make the host empty.
bool leads_to_host(std::string_view scheme) {
  static constexpr std::string_view kSchemes[] = {
      "gopher", "gophers", "dict", "imap",  "imaps",  "pop3",  "pop3s", "smtp",  "smtps",
      "ftps",   "sftp",    "scp",  "tftp",  "telnet", "ldap",  "ldaps", "rtsp",  "rtmp",
      "smb",    "smbs",    "mqtt", "mqtts", "ssh",    "rsync", "git",   "svn",   "rtmps",
      "redis",  "rediss",  "irc",  "ircs",  "vnc",    "rdp",   "nfs",   "whois", "finger"};
  return std::ranges::find(kSchemes, scheme) != std::end(kSchemes);
}

// A host in a path: of Bash's devices, gawk's (behind a local port), multiaddr, autofs, Windows.
std::string_view host_of_device(std::string_view path) {
  static constexpr std::string_view kDevices[] = {"/dev/tcp/", "/dev/udp/", "/dns/",   "/dns4/",
                                                  "/dns6/",    "/dnsaddr/", "/ip4/",   "/ip6/",
                                                  "/net/",     "//?/unc/",  "//./unc/"};
  constexpr std::size_t kLongest = 10;
  const std::string front = lowered(path.substr(0, kLongest));
  for (const auto device : kDevices) {
    if (front.starts_with(device)) return path.substr(device.size());
  }
  if (!path.starts_with("/inet")) return {};
  const auto kind = std::min(path.find('/', 1), path.size());
  const auto port = std::min(path.find('/', kind + 1), path.size());
  const auto host = std::min(path.find('/', port + 1), path.size());
  return path.substr(std::min(host + 1, path.size()));
}

// What stands in front of a word that may be a host.
enum class Sign : std::uint8_t {
  kNone,   // a name counts where no prose is
  kKey,    // "key=h", "scheme:h", "--key h": a name counts in any text
  kUser,   // "user@h": a name without a dot, too
  kScope,  // "@scope/package": none
};

// Where one of some bytes stands next. The places asked from only grow, so the last answer holds up
// to where it stands, and a text is looked through once.
class NextOf {
 public:
  NextOf(std::string_view text, std::string_view bytes, std::size_t& looked_at)
      : text_(text), bytes_(bytes), looked_at_(looked_at) {}

  // The end of the text where none stands.
  std::size_t from(std::size_t at) {
    if (is_known_ && at >= asked_ && at <= found_) return found_;
    found_ = std::min(text_.find_first_of(bytes_, at), text_.size());
    looked_at_ += found_ - std::min(at, found_) + 1;
    asked_ = at;
    is_known_ = true;
    return found_;
  }

 private:
  std::string_view text_;
  std::string_view bytes_;
  std::size_t& looked_at_;  // bytes
  std::size_t asked_ = 0;
  std::size_t found_ = 0;
  bool is_known_ = false;
};

// What ends an authority, and what makes one of a text, wherever in a chunk one is looked for.
struct Ends {
  Ends(std::string_view chunk, std::size_t& looked_at)
      : of_authority(chunk, "/?#&|()", looked_at),
        of_front(chunk, "/?#", looked_at),
        signs(chunk, ".@", looked_at),
        has_codes(chunk.contains('%')) {}

  NextOf of_authority;
  NextOf of_front;
  NextOf signs;
  bool has_codes;
};

// What else some parser takes the host of a URL for.
void add_other_hosts(const std::string& scheme, std::string_view text, std::uint16_t port,
                     UrlReadings& found) {
  const auto end = text.starts_with('[') ? text.find(']') + 1 : text.find(':');
  auto hosts = hosts_meant(text.substr(0, end));
  for (std::size_t i = 1; i < hosts.size(); ++i)
    found.hosts.push_back({scheme, std::move(hosts[i]), port});
}

class AuthorityFinder {
 public:
  AuthorityFinder(const WordText& words, UrlReadings& found)
      : found_(found), text_(words.text), is_prose_(words.is_prose), places_(words.places) {}

  void find() {
    Sign sign = Sign::kNone;
    for (std::size_t at = 0; at < text_.size();) {
      const auto begin =
          std::find_if_not(text_.begin() + static_cast<std::ptrdiff_t>(at), text_.end(), ends_word);
      const auto end = std::find_if(begin, text_.end(), ends_word);
      const std::string_view chunk(begin, end);
      at = static_cast<std::size_t>(end - text_.begin());
      if (chunk.empty()) return;
      go_to(static_cast<std::size_t>(begin - text_.begin()));
      if (is_descriptor(chunk)) continue;
      read(chunk, sign);
      if (found_.unclear) return;
      sign = sign_behind(chunk, at);
      is_behind_flag_ = is_flag(chunk);
      if (chunk != ":" && !chunk.ends_with('=') && !(chunk.size() > 1 && chunk.ends_with(':')))
        is_behind_name_ = chunk.size() < kLongestAnyScheme && is_of_address(chunk);
    }
  }

  // In a query, and in what stands in one of its values with codes of its own.
  void find_targets(std::string_view query) {
    found_.looked_at += query.size();
    for (const auto one : split_at(query, "?#&;")) {
      // "?https://h" has no name.
      const auto equals = begins_as_url(one) ? std::string_view::npos : one.find('=');
      const bool has_name = equals != std::string_view::npos;
      const std::string name = has_name ? percent_decoded(one.substr(0, equals)) : "";
      std::string value(has_name ? one.substr(equals + 1) : one);
      const bool is_own = value.contains('%');
      for (std::size_t i = 0; i < kMostCodes && value.contains('%'); ++i)
        value = percent_decoded(value);
      // "/<TAB>/h": line ends are left out.
      std::string joined = value;
      std::erase_if(joined, is_left_out);
      if (!begins_as_url(value) && begins_as_url(joined)) value = std::move(joined);
      value = with_plain_blanks(value);
      const bool is_json =
          (value.starts_with('{') || value.starts_with('[')) && value.contains("//");
      const bool is_url = (begins_as_url(value) || is_json) && !is_mention(name);
      if (!is_url && !is_target(name)) continue;
      target(value, is_own);
      if (found_.unclear) return;
    }
  }

 private:
  // What a chunk says of the next one: "key =", "key: h" at the end of a line, "--key".
  [[nodiscard]] Sign sign_behind(std::string_view chunk, std::size_t end) const {
    if (chunk.ends_with('=')) return Sign::kKey;
    if (chunk == "@") return Sign::kUser;
    if (chunk.size() > 1 && chunk.front() == '-' && !chunk.contains('=') &&
        is_alphanumeric(
            chunk[chunk.find_first_not_of('-') == chunk.npos ? 0 : chunk.find_first_not_of('-')]))
      return Sign::kKey;
    if (!chunk.ends_with(':')) return Sign::kNone;
    if (chunk.size() == 1) return Sign::kKey;  // `"key": "h"`
    // Up to the end of the line one word.
    const auto is_in_line = [](char c) { return c != '\n' && c != '\r'; };
    const auto skip = [&](std::size_t at, auto goes_on) {
      while (at < text_.size() && is_in_line(text_[at]) && goes_on(text_[at])) ++at;
      return at;
    };
    const auto is_word = [](char c) { return !ends_word(c); };
    const auto behind = skip(skip(skip(end, ends_word), is_word), ends_word);
    return behind == text_.size() || !is_in_line(text_[behind]) ? Sign::kKey : Sign::kNone;
  }

  void go_to(std::size_t at) {
    chunk_at_ = at;
    for (; place_ < places_.size() && places_[place_].at <= at; ++place_)
      operand_ = places_[place_];
  }

  // "2>x", "2>&1"
  [[nodiscard]] bool is_descriptor(std::string_view chunk) const {
    const auto is_arrow = [&](std::size_t at) {
      return at < text_.size() && (text_[at] == '<' || text_[at] == '>');
    };
    const bool is_behind = chunk.starts_with('&') && chunk_at_ > 0 && is_arrow(chunk_at_ - 1);
    const auto digits = is_behind ? chunk.substr(1) : chunk;
    return digits.size() == 1 && is_digit(digits.front()) &&
           (is_behind || is_arrow(chunk_at_ + chunk.size()));
  }

  // `from "@scope.of/package"`, `require("@scope.of/package")`, `npm install @scope.of/package`
  [[nodiscard]] bool is_package(std::string_view chunk, std::size_t at) const {
    if (operand_.of_packages) return true;
    const auto front = text_.substr(0, chunk_at_);
    if (at > 1 || front.empty() || !std::string_view("'\"`").contains(front.back())) return false;
    const auto is_between = [](char c) {
      return is_blank(c) || std::string_view("'\"`(").contains(c);
    };
    auto end = front.size();
    while (end > 0 && is_between(front[end - 1])) --end;
    const auto before = front.substr(0, end);
    return chunk.starts_with('@') && std::ranges::any_of(kImports, [&](std::string_view word) {
             return before.ends_with(word) && (before.size() == word.size() ||
                                               !is_word(before[before.size() - word.size() - 1]));
           });
  }
  static constexpr std::string_view kImports[] = {"from", "import", "require", "resolve"};

  // "eslint@10.1", to a package manager.
  static bool is_version(std::string_view name) {
    return is_digit(name.front()) && !has_four_numbers(name) &&
           std::ranges::all_of(name, [](char c) { return is_digit(c) || c == '.'; });
  }

  void read(std::string_view chunk, Sign sign) {
    const bool is_word = std::ranges::all_of(chunk, [](char c) { return is_letter(c); });
    if (is_word && !names_this_machine(chunk)) return;
    walk(chunk, sign);
    if (!chunk.contains('%') || chunk.contains("://")) return;
    // A form encodes what it sends: "url=https%3A%2F%2Fh".
    std::string decoded(chunk);
    for (std::size_t i = 0; i < kMostCodes && decoded.contains('%') && !found_.unclear; ++i) {
      decoded = with_plain_blanks(percent_decoded(decoded));
      std::ranges::replace_if(decoded, ends_word, '+');
      if (decoded.contains("//") || decoded.contains('@')) walk(decoded, sign);
    }
  }

  static bool names_this_machine(std::string_view chunk) {
    return chunk.size() < 64 && lowered(chunk).contains("localhost");
  }

  void walk(std::string_view chunk, Sign sign) {
    if (is_ipv6(chunk)) {
      // "a :: B" is code.
      const bool is_alone = chunk != "::" || chunk.size() == text_.size() || is_of_network();
      if (sign != Sign::kNone || (!is_prose_ && is_alone)) add("", "[" + std::string(chunk) + "]");
      return;
    }
    Sign in_list = Sign::kNone;  // of "key=a,b"
    Ends ends(chunk, found_.looked_at);
    for (std::size_t at = 0; at < chunk.size();) {
      if (const auto next = authority(chunk, at, ends); next > at) {
        at = next;
        sign = in_list = Sign::kNone;
        continue;
      }
      const auto end =
          static_cast<std::size_t>(std::find_if_not(chunk.begin() + static_cast<std::ptrdiff_t>(at),
                                                    chunk.end(), is_of_host) -
                                   chunk.begin());
      if (end > at) {
        at = word(chunk, at, end, sign, in_list);
      } else {
        at = separator(chunk, at, sign, in_list);
      }
    }
  }

  static bool is_ipv6(std::string_view chunk) {
    const auto address = chunk.substr(0, chunk.find('%'));
    return std::ranges::count(address, ':') > 1 &&
           std::ranges::all_of(address,
                               [](char c) { return hex_value(c) >= 0 || c == ':' || c == '.'; }) &&
           parse_ipv6(address).has_value();
  }

  // "scheme://…", "//…", "http:…" at this place: where it ends; the place itself where none is.
  std::size_t authority(std::string_view chunk, std::size_t at, Ends& ends) {
    const auto rest = chunk.substr(at);
    if (ends.has_codes && is_coded_url(rest)) return coded(chunk, at);
    const auto length = scheme_length(rest.substr(0, kLongestAnyScheme));
    const auto begin = length == 0 ? 0 : length + 1;
    const auto behind = std::min(rest.find_first_not_of('/', begin), rest.size());
    const auto slashes = behind - begin;
    std::string scheme = lowered(rest.substr(0, length));
    const bool is_ours = default_port(scheme) != 0;
    const bool names_host = is_ours || leads_to_host(scheme);
    if (slashes < 2 && !is_ours && !(slashes == 1 && names_host)) return at;
    if (const auto host = length > 0 ? std::string_view() : host_of_device(rest); !host.empty()) {
      device(host);
      return skipped(chunk, at + behind);
    }
    if (slashes == 0 && !may_be_host(chunk, at + behind, ends)) return at;
    // "file:///x" names this machine, "file:////h/x" another one.
    if (scheme == "file" && slashes == 3) return skipped(chunk, at + behind);
    auto end = ends.of_authority.from(at + behind) - at;
    for (std::size_t i = behind; i < end; ++i) {
      ++found_.looked_at;
      if ((rest[i] == ',' || rest[i] == ';') && begins_as_url(rest.substr(i + 1))) end = i;
    }
    const auto next = end < rest.size() && std::string_view("/?#").contains(rest[end])
                          ? skipped(chunk, at + end)
                          : at + end;
    const auto front = rest.substr(behind, end - behind);
    const std::string_view path = chunk.substr(at + end, next - at - end);
    // "https://a#@h": old parsers look for a user up to the first slash.
    const auto tail = path.starts_with('/') ? std::string_view() : path.substr(0, path.find('/'));
    if (tail.contains('@') && !tail.contains('=')) add(scheme, tail.substr(tail.rfind('@') + 1));
    const bool is_loose = slashes == 3 && !names_host && length > 0;
    hosts_of(std::move(scheme), front, path, is_loose);
    return next;
  }

  // An entry of a list whose scheme or slashes are encoded.
  std::size_t coded(std::string_view chunk, std::size_t at) {
    const auto end = std::min(chunk.find_first_of(",;&", at), chunk.size());
    target(percent_decoded(chunk.substr(at, end - at)), true);
    return end;
  }

  [[nodiscard]] bool may_be_host(std::string_view chunk, std::size_t at, Ends& ends) const {
    const auto end = ends.of_front.from(at);
    const auto front = chunk.substr(at, end - at);
    return ends.signs.from(at) < end || names_this_machine(front) ||
           (!is_prose_ && !front.empty() && is_of_host(front.front()));
  }

  // "user:word@h:443", "a:1,b:2", ";server=h".
  void hosts_of(std::string scheme, std::string_view front, std::string_view path, bool is_loose) {
    const auto user = front.rfind('@');
    if (user != std::string_view::npos) {
      for (const auto one : split_at(front.substr(0, user), ":@,;="))
        if (one.contains('.') || one.contains('%')) add("", one);
      front.remove_prefix(user + 1);
    }
    std::size_t read = 0;
    for (auto one : split_at(front, ",;")) {
      if (++read > kMostWithPath && !path.empty() && default_port(scheme) != 0) {
        found_.unclear = true;
        return;
      }
      one.remove_prefix(std::min(one.rfind('=') + 1, one.size()));
      if (is_loose && !one.contains('.') && !names_this_machine(one)) continue;
      host_of(scheme, one, path);
      // "https://h!", "**https://h**", "https://h..."
      const auto bare = without_punctuation(one);
      if (path.empty() && bare.size() < one.size()) host_of(scheme, bare, path);
    }
  }

  static std::string_view without_punctuation(std::string_view text) {
    while (!text.empty() && !is_alphanumeric(text.back()) &&
           static_cast<unsigned char>(text.back()) < 0x80 &&
           !(text.back() == ']' && text.starts_with('[')))
      text.remove_suffix(1);
    return text;
  }

  void host_of(const std::string& scheme, std::string_view text, std::string_view path) {
    // What a URL leads on to is no URL that the call is about: its path is held against nothing.
    if (default_port(scheme) == 0 || depth_ > 0) return add(scheme, text);
    const std::string front = scheme + "://" + std::string(text);
    auto url = read_url(front + std::string(path), PathMust::kBeAnything);
    if (!url) url = read_url(front);
    if (!url) return add(scheme, text);
    add_other_hosts(scheme, text, url->port, found_);
    if (has_room()) found_.urls.push_back(std::move(*url));
  }

  bool has_room() {
    found_.unclear = found_.unclear || found_.urls.size() + found_.hosts.size() >= kMostAuthorities;
    return !found_.unclear;
  }

  static std::vector<std::string_view> split_at(std::string_view text, std::string_view marks) {
    std::vector<std::string_view> parts;
    while (!text.empty()) {
      const auto end = std::min(text.find_first_of(marks), text.size());
      if (end > 0) parts.push_back(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parts;
  }

  // Behind the path and the query that begin at `from`, which name targets alone: up to the end of
  // a list's entry, or the bracket that the URL stands in.
  std::size_t skipped(std::string_view chunk, std::size_t from) {
    const auto end = end_of_path(chunk, from);
    const auto path = chunk.substr(from, end - from);
    const auto query = path.find_first_of("?#");
    if (query != std::string_view::npos && path.find_first_of("=/%", query) != path.npos)
      find_targets(path.substr(query));
    return end;
  }

  [[nodiscard]] static std::size_t end_of_path(std::string_view chunk, std::size_t from) {
    bool in_query = false;
    bool is_open = false;
    for (std::size_t at = from; at < chunk.size(); ++at) {
      const char c = chunk[at];
      const auto rest = chunk.substr(at + 1);
      in_query = in_query || c == '?' || c == '#';
      if (c == '(') is_open = true;
      if ((c == ')' && !is_open) || (c == ']' && rest.starts_with('('))) return at;
      if (c == '&' && !in_query) return at;
      if (c != ',' && c != ';') continue;
      // "https://a/,h" is a list, "https://a/x,y" is a path.
      const bool ends_folder = !in_query && at > from && chunk[at - 1] == '/';
      if (ends_folder || begins_as_url(rest) || is_coded_url(rest)) return at;
    }
    return chunk.size();
  }

  // "https%3A//h", "https:%2F%2Fh"
  static bool is_coded_url(std::string_view text) {
    const auto front = text.substr(0, kLongestCoded);
    const auto code = front.find('%');
    if (code == std::string_view::npos) return false;
    const std::string decoded = percent_decoded(front);
    const auto slashes = decoded.find("//");
    const auto last = slashes == std::string::npos ? decoded.find(':') : slashes + 1;
    return code <= last && begins_as_url(decoded);
  }

  void target(std::string_view value, bool has_parameters) {
    if (depth_ == kDeepestTarget) {
      found_.unclear = true;
      return;
    }
    ++depth_;
    const auto end = has_parameters ? value.size() : value.find_first_of("?#");
    for (const auto word : split_words(value.substr(0, end))) walk(word, Sign::kKey);
    --depth_;
  }

  static std::vector<std::string_view> split_words(std::string_view text) {
    return split_at(text, " \t\r\n\"'`<>{}^|");
  }

  // Where the value of "/v:h" begins; 0: it is none.
  static std::size_t option_of_windows(std::string_view text) {
    constexpr std::size_t kLongestName = 16;
    const auto end = text.substr(0, kLongestName).find(':');
    const bool is_option = end != std::string_view::npos && end > 1 && text.front() == '/' &&
                           std::ranges::all_of(text.substr(1, end - 1), is_letter);
    return is_option ? end + 1 : 0;
  }

  // "h/80" behind the name of a device.
  void device(std::string_view text) {
    const auto end = std::min(text.find('/'), text.size());
    const auto port = text.substr(std::min(end + 1, text.size()));
    const auto digits = std::min(port.find_first_not_of("0123456789"), port.size());
    std::string host(text.substr(0, end));
    if (host.contains(':')) host = "[" + host + "]";
    if (digits > 0) host.append(":").append(port.substr(0, digits));
    add("", host);
  }

  // An address, with a zone or without, and with the tag of mail: "[IPv6:::1]".
  static bool is_in_brackets(std::string_view text) {
    if (lowered(text.substr(0, kTagOfMail.size())) == kTagOfMail)
      text.remove_prefix(kTagOfMail.size());
    return parse_ipv6(text.substr(0, text.find('%'))).has_value() || parse_ipv4(text).has_value();
  }

  std::size_t separator(std::string_view chunk, std::size_t at, Sign& sign, Sign& in_list) {
    const char c = chunk[at];
    switch (c) {
      case '/':
      case '?':
      case '#':
        if (const auto host = host_of_device(chunk.substr(at)); !host.empty()) device(host);
        if (const auto value = option_of_windows(chunk.substr(at)); at == 0 && value > 0) {
          sign = Sign::kKey;
          return value;
        }
        return skipped(chunk, at);
      case '[': {
        const auto close = chunk.substr(0, at + kLongestAnyScheme).find(']', at);
        if (close != std::string_view::npos &&
            is_in_brackets(chunk.substr(at + 1, close - at - 1))) {
          const auto end = std::min(chunk.find_first_of("/?#,;", close), chunk.size());
          add("", chunk.substr(at, end - at));
          return end;
        }
        break;
      }
      case '@':
        sign = at > 0 && !std::string_view(",;|([=").contains(chunk[at - 1]) ? Sign::kUser
                                                                             : Sign::kScope;
        return at + 1;
      case '=':
      case ':': sign = Sign::kKey; return at + 1;
      case ',': sign = in_list; return at + 1;
      case '(': sign = sign == Sign::kUser ? sign : Sign::kNone; return at + 1;
      default: break;
    }
    sign = in_list = Sign::kNone;
    return at + 1;
  }

  // A word from `at` to `end`, and what its neighbours make of it: where to go on.
  std::size_t word(std::string_view chunk, std::size_t at, std::size_t end, Sign& sign,
                   Sign& in_list) {
    const auto name = chunk.substr(at, end - at);
    const auto rest = chunk.substr(end);
    is_whole_word_ = at == 0;
    Sign own = sign;
    sign = Sign::kNone;
    // All networks, mostly.
    if (name == "0.0.0.0" && rest == "/0" && !is_of_network()) return skipped(chunk, end);
    if (own == Sign::kScope) {
      if (rest.starts_with('/')) {
        // "@scope/package", and a host behind a user without a name: "@h/x".
        if (!is_package(chunk, at)) candidate(name, Sign::kKey, true, {});
        return skipped(chunk, end);
      }
      own = Sign::kKey;  // "dig @h"
    }
    if (own == Sign::kUser && operand_.of_packages && rest.empty() && is_version(name)) return end;
    const auto digits = port_digits(rest);
    const bool is_option = name.size() > 2 && name.starts_with('-') && is_letter(name[1]);
    if (is_option && glued_value(name, rest.substr(digits > 0 ? 1 : 0, digits)))
      in_list = Sign::kKey;
    if (digits > 0) {
      if (candidate(name, own, true, rest.substr(1, digits))) in_list = Sign::kKey;
      return end + 1 + digits;
    }
    const bool is_user = rest.starts_with('@');
    const bool is_host = candidate(name, own, has_path(rest), {});
    // "bob%h@a": a way to h by a.
    if (is_user && name.contains('%'))
      candidate(name.substr(name.rfind('%') + 1), Sign::kKey, true, {});
    if (is_host && own != Sign::kNone) in_list = Sign::kKey;
    if (rest.starts_with('(')) sign = own == Sign::kUser ? own : Sign::kNone;
    if (rest.starts_with(':') || rest.starts_with('=')) is_behind_name_ = is_of_address(name);
    if (rest.starts_with("::")) {
      sign = Sign::kKey;
      return end + 2;
    }
    if (rest.starts_with(':')) {
      // "git@h:path": what follows is a path.
      if (is_host && own == Sign::kUser) return skipped(chunk, end + 1);
      sign = Sign::kKey;
      return end + 1;
    }
    if (is_user) {
      sign = Sign::kUser;
      return end + 1;
    }
    if (rest.starts_with('/') && !is_host && own == Sign::kNone && rest.starts_with("//")) {
      return skipped(chunk, end);  // "a//b" is a path
    }
    return rest.starts_with('(') ? end + 1 : end;
  }

  // "/x", and the places of rsync and scp: "::x", ":x", ":~/x", ":./x".
  static bool has_path(std::string_view rest) {
    if (rest.starts_with('/')) return true;
    return rest.size() > 1 && rest.front() == ':' &&
           (is_of_host(rest[1]) || std::string_view("/:~").contains(rest[1]));
  }

  // How many digits a port behind a name has: ":443", and nothing that makes it a word.
  static std::size_t port_digits(std::string_view rest) {
    if (!rest.starts_with(':')) return 0;
    const auto end = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
    const bool is_word = end < rest.size() && (is_of_host(rest[end]) || rest[end] == '@');
    return is_word || end > 6 ? 0 : end - 1;
  }

  // Whether a number is an address there. Most are not: "0:30", "1/2", "10.5", "0x0".
  bool is_address(std::string_view name, const IpAddress& address, Sign sign, bool has_more) {
    if (has_four_numbers(name)) return true;
    if (is_prose_) return false;
    if (sign == Sign::kUser) return true;
    static const std::vector<IpAddress> kKnown = {*parse_ipv4("127.0.0.1"),
                                                  *parse_ipv4("169.254.169.254")};
    if (std::ranges::find(kKnown, address) != kKnown.end()) return true;
    const bool is_operand =
        is_of_network() && is_whole_word_ && (sign == Sign::kNone || is_behind_flag_);
    if (address.bytes[0] == 0) return is_operand || (has_more && is_of_network());
    return is_operand || (sign == Sign::kKey && is_behind_name_) || has_more ||
           lowered(name).starts_with("0x");
  }

  [[nodiscard]] bool is_of_network() const { return operand_.of_network; }

  // "-hevil.com", "-zxevil.com:80": the value of an option that letters are glued to.
  bool glued_value(std::string_view word, std::string_view port) {
    constexpr std::size_t kMostLetters = 4;
    bool is_host = false;
    is_whole_word_ = false;
    for (std::size_t i = 1; i <= kMostLetters && i + 1 < word.size(); ++i) {
      if (!is_letter(word[i])) break;
      is_host = candidate(word.substr(i + 1), Sign::kKey, !port.empty(), port) || is_host;
    }
    return is_host;
  }

  // Whether the word is a host there, and is taken.
  bool candidate(std::string_view word, Sign sign, bool has_more, std::string_view port) {
    const bool is_told = sign != Sign::kNone || has_more;
    if (is_prose_ && !is_told) return false;
    word = trimmed(word, [](char c) { return c == '_' || c == '-'; });
    while (word.starts_with('.')) word.remove_prefix(1);
    while (word.ends_with("..")) word.remove_suffix(1);
    if (word.empty()) return false;
    const std::string name = percent_decoded(word);
    const bool may_be =
        sign == Sign::kUser || name.find_first_of(".%") != name.npos || names_this_machine(name) ||
        is_digit(name.front()) ||
        std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
    if (!may_be) return false;
    const auto host = read_host(name);
    if (!host) return false;
    const auto* ascii = std::get_if<std::string>(&*host);
    const bool is_host = ascii == nullptr
                             ? is_address(name, std::get<IpAddress>(*host), sign, has_more)
                             : sign == Sign::kUser || ascii->contains('.') || is_localhost(*ascii);
    if (!is_host) return false;
    std::string text(name);
    if (!port.empty()) text.append(":").append(port);
    add("", text);
    return true;
  }

  // A host and, where digits follow its colon, a port.
  void add(const std::string& scheme, std::string_view text) {
    const auto bracket = text.starts_with('[') ? text.find(']') : 0;
    if (bracket == std::string_view::npos) return;
    const bool is_bare_ipv6 = bracket == 0 && std::ranges::count(text, ':') > 1;
    const auto colon = is_bare_ipv6 ? std::string_view::npos : text.find(':', bracket);
    std::optional<std::uint16_t> port;
    if (colon != std::string_view::npos) {
      const auto digits = text.substr(colon + 1);
      std::uint16_t number = 0;
      const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
      if (parsed.ec == std::errc{} && parsed.ptr == digits.data() + digits.size()) port = number;
    }
    for (auto& host : hosts_meant(text.substr(0, colon)))
      if (has_room()) found_.hosts.push_back({scheme, std::move(host), port});
  }

  UrlReadings& found_;
  std::string_view text_;
  bool is_prose_;
  const std::vector<OperandPlace>& places_;
  std::size_t place_ = 0;  // the next one
  OperandPlace operand_;
  std::size_t chunk_at_ = 0;
  bool is_behind_flag_ = false;
  bool is_behind_name_ = false;  // of what holds an address
  bool is_whole_word_ = false;   // the word that is read, up to marks behind it
  int depth_ = 0;                // of targets that are looked into
};

void find_authorities(std::string_view text, TextIs is, UrlReadings& found) {
  for (const auto& words : word_texts(text, is)) {
    found.unclear = found.unclear || words.is_unclear;
    if (!found.unclear) AuthorityFinder(words, found).find();
  }
}

// A text that begins as a URL of ours: line ends are left out, and a name of a user may have
// blanks.
void read_beginning(std::string_view text, TextIs is, UrlReadings& found) {
  if (auto url = read_url(text, PathMust::kBeAnything)) {
    const bool is_found = std::ranges::any_of(found.urls, [&](const Url& one) {
      return one.rest == url->rest && one.host_text == url->host_text && one.port == url->port &&
             one.scheme == url->scheme;
    });
    if (!is_found) found.urls.push_back(std::move(*url));
    return;
  }
  std::string joined;
  std::ranges::copy_if(text, std::back_inserter(joined), [](char c) { return !is_left_out(c); });
  // "http: words" is a sentence: no parser takes a blank for the beginning of a host.
  const auto host = joined.find_first_not_of("/\\", joined.find(':') + 1);
  if (host == std::string::npos || joined[host] == ' ') return;
  if (joined.size() < text.size()) find_authorities(joined, is, found);
  const std::string_view whole = front_of(joined);
  const auto at = whole.rfind('@');
  if (at != std::string_view::npos && whole.contains(' '))
    find_authorities(std::string("//").append(whole.substr(at + 1)), is, found);
  found.unclear = found.unclear || (found.urls.empty() && found.hosts.empty()) ||
                  whole.contains('\\') || std::ranges::count(whole, '@') > 1;
}

// Most values are one URL, or name nothing: whether it is one, with nothing around it.
bool read_alone(std::string_view text, UrlReadings& found) {
  if (text.find_first_of(",;|() ") != std::string_view::npos) return false;
  const auto query = std::min(text.find_first_of("?#"), text.size());
  // "https://evil.co{m}" is another URL to curl.
  if (text.substr(0, query).contains('&') || front_of(text).contains('{')) return false;
  auto url = read_url(text, PathMust::kBeAnything);
  if (!url || (!url->rest.empty() && !url->rest.starts_with('/'))) return false;
  const auto host = front_of(text);
  add_other_hosts(url->scheme, host.substr(host.find("://") + 3), url->port, found);
  found.urls.push_back(std::move(*url));
  const WordText none;
  if (query < text.size()) AuthorityFinder(none, found).find_targets(text.substr(query));
  return true;
}

UrlReadings read_as(std::string_view text, TextIs is) {
  UrlReadings found;
  find_authorities(text, is, found);
  if (found.unclear) return found;
  const auto bare = without_surroundings(text);
  if (colon_of(bare) != std::string_view::npos) {
    read_beginning(bare, is, found);
  } else if (bare.starts_with('/') || bare.starts_with('\\')) {
    // Behind two slashes, and between them, parsers leave line ends out as well.
    std::string joined;
    std::ranges::copy_if(bare, std::back_inserter(joined), [](char c) { return !is_left_out(c); });
    if (joined.size() < bare.size() && begins_as_url(joined)) find_authorities(joined, is, found);
  }
  return found;
}

}  // namespace

UrlReadings url_readings(std::string_view text, TextIs is) {
  UrlReadings found;
  if (read_alone(text, found)) return found;
  found = read_as(text, TextIs::kUnknown);
  // In a command there is more, and nothing less.
  const bool has_more = text.find_first_of(" \t\r\n{") != std::string_view::npos;
  if (is != TextIs::kCommand || found.unclear || !has_more) return found;
  UrlReadings as_command = read_as(text, is);
  std::ranges::move(as_command.urls, std::back_inserter(found.urls));
  std::ranges::move(as_command.hosts, std::back_inserter(found.hosts));
  found.unclear = as_command.unclear;
  found.looked_at += as_command.looked_at;
  return found;
}

}  // namespace mcpac::policy
