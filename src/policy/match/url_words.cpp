// SPDX-License-Identifier: Apache-2.0

// Words of a text in which authorities are looked for (url.h, word_texts).
#include <unistr.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "core/ascii.h"
#include "core/characters.h"
#include "core/trimmed.h"
#include "policy/match/path_readings.h"
#include "policy/match/url.h"

namespace mcpac::policy {
namespace {

// More words than this are prose, in which a name with a dot is no host by itself: "see evil.com
// for more". A command has one or two: "ssh evil.com ls".
constexpr int kMostPlainWords = 2;

bool is_prose(std::string_view text) {
  int words = 0;
  bool is_value = false;  // of an option
  while (!text.empty() && words <= kMostPlainWords) {
    const auto end = std::ranges::find_if(text, ends_word) - text.begin();
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

// What takes quotes and escapes off a word.
enum class ReadBy : std::uint8_t { kShell, kSource };

// A text as a shell, a mail address or source code reads its words: quotes within a word, escapes
// and variables without a value are gone. Quotes around words stay, for they part texts.
class Unquoted {
 public:
  Unquoted(std::string_view text, ReadBy by) : text_(text), by_(by) {}

  std::string read() {
    out_.reserve(text_.size());
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\\') {
        read_escape();
      } else if (is_quote_mark(c)) {
        read_quotes();
      } else if (c == '&' && by_ == ReadBy::kSource && reads_entity()) {
        continue;
      } else if (c != '$' || !skips_variable()) {
        out_ += c;
        ++at_;
      }
    }
    return std::move(out_);
  }

 private:
  static bool is_quote_mark(char c) { return c == '\'' || c == '"' || c == '`'; }
  static bool is_in_word(char c) {
    return is_word(c) || std::string_view("-.%@").contains(c) ||
           static_cast<unsigned char>(c) >= 0x80;
  }
  [[nodiscard]] char next(std::size_t beyond) const {
    return at_ + beyond < text_.size() ? text_[at_ + beyond] : '\0';
  }

  void read_quotes() {
    auto end = at_;
    while (end < text_.size() && is_quote_mark(text_[end])) {
      is_open_ = !is_open_;
      ++end;
    }
    const char behind = end < text_.size() ? text_[end] : '\0';
    const bool is_within = !out_.empty() && is_in_word(out_.back()) && is_in_word(behind);
    // `"b b:"@h` is a mail address, `"@scope/name"` is none.
    const bool ends_user = behind == '@' && !is_open_;
    if (!is_within && !ends_user) out_.append(text_.substr(at_, end - at_));
    at_ = end;
  }

  void read_escape() {
    const char c = next(1);
    const auto digits = [&](std::size_t from, std::size_t count, int base) {
      unsigned value = 0;
      for (std::size_t i = from; i < from + count; ++i) {
        const int digit = hex_value(next(i));
        if (digit < 0 || digit >= base) return 0U;
        value = value * static_cast<unsigned>(base) + static_cast<unsigned>(digit);
      }
      return value;
    };
    if (c == 'x' && append(digits(2, 2, 16), 4)) return;
    if (c == 'u' && append(digits(2, 4, 16), 6)) return;
    if (append(digits(1, 3, 8), 4)) return;
    const bool ends_line = c == 'n' || c == 't' || c == 'r';
    if (by_ == ReadBy::kSource && ends_line) out_ += ' ';
    const bool is_taken = c != '\0' && c != '\n' && !(by_ == ReadBy::kSource && ends_line);
    if (is_taken) out_ += c;
    at_ += c == '\0' ? 1 : 2;
  }

  // A character of an escape that is so long; zero is none.
  bool append(unsigned code, std::size_t length) {
    if (code == 0) return false;
    std::uint8_t bytes[4];
    const int count = ::u8_uctomb(bytes, code, sizeof bytes);
    if (count <= 0) return false;
    out_.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
    at_ += length;
    return true;
  }

  // A character of HTML: "&#47;", "&#x2f;", "&sol;".
  bool reads_entity() {
    struct Named {
      std::string_view name;
      char character;
    };
    static constexpr Named kNamed[] = {{"&sol;", '/'},    {"&colon;", ':'}, {"&period;", '.'},
                                       {"&commat;", '@'}, {"&quest;", '?'}, {"&bsol;", '\\'}};
    const auto rest = text_.substr(at_);
    for (const auto& [name, character] : kNamed) {
      if (rest.starts_with(name)) return append(static_cast<unsigned char>(character), name.size());
    }
    if (!rest.starts_with("&#")) return false;
    const bool is_hex = rest.size() > 2 && to_lower(rest[2]) == 'x';
    const std::size_t begin = is_hex ? 3 : 2;
    constexpr std::size_t kMostDigits = 8;
    unsigned code = 0;
    std::size_t end = begin;
    for (; end < rest.size() && end < begin + kMostDigits && hex_value(rest[end]) >= 0; ++end) {
      if (!is_hex && !is_digit(rest[end])) break;
      code = code * (is_hex ? 16 : 10) + static_cast<unsigned>(hex_value(rest[end]));
    }
    if (end == begin) return false;
    return append(code, end < rest.size() && rest[end] == ';' ? end + 1 : end);
  }

  // "$@", "${x}", "$()" in a word, and the dollar of "$'h'".
  bool skips_variable() {
    constexpr std::size_t kLongestName = 64;
    const char c = next(1);
    if (c == '@' || c == '*') {
      at_ += 2;
      return true;
    }
    if (c == '\'' || c == '"') {
      ++at_;
      return true;
    }
    if (c != '{' && c != '(') return false;
    const auto end = text_.substr(0, at_ + kLongestName).find(c == '{' ? '}' : ')', at_);
    if (end == std::string_view::npos || (c == '(' && end != at_ + 2)) return false;
    at_ = end + 1;
    return true;
  }

  std::string_view text_;
  ReadBy by_;
  std::size_t at_ = 0;
  std::string out_;
  bool is_open_ = false;  // a quote
};

// To these a bare "0" and "10.1" are addresses.
bool is_network_program(std::string_view word) {
  static constexpr std::string_view kPrograms[] = {
      "curl",  "wget",  "ssh",   "scp",      "sftp", "ftp",  "nc",   "ncat",  "netcat", "telnet",
      "ping",  "dig",   "host",  "rsync",    "xh",   "nmap", "http", "mosh",  "lftp",   "socat",
      "ping6", "wget2", "https", "nslookup", "axel", "rsh",  "tftp", "aria2c"};
  return std::ranges::find(kPrograms, word) != std::end(kPrograms);
}
bool is_package_manager(std::string_view word) {
  static constexpr std::string_view kManagers[] = {
      "npm",  "npx", "pnpm", "pnpx", "yarn", "bun",      "bunx", "cargo", "pip",
      "pip3", "uv",  "uvx",  "pipx", "go",   "composer", "deno", "gem"};
  return std::ranges::find(kManagers, word) != std::end(kManagers);
}
// What stands in front of the program that it runs.
bool runs_next(std::string_view word) {
  static constexpr std::string_view kBeforeProgram[] = {
      "sudo", "env",  "time", "exec", "nohup", "command",  "then", "do",     "else",   "if",
      "sh",   "bash", "zsh",  "dash", "npm",   "corepack", "!",    "python", "python3"};
  return word.starts_with('-') || word.contains('=') ||
         std::ranges::find(kBeforeProgram, word) != std::end(kBeforeProgram);
}

// Whose operands the words of a text are. A net and no shell: where quotes may be none, what is
// said within them holds behind them.
class OperandReader {
 public:
  explicit OperandReader(std::string_view text) : text_(text), has_lines_(text.contains('\n')) {}

  std::vector<OperandPlace> read() {
    for (at_ = 0; at_ < text_.size(); ++at_) read_one(text_[at_]);
    // A line without an end of its quotes is not run; of several, others may be.
    if (open_.empty() || is_in_doubt_ || !has_lines_) return std::move(places_);
    OperandReader again(text_);
    again.is_in_doubt_ = true;
    return again.read();
  }

 private:
  struct Command {
    bool of_network = false;
    bool of_packages = false;
    bool has_program = false;
  };
  // Quotes or brackets that are open, and the command that goes on behind them.
  struct Open {
    char closer = '\0';
    std::size_t at = 0;
    Command outside;
  };
  static constexpr std::size_t kDeepest = 64;

  [[nodiscard]] char next() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; }
  [[nodiscard]] char before() const { return at_ > 0 ? text_[at_ - 1] : '\0'; }
  [[nodiscard]] bool is_in_word() const { return word_ < at_; }

  void read_one(char c) {
    if (c == '\\') {
      // The end of a quoted text to some shells, and none to "$'…'".
      if (next() == '\'' && !open_.empty() && open_.back().closer == '\'') is_in_doubt_ = true;
      ++at_;
    } else if (c == '"' || c == '\'' || c == ')' || c == '(' || c == '`') {
      end_word();
      read_mark(c);
      word_ = at_ + 1;
    } else if (c == '#' && !is_in_word() && open_.empty()) {
      while (at_ + 1 < text_.size() && next() != '\n') ++at_;
      word_ = at_ + 1;
    } else if (static_cast<unsigned char>(c) <= 0x20 || c == '|' || c == '<' || c == '>') {
      end_word();
      if (c == '\n' || c == '|') begin_command();
      word_ = at_ + 1;
    } else if ((c == ';' || c == '&') && parts_commands(c)) {
      end_word();
      begin_command();
      word_ = at_ + 1;
    }
  }

  // "https://a/?b&c;d" is a word, "2>&1" parts nothing.
  [[nodiscard]] bool parts_commands(char c) const {
    if (c == '&' && (before() == '>' || before() == '<' || next() == '>')) return false;
    if (c == '&' && (next() == '&' || before() == '&')) return true;
    return next() == '\0' || std::string_view(" \t\r\n;\"')").contains(next());
  }

  void read_mark(char c) {
    const char closer = c == '(' ? ')' : c;
    const auto is_closed_by = [&](const Open& one) { return c != '(' && one.closer == closer; };
    const auto found = std::find_if(open_.rbegin(), open_.rend(), is_closed_by);
    if (found == open_.rend()) {
      if (c == ')' || open_.size() == kDeepest) return;
      open_.push_back({closer, at_ + 1, command_});
      if (c == '"' || c == '\'') read_quoted(c);
      return;
    }
    const auto within = text_.substr(found->at, at_ - found->at);
    const bool names_program = c != ')' && is_network_program(base_of(within));
    const bool may_be_none = (is_in_doubt_ || within.contains('\n')) && command_.of_network;
    Command outside = found->outside;
    outside.of_network = outside.of_network || names_program || may_be_none;
    outside.has_program = outside.has_program || c != ')';
    open_.erase(std::next(found).base(), open_.end());
    command_ = outside;
    mark();
  }

  // A text of several words, for an option, is no operand.
  void read_quoted(char quote) {
    if (is_in_doubt_ || has_lines_) return;
    const auto end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return;
    const auto within =
        trimmed(text_.substr(at_ + 1, end - at_ - 1), [](char c) { return c == ' '; });
    if (!within.contains(' ')) return;
    command_.of_network = false;
    mark();
  }

  void begin_command() {
    const bool stays = is_in_doubt_ && command_.of_network;
    command_ = {.of_network = stays};
    mark();
  }

  static std::string_view base_of(std::string_view word) {
    word.remove_prefix(std::min(word.find_last_of("/\\") + 1, word.size()));
    if (word.ends_with(".exe")) word.remove_suffix(4);
    return word;
  }

  void end_word() {
    if (!is_in_word()) return;
    const auto word = text_.substr(word_, at_ - word_);
    const auto base = base_of(word);
    const bool is_network = is_network_program(base);
    command_.of_network = command_.of_network || is_network;
    if (is_network) command_.of_packages = false;
    if (!command_.has_program && is_package_manager(base) && !command_.of_network) {
      command_.of_packages = command_.has_program = true;
    } else if (!runs_next(word)) {
      command_.has_program = true;
    }
    mark();
  }

  void mark() {
    const OperandPlace place{at_, command_.of_network, command_.of_packages};
    const OperandPlace last = places_.empty() ? OperandPlace{} : places_.back();
    if (place.of_network != last.of_network || place.of_packages != last.of_packages)
      places_.push_back(place);
  }

  std::string_view text_;
  bool has_lines_;
  std::size_t at_ = 0;
  std::size_t word_ = 0;      // where the word that is read begins
  bool is_in_doubt_ = false;  // where quotes end: no program's operands end, either
  Command command_;
  std::vector<Open> open_;
  std::vector<OperandPlace> places_;
};

// A text as its words are looked for.
WordText word_text(std::string_view text) {
  WordText words;
  words.places = OperandReader(text).read();
  std::size_t done = 0;
  for (auto& place : words.places) {
    words.text += with_plain_blanks(text.substr(done, place.at - done));
    done = place.at;
    place.at = words.text.size();
  }
  words.text += with_plain_blanks(text.substr(done));
  return words;
}

constexpr std::size_t kMostGlobbed = 1'000;  // texts that one word with globs of curl stands for

// "[1-10]", "[01-10:2]", "[a-z]": what curl makes of it; nothing where it is none, and more than
// kMostGlobbed where there are too many.
std::vector<std::string> range_items(std::string_view inner) {
  const auto colon = std::min(inner.find(':'), inner.size());
  const auto number = [](std::string_view digits) -> std::optional<std::uint64_t> {
    constexpr std::size_t kMostDigits = 18;
    if (digits.empty() || digits.size() > kMostDigits || !std::ranges::all_of(digits, is_digit))
      return std::nullopt;
    std::uint64_t value = 0;
    for (const char c : digits) value = value * 10 + static_cast<std::uint64_t>(c - '0');
    return value;
  };
  const auto step =
      colon < inner.size() ? number(inner.substr(colon + 1)) : std::optional<std::uint64_t>(1);
  const auto bounds = inner.substr(0, colon);
  const auto dash = bounds.find('-');
  if (!step || *step == 0 || dash == std::string_view::npos) return {};
  const auto low = bounds.substr(0, dash);
  const auto high = bounds.substr(dash + 1);
  std::vector<std::string> items;
  if (low.size() == 1 && high.size() == 1 && is_letter(low[0]) && is_letter(high[0])) {
    for (std::uint64_t c = static_cast<unsigned char>(low[0]);
         c <= static_cast<unsigned char>(high[0]); c += std::min<std::uint64_t>(*step, 256))
      items.emplace_back(1, static_cast<char>(c));
    return items;
  }
  const auto first = number(low);
  const auto last = number(high);
  if (!first || !last) return {};
  for (auto i = *first; i <= *last && items.size() <= kMostGlobbed; i += *step) {
    std::string text = std::to_string(i);
    if (low.size() > text.size() && low.starts_with('0'))
      text.insert(0, low.size() - text.size(), '0');
    items.push_back(std::move(text));
  }
  return items;
}

// What curl makes of a word with globs, "evi[l-l].co{m,n}", up to the path; none where the word has
// no globs there, and nothing where it stands for too much.
std::optional<std::vector<std::string>> globbed(std::string_view word) {
  std::vector<std::string> all = {""};
  bool has_globs = false;
  const auto has_host = [](const std::string& one) {
    return !one.empty() && one.back() != ':' && one.back() != '/';
  };
  while (!word.empty()) {
    std::vector<std::string> items;
    const auto close = word.front() == '{'   ? word.find('}')
                       : word.front() == '[' ? word.find(']')
                                             : std::string_view::npos;
    const auto inner = close == std::string_view::npos ? word : word.substr(1, close - 1);
    if (close != std::string_view::npos && word.front() == '[') items = range_items(inner);
    if (close != std::string_view::npos && word.front() == '{') {
      std::size_t begin = 0;
      for (auto end = begin; end <= inner.size(); ++end) {
        if (end < inner.size() && inner[end] != ',') continue;
        items.emplace_back(inner.substr(begin, end - begin));
        begin = end + 1;
      }
    }
    if (items.empty()) {
      const char c = word.front();
      if (std::string_view("/?#").contains(c) && std::ranges::all_of(all, has_host)) break;
      for (auto& one : all) one += c;
      word.remove_prefix(1);
      continue;
    }
    has_globs = true;
    if (all.size() * items.size() > kMostGlobbed) return std::nullopt;
    std::vector<std::string> next;
    for (const auto& one : all)
      for (const auto& item : items) next.push_back(one + item);
    all = std::move(next);
    word.remove_prefix(close + 1);
  }
  if (!has_globs) all.clear();
  return all;
}

// The URLs with globs in a text, and the operands of its network programs.
class GlobReader {
 public:
  explicit GlobReader(const WordText& words)
      : words_(words), most_(kLeastPathBudget + kPathBudgetPerByte * words.text.size()) {}

  WordText read() {
    constexpr std::string_view kBetween = " \t\r\n\"'`<>";
    const std::string_view text = words_.text;
    std::size_t place = 0;
    bool of_network = false;
    for (std::size_t at = 0; at < text.size() && !found_.is_unclear;) {
      const auto end = std::min(text.find_first_of(kBetween, at), text.size());
      const auto word = text.substr(at, end - at);
      for (; place < words_.places.size() && words_.places[place].at <= at; ++place)
        of_network = words_.places[place].of_network;
      at = end + 1;
      if (word.find_first_of("{[") == std::string_view::npos) continue;
      read_word(word, of_network);
    }
    found_.is_prose = words_.is_prose;
    return std::move(found_);
  }

 private:
  void read_word(std::string_view word, bool is_operand) {
    const auto first = word.find("://");
    if (!is_operand && first == std::string_view::npos) return;
    const bool is_meant = is_operand || word.size() == words_.text.size();
    const auto may_be_scheme = [](char c) {
      return is_alphanumeric(c) || std::string_view("+.-{}[],").contains(c);
    };
    if (is_operand || std::ranges::all_of(word.substr(0, first), may_be_scheme))
      expand(word, is_operand, is_meant);
    // Entries of a list, and targets.
    constexpr std::size_t kMostEntries = 8;
    std::size_t entries = 0;
    for (auto at = first; at != std::string_view::npos; at = word.find("://", at + 1)) {
      const auto mark = word.substr(0, at).find_last_of(",;|&=(");
      if (mark == std::string_view::npos) continue;
      if (++entries > kMostEntries) break;
      expand(word.substr(mark + 1), is_operand, is_meant);
    }
  }

  void expand(std::string_view word, bool is_operand, bool is_meant) {
    const auto all = globbed(word);
    // Elsewhere it is a pattern of texts: "http://[0-9]{1,3}\\.…"
    if (!all) {
      found_.is_unclear = found_.is_unclear || is_meant;
      return;
    }
    if (all->empty()) return;
    if (is_operand && found_.places.empty()) found_.places.push_back({0, true, false});
    for (const auto& one : *all) found_.text.append(one).append(" ");
    found_.is_unclear = found_.is_unclear || found_.text.size() > most_;
  }

  const WordText& words_;
  std::size_t most_;  // bytes
  WordText found_;
};

// The words with braces of a command, as a shell expands them, blanks between them; nothing where
// there are too many.
std::optional<std::string> expanded(std::string_view text) {
  std::string all;
  const std::size_t most = kLeastPathBudget + kPathBudgetPerByte * text.size();
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(" \t\r\n"), text.size());
    const auto word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!word.contains('{')) continue;
    const auto alternatives = brace_alternatives(word);
    if (!alternatives) return std::nullopt;
    for (const auto& one : *alternatives) all.append(one).append(" ");
    if (all.size() > most) return std::nullopt;
  }
  return all;
}

}  // namespace

// What no URL has within it, and what stands around one.
bool ends_word(char c) {
  // A table, for long texts are looked at byte by byte.
  static constexpr auto kEnds = [] {
    std::array<bool, 256> ends{};
    for (std::size_t byte = 0; byte <= 0x20; ++byte) ends[byte] = true;
    for (const char mark : std::string_view("\"'`<>{}^|"))
      ends[static_cast<unsigned char>(mark)] = true;
    return ends;
  }();
  return kEnds[static_cast<unsigned char>(c)];
}

std::string with_plain_blanks(std::string_view text) {
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

std::vector<WordText> word_texts(std::string_view text, TextIs is) {
  std::vector<WordText> texts;
  const bool is_command = is == TextIs::kCommand;
  texts.push_back(word_text(text));
  texts.front().is_prose = !is_command && is_prose(texts.front().text);
  const bool has_apostrophe = std::ranges::count(text, '\'') % 2 != 0;
  const auto add = [&](const std::string& other) {
    if (other == text) return;
    WordText words = word_text(other);
    if (std::ranges::find(texts, words.text, &WordText::text) != texts.end()) return;
    // "don't use h": an apostrophe makes no word of two.
    words.is_prose =
        !is_command && (is_prose(words.text) || (has_apostrophe && texts.front().is_prose));
    texts.push_back(std::move(words));
  };
  if (text.find_first_of("\\'\"`$") != std::string_view::npos)
    add(Unquoted(text, ReadBy::kShell).read());
  const bool has_entities = text.contains('&') && text.contains(';');
  if (has_entities || text.contains('\\')) add(Unquoted(text, ReadBy::kSource).read());
  if (text.find_first_of("{[") != std::string_view::npos) {
    for (std::size_t i = 0, count = texts.size(); i < count; ++i) {
      WordText expanded = GlobReader(texts[i]).read();
      texts[i].is_unclear = texts[i].is_unclear || expanded.is_unclear;
      if (!expanded.text.empty()) texts.push_back(std::move(expanded));
    }
  }
  if (!is_command || !text.contains('{')) return texts;
  if (const auto words = expanded(text)) {
    add(*words);
  } else {
    texts.front().is_unclear = true;
  }
  return texts;
}

}  // namespace mcpac::policy
