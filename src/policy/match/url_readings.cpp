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

// A set of bytes: long texts are looked at byte by byte.
using ByteSet = std::array<bool, 256>;
constexpr ByteSet bytes_where(auto holds) {
  ByteSet set{};
  for (int byte = 0; byte < 256; ++byte) set[static_cast<std::size_t>(byte)] = holds(byte);
  return set;
}

// What a host can consist of, codes and characters of IDNA among it.
bool is_of_host(char c) {
  static constexpr ByteSet kSet = bytes_where([](int byte) {
    return byte >= 0x80 || byte == '.' || byte == '%' || is_bare(static_cast<char>(byte));
  });
  return kSet[static_cast<unsigned char>(c)];
}

// What no URL has within it, and what stands around one.
bool ends_chunk(char c) {
  static constexpr ByteSet kSet = bytes_where([](int byte) {
    return byte <= 0x20 ||
           (byte < 0x80 && std::string_view("\"'`<>{}^|").contains(static_cast<char>(byte)));
  });
  return kSet[static_cast<unsigned char>(c)];
}

// A text with slashes for backslashes, and blanks for the blanks, quotes and brackets of Unicode.
std::string cleaned(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const char c = text.front();
    if (static_cast<unsigned char>(c) < 0x80) {
      out += c == '\\' ? '/' : c;
      text.remove_prefix(1);
      continue;
    }
    const Character character = first_character(text);
    const char32_t code = character.code;
    const bool is_gap = is_wide_blank(code) || code == 0xAB || code == 0xBB || code == 0x85 ||
                        (code >= 0x2018 && code <= 0x201F) || code == 0x2028 || code == 0x2029 ||
                        code == 0x2039 || code == 0x203A || (code >= 0x2045 && code <= 0x2046) ||
                        (code >= 0x2768 && code <= 0x2775) || (code >= 0x27E6 && code <= 0x27EF) ||
                        (code >= 0x3008 && code <= 0x301F && code != 0x3012 && code != 0x3013) ||
                        code == 0x3001 || code == 0xFF0C || code == 0xFF1B;
    if (is_gap) {
      out += ' ';
    } else {
      out.append(text.substr(0, character.bytes));
    }
    text.remove_prefix(character.bytes);
  }
  return out;
}

// More words than this are prose, in which a name with a dot is no host by itself: "see evil.com
// for more". A command has one or two: "ssh evil.com ls".
constexpr int kMostPlainWords = 2;

bool is_prose(std::string_view text) {
  int words = 0;
  bool is_value = false;  // of an option
  while (!text.empty() && words <= kMostPlainWords) {
    const auto end = std::ranges::find_if(text, ends_chunk) - text.begin();
    std::string_view word = text.substr(0, static_cast<std::size_t>(end));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (word.empty()) continue;
    if (word == "//" || word == "#") return true;  // a comment
    const bool is_option = word.size() > 1 && word.front() == '-';
    while (!word.empty() && std::string_view(".,:;!?()[]*_").contains(word.back()))
      word.remove_suffix(1);
    while (!word.empty() && std::string_view("([*_").contains(word.front())) word.remove_prefix(1);
    const bool is_plain = !word.empty() && std::ranges::all_of(word, [](char c) {
      return is_letter(c) || c == '-' || static_cast<unsigned char>(c) >= 0x80;
    });
    if (is_plain && !is_option && !is_value) ++words;
    is_value = is_option && !word.contains('=');
  }
  return words > kMostPlainWords;
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
        signs(chunk, ".@", looked_at) {}

  NextOf of_authority;
  NextOf of_front;
  NextOf signs;
};

class AuthorityFinder {
 public:
  AuthorityFinder(std::string_view text, UrlReadings& found)
      : found_(found), text_(text), is_prose_(is_prose(text)) {}

  void find() {
    Sign sign = Sign::kNone;
    for (std::size_t at = 0; at < text_.size();) {
      const auto begin = std::find_if_not(text_.begin() + static_cast<std::ptrdiff_t>(at),
                                          text_.end(), ends_chunk);
      const auto end = std::find_if(begin, text_.end(), ends_chunk);
      const std::string_view chunk(begin, end);
      at = static_cast<std::size_t>(end - text_.begin());
      if (chunk.empty()) return;
      read(chunk, sign);
      if (found_.unclear) return;
      sign = sign_behind(chunk, at);
    }
  }

 private:
  // What a chunk says of the next one: "key =", "key: h" at the end of a line, "--key".
  [[nodiscard]] Sign sign_behind(std::string_view chunk, std::size_t end) const {
    if (chunk.ends_with('=')) return Sign::kKey;
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
    const auto is_word = [](char c) { return !ends_chunk(c); };
    const auto behind = skip(skip(skip(end, ends_chunk), is_word), ends_chunk);
    return behind == text_.size() || !is_in_line(text_[behind]) ? Sign::kKey : Sign::kNone;
  }

  void read(std::string_view chunk, Sign sign) {
    const bool is_word = std::ranges::all_of(chunk, [](char c) { return is_letter(c); });
    if (is_word && !names_this_machine(chunk)) return;
    walk(chunk, sign);
    if (!chunk.contains('%') || chunk.contains("://")) return;
    // A form encodes what it sends: "url=https%3A%2F%2Fh".
    std::string decoded = cleaned(percent_decoded(chunk));
    std::ranges::replace_if(decoded, ends_chunk, '+');
    if (decoded.contains("//") || decoded.contains('@')) walk(decoded, sign);
  }

  static bool names_this_machine(std::string_view chunk) {
    return chunk.size() < 64 && lowered(chunk).contains("localhost");
  }

  void walk(std::string_view chunk, Sign sign) {
    if (is_ipv6(chunk)) {
      if (!is_prose_ || sign != Sign::kNone) add("", "[" + std::string(chunk) + "]");
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
    return std::ranges::count(chunk, ':') > 1 &&
           std::ranges::all_of(chunk,
                               [](char c) { return hex_value(c) >= 0 || c == ':' || c == '.'; }) &&
           parse_ipv6(chunk).has_value();
  }

  // "scheme://…", "//…", "http:…" at this place: where it ends; the place itself where none is.
  std::size_t authority(std::string_view chunk, std::size_t at, Ends& ends) {
    const auto rest = chunk.substr(at);
    const auto length = scheme_length(rest.substr(0, kLongestAnyScheme));
    const auto begin = length == 0 ? 0 : length + 1;
    const auto behind = std::min(rest.find_first_not_of('/', begin), rest.size());
    const auto slashes = behind - begin;
    std::string scheme = lowered(rest.substr(0, length));
    const bool is_ours = default_port(scheme) != 0;
    if (slashes < 2 && !is_ours) return at;
    if (slashes == 0 && !may_be_host(chunk, at + behind, ends)) return at;
    // "file:///x" names this machine, "file:////h/x" another one.
    if (scheme == "file" && slashes == 3) return skipped(chunk, at + behind);
    auto end = ends.of_authority.from(at + behind) - at;
    for (std::size_t i = behind; i < end; ++i) {
      ++found_.looked_at;
      if ((rest[i] == ',' || rest[i] == ';') && begins_url(rest.substr(i + 1))) end = i;
    }
    const auto next = end < rest.size() && std::string_view("/?#").contains(rest[end])
                          ? skipped(chunk, at + end)
                          : at + end;
    const auto front = rest.substr(behind, end - behind);
    const std::string_view path = chunk.substr(at + end, next - at - end);
    const bool is_loose = slashes == 3 && !is_ours && length > 0;
    hosts_of(std::move(scheme), front, path, is_loose);
    return next;
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
    if (default_port(scheme) == 0) return add(scheme, text);
    const std::string front = scheme + "://" + std::string(text);
    auto url = read_url(front + std::string(path), PathMust::kBeAnything);
    if (!url) url = read_url(front);
    if (!url) return add(scheme, text);
    if (has_room()) found_.urls.push_back(std::move(*url));
  }

  bool has_room() {
    found_.unclear = found_.unclear || found_.urls.size() + found_.hosts.size() >= kMostAuthorities;
    return !found_.unclear;
  }

  static bool begins_url(std::string_view text) {
    const auto scheme = scheme_length(text.substr(0, kLongestAnyScheme));
    return text.substr(scheme == 0 ? 0 : scheme + 1).starts_with("//") ||
           (scheme > 0 && default_port(lowered(text.substr(0, scheme))) != 0);
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

  // Behind the path and the query that begin at `from`, which name no host: up to the end of a
  // list's entry, or the bracket that the URL stands in.
  [[nodiscard]] static std::size_t skipped(std::string_view chunk, std::size_t from) {
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
      if (begins_url(rest)) return at;
    }
    return chunk.size();
  }

  std::size_t separator(std::string_view chunk, std::size_t at, Sign& sign, Sign& in_list) {
    const char c = chunk[at];
    switch (c) {
      case '/':
      case '?':
      case '#': return skipped(chunk, at);
      case '[': {
        const auto close = chunk.substr(0, at + kLongestAnyScheme).find(']', at);
        if (close != std::string_view::npos &&
            parse_ipv6(chunk.substr(at + 1, close - at - 1)).has_value()) {
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
    const Sign own = sign;
    sign = Sign::kNone;
    if (own == Sign::kScope) return rest.starts_with('/') ? skipped(chunk, end) : end;
    const auto digits = port_digits(rest);
    if (digits > 0) {
      if (candidate(name, own, true, rest.substr(1, digits))) in_list = Sign::kKey;
      return end + 1 + digits;
    }
    const bool has_path = rest.starts_with('/') || rest.starts_with(":/") || rest.starts_with("::");
    const bool is_user = rest.starts_with('@');
    const bool is_host = candidate(name, own, has_path && !is_user, {});
    if (is_host && own != Sign::kNone) in_list = Sign::kKey;
    if (rest.starts_with('(')) sign = own == Sign::kUser ? own : Sign::kNone;
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

  // How many digits a port behind a name has: ":443", and nothing that makes it a word.
  static std::size_t port_digits(std::string_view rest) {
    if (!rest.starts_with(':')) return 0;
    const auto end = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
    const bool is_word = end < rest.size() && (is_of_host(rest[end]) || rest[end] == '@');
    return is_word || end > 6 ? 0 : end - 1;
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
    const bool is_host =
        ascii == nullptr
            ? has_four_numbers(name) || (!is_prose_ && (sign == Sign::kUser || has_more ||
                                                        lowered(name).starts_with("0x")))
            : sign == Sign::kUser || ascii->contains('.') || is_localhost(*ascii);
    if (!is_host) return false;
    std::string text(name);
    if (!port.empty()) text.append(":").append(port);
    add("", text);
    return true;
  }

  // A host and, where digits follow its colon, a port.
  void add(std::string scheme, std::string_view text) {
    const auto bracket = text.starts_with('[') ? text.find(']') : 0;
    if (bracket == std::string_view::npos) return;
    const auto colon = text.find(':', bracket);
    auto host = read_host(text.substr(0, colon));
    if (!host || !has_room()) return;
    std::optional<std::uint16_t> port;
    if (colon != std::string_view::npos) {
      const auto digits = text.substr(colon + 1);
      std::uint16_t number = 0;
      const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
      if (parsed.ec == std::errc{} && parsed.ptr == digits.data() + digits.size()) port = number;
    }
    found_.hosts.push_back({std::move(scheme), std::move(*host), port});
  }

  UrlReadings& found_;
  std::string_view text_;
  bool is_prose_;
};

void find_authorities(std::string_view text, UrlReadings& found) {
  const std::string clean = cleaned(text);
  AuthorityFinder(clean, found).find();
}

// A text that begins as a URL of ours: line ends are left out, and a name of a user may have
// blanks.
void read_beginning(std::string_view text, UrlReadings& found) {
  if (auto url = read_url(text, PathMust::kBeAnything)) {
    found.urls.push_back(std::move(*url));
    return;
  }
  std::string joined;
  std::ranges::copy_if(text, std::back_inserter(joined), [](char c) { return !is_left_out(c); });
  // "http: words" is a sentence: no parser takes a blank for the beginning of a host.
  const auto host = joined.find_first_not_of("/\\", joined.find(':') + 1);
  if (host == std::string::npos || joined[host] == ' ') return;
  if (joined.size() < text.size()) find_authorities(joined, found);
  const std::string_view whole = front_of(joined);
  const auto at = whole.rfind('@');
  if (at != std::string_view::npos && whole.contains(' '))
    find_authorities(std::string("//").append(whole.substr(at + 1)), found);
  found.unclear = (found.urls.empty() && found.hosts.empty()) || whole.contains('\\') ||
                  std::ranges::count(whole, '@') > 1;
}

}  // namespace

UrlReadings url_readings(std::string_view text) {
  UrlReadings found;
  // Most values are one URL, or name nothing.
  if (text.find_first_of(",;&|() ") == std::string_view::npos) {
    if (auto url = read_url(text, PathMust::kBeAnything)) {
      found.urls.push_back(std::move(*url));
      return found;
    }
  }
  find_authorities(text, found);
  if (found.unclear) return found;
  const auto bare = without_surroundings(text);
  if (colon_of(bare) != std::string_view::npos) {
    read_beginning(bare, found);
  } else if (bare.starts_with("//") || bare.starts_with("\\\\")) {
    // Behind two slashes parsers leave line ends out as well.
    std::string joined;
    std::ranges::copy_if(bare, std::back_inserter(joined), [](char c) { return !is_left_out(c); });
    if (joined.size() < bare.size()) find_authorities(joined, found);
  }
  return found;
}

}  // namespace mcpac::policy
