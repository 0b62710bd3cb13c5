// SPDX-License-Identifier: Apache-2.0

#include "policy/match/path_readings.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/ascii.h"
#include "core/characters.h"
#include "core/json.h"
#include "core/percent_code.h"
#include "policy/match/url.h"
#include "policy/match/value_parts.h"

namespace mcpac::policy {
namespace {

bool is_blank(char c) {
  return static_cast<unsigned char>(c) <= 0x20;
}

// "~", "~/x", "~root/x": a home. Where another user's lies is not known here, so it is taken for
// the owner's, who is often meant by name as well. `numbers`: "~1" is a folder that was entered.
enum class Numbers : std::uint8_t { kNames, kFolders };
std::optional<std::string_view> below_home(std::string_view text, std::string_view home,
                                           Numbers numbers) {
  if (!text.starts_with('~')) return std::nullopt;
  const auto end = std::min(text.find('/'), text.size());
  const auto name = text.substr(1, end - 1);
  const bool is_owner = !home.empty() && name == home.substr(home.rfind('/') + 1);
  const bool is_folder = numbers == Numbers::kFolders && std::ranges::all_of(name, is_digit);
  if (!begins_with_home(text) && !is_owner && !is_folder) return std::nullopt;
  const bool is_name = std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
  });
  return is_name ? std::optional(text.substr(end)) : std::nullopt;
}

// One reading. Too long for the kernel as it stands is still opened by servers that tidy the text.
std::optional<PathValue> path_below(std::string_view prefix, std::string_view text) {
  PathValue path{prefix.empty() ? text.starts_with('/') : true, {}};
  std::vector<std::string_view> tidy;
  std::size_t length = 0;
  std::size_t ups = 0;  // ".." that stand at the beginning of `tidy`
  const bool keeps_raw = text.size() <= kMaxPath;
  if (keeps_raw) path.components = split(text);
  while (!keeps_raw && !text.empty()) {
    const auto slash = std::min(text.find('/'), text.size());
    const auto name = text.substr(0, slash);
    text.remove_prefix(std::min(slash + 1, text.size()));
    if (name.empty() || name == ".") continue;
    if (name == ".." && tidy.size() > ups) {
      length -= tidy.back().size() + 1;
      tidy.pop_back();
      continue;
    }
    if (name == "..") {
      if (path.absolute) continue;
      ++ups;
    }
    tidy.push_back(name);
    length += name.size() + 1;
  }
  if (length > kMaxPath) return std::nullopt;
  if (!keeps_raw) path.components.assign(tidy.begin(), tidy.end());
  for (auto& name : path.components) name = nfc(name);
  if (!prefix.empty()) {
    Components whole = split(prefix);
    whole.insert(whole.end(), path.components.begin(), path.components.end());
    path.components = std::move(whole);
  }
  return path;
}

bool is_space(char c) {
  return c == ' ' || is_control(c);
}

// Texts with more words or bytes are documents. What a program was told to run is longer at times.
constexpr std::size_t kMostWords = 40;
// Names of files have some words, sentences more.
constexpr std::size_t kMostWordsOfName = 5;
constexpr std::size_t kLongestText = 4096;
constexpr std::size_t kLongestCommand = std::size_t{1} << 16U;
// Schemes before schemes ("jar:file:"), and readings of what is encoded twice.
constexpr int kMostSchemes = 8;
constexpr int kMostDecodings = 2;
// Of one word: alternatives in braces, and parts that go on to its end.
constexpr std::size_t kMostAlternatives = 64;
constexpr std::size_t kMostEnds = 16;

bool has_words_beyond(std::string_view text, std::size_t most) {
  std::size_t words = 0;
  std::size_t lines = 0;
  bool inside = false;
  for (const char c : text) {
    if (c == '\n') ++lines;
    if (!is_space(c) && !inside) ++words;
    inside = !is_space(c);
  }
  return words > most && words > lines + 1;  // a word a line is a list
}

// Whether each backslash escapes a sign or stands for a class, as in expressions.
bool is_expression(std::string_view text) {
  constexpr std::string_view kEscaped = ".()[]{}|*+?^$\\/-\"'wWdDsSbBnrt";
  for (auto at = text.find('\\'); at < text.size(); at = text.find('\\', at + 2)) {
    if (at + 1 == text.size() || !kEscaped.contains(text[at + 1])) return false;
  }
  return true;
}

// The variables that shells and servers put the home, the user's name or the current folder in for,
// in all the ways to write them: $HOME, ${HOME:-x}, $(HOME), %USERPROFILE%, $env:HOME.
class Variables {
 public:
  explicit Variables(std::string_view home) : home_(home) {}

  // The text with their values; nothing where it has none.
  [[nodiscard]] std::optional<std::string> filled(std::string_view text) const {
    if (text.find_first_of("$%`") == std::string_view::npos) return std::nullopt;
    std::string out;
    bool found = false;
    while (!text.empty()) {
      const auto [value, length] = at_start_of(text);
      found = found || length > 0;
      out += length > 0 ? value : text.substr(0, 1);
      text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return found ? std::optional(std::move(out)) : std::nullopt;
  }

 private:
  // A value and how long its name is; 0: no variable stands here.
  [[nodiscard]] std::pair<std::string_view, std::size_t> at_start_of(std::string_view text) const {
    constexpr std::pair<std::string_view, std::size_t> kNone = {{}, 0};
    if (text.starts_with("`pwd`")) return {".", 5};
    if (text.front() != '$' && text.front() != '%') return kNone;
    std::size_t begin = 1;
    const bool in_percents = text.front() == '%';
    const bool is_open = !in_percents && (text.substr(1, 1) == "{" || text.substr(1, 1) == "(");
    if (is_open) ++begin;
    if (lowered(text.substr(begin, 4)) == "env:") begin += 4;
    std::size_t end = begin;
    while (end < text.size() && is_word(text[end])) ++end;
    const auto value = value_of(text.substr(begin, end - begin));
    if (!value) return kNone;
    if (in_percents) return text.substr(end, 1) == "%" ? std::pair(*value, end + 1) : kNone;
    if (!is_open) return {*value, end};
    const auto close = text.find(text[1] == '{' ? '}' : ')', end);
    return close == std::string_view::npos ? kNone : std::pair(*value, close + 1);
  }

  [[nodiscard]] std::optional<std::string_view> value_of(std::string_view name) const {
    const std::string plain = lowered(name);
    if (plain == "pwd" || plain == "cd" || plain == "init_cwd") return ".";
    if (!home_.starts_with('/')) return std::nullopt;
    if (plain == "home" || plain == "userprofile" || plain == "homepath") return home_;
    if (plain == "user" || plain == "username" || plain == "logname")
      return home_.substr(home_.rfind('/') + 1);
    return std::nullopt;
  }

  std::string_view home_;
};

// The words that a shell makes of a text, quotes and backslashes taken off; what stands before one
// says whether a name without a slash is that of a place.
struct ShellWord {
  std::string text;
  bool is_operand = false;    // behind "cd", an option or a redirection
  bool has_choices = false;   // a brace without quotes, which a shell may expand
  bool is_rewritten = false;  // it stands in the text in another way: quotes, backslashes, "@(a|b)"
};

// The patterns "@(a|b)" (Bash, ksh) and "x(a|b)" (zsh) of a text, found in one pass.
class Alternations {
 public:
  explicit Alternations(std::string_view text) : text_(text) {
    if (!text.contains('(')) return;
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '(') open.push_back(i);
      if (text[i] == '|') bars_.push_back(i);
      if (text[i] != ')' || open.empty()) continue;
      closes_.emplace(open.back(), i);
      open.pop_back();
    }
  }

  // How long the one is whose bracket stands at `open`; 0: there is none.
  [[nodiscard]] std::size_t length(std::size_t open) const {
    const auto close = closes_.find(open);
    if (open == 0 || close == closes_.end()) return 0;
    const char before = text_[open - 1];
    if (!std::string_view("@?+*!").contains(before)) {
      const auto bar = std::ranges::lower_bound(bars_, open);
      const bool has_bar = bar != bars_.end() && *bar < close->second;
      const bool is_within = is_bare(before) || std::string_view("./]").contains(before);
      if (!is_within || !has_bar) return 0;
    }
    return close->second + 1 - open;
  }

 private:
  std::string_view text_;
  std::unordered_map<std::size_t, std::size_t> closes_;  // by where the bracket opens
  std::vector<std::size_t> bars_;
};

// `quote`: that the text begins in, or none.
void add_shell_words(std::string_view text, char quote, std::vector<ShellWord>& words) {
  std::string word;
  bool is_operand = false;
  bool has_choices = false;
  bool is_rewritten = false;
  const Alternations alternations(text);
  const auto end_word = [&] {
    const bool chooses = std::exchange(has_choices, false);
    const bool is_other = std::exchange(is_rewritten, false);
    if (word.empty()) return;
    const bool is_option =
        word.size() > 1 && word[0] == '-' && (is_letter(word[1]) || word[1] == '-');
    const bool enters = word == "cd" || word == "pushd" || word == "chdir";
    words.push_back({std::move(word), is_operand, chooses, is_other});
    word.clear();
    is_operand = is_option || enters;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto alternation = quote == '\0' && c == '(' ? alternations.length(i) : 0;
    if (quote != '\0' && c == quote) {
      quote = '\0';
    } else if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      if (text[++i] != '\n') word += text[i];  // a line that goes on
      is_rewritten = true;
    } else if (quote == '\0' && (c == '"' || c == '\'')) {
      quote = c;
      is_rewritten = true;
    } else if (alternation > 0) {
      word += text.substr(i, alternation);
      i += alternation - 1;
      is_rewritten = true;
    } else if (quote == '\0' && (is_space(c) || std::string_view(";|&<>()`").contains(c))) {
      end_word();
      if (!is_space(c)) is_operand = c == '<' || c == '>';
    } else {
      has_choices = has_choices || (quote == '\0' && c == '{');
      word += c;
    }
  }
  end_word();
}

// Each line by itself besides, in whatever quotes it may begin: an apostrophe in a comment or a
// here-document opens none. A line that goes on behind a backslash does not in a comment.
std::vector<ShellWord> shell_words(std::string_view text) {
  std::vector<ShellWord> words;
  add_shell_words(text, '\0', words);
  if (!text.contains('\n') || text.find_first_of("'\"") == std::string_view::npos) return words;
  const auto add_line = [&](std::string_view line) {
    add_shell_words(line, '\0', words);
    for (const char quote : {'\'', '"'})
      if (line.contains(quote)) add_shell_words(line, quote, words);
  };
  std::size_t begin = 0;  // of a line with those that it goes on in
  while (begin < text.size()) {
    auto end = begin;
    bool goes_on = true;
    bool is_first = true;
    while (goes_on) {
      const auto next = std::min(text.find('\n', end), text.size());
      goes_on = next < text.size() && next > end && text[next - 1] == '\\';
      if (goes_on || !is_first) add_line(text.substr(end, next - end - (goes_on ? 1 : 0)));
      is_first = false;
      end = next + 1;
    }
    add_line(text.substr(begin, std::min(end - 1, text.size()) - begin));
    begin = end;
  }
  return words;
}

// a{b,c}d: abd, acd.
struct Alternatives {
  std::vector<std::string> all;
  bool has_more = false;
};
Alternatives alternatives(std::string_view word) {
  Alternatives found = {.all = {std::string(word)}};
  auto& all = found.all;
  if (!word.contains('{') || !word.contains(',')) return found;
  if (is_json_document(word)) return found;
  if (word.size() > kMaxPath) {
    found.has_more = true;
    return found;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto close = all[i].find('}');
    const auto open = close == std::string::npos ? close : all[i].rfind('{', close);
    if (open == std::string::npos) continue;
    const std::string inner = all[i].substr(open + 1, close - open - 1);
    if (inner.find(',') == std::string::npos) continue;
    const std::string before = all[i].substr(0, open);
    const std::string behind = all[i].substr(close + 1);
    for (std::size_t at = 0; at <= inner.size();) {
      const auto comma = std::min(inner.find(',', at), inner.size());
      if (all.size() >= kMostAlternatives) {
        found.has_more = true;
        return found;
      }
      all.push_back(before + inner.substr(at, comma - at) + behind);
      at = comma + 1;
    }
  }
  return found;
}

// Behind "scheme:", what stands there; nothing where none is.
std::optional<std::string_view> behind_scheme(std::string_view text) {
  const auto end = std::ranges::find_if(
      text, [](char c) { return !is_alphanumeric(c) && c != '+' && c != '-' && c != '.'; });
  if (text.empty() || !is_letter(text.front()) || end == text.end() || *end != ':')
    return std::nullopt;
  return text.substr(static_cast<std::size_t>(end - text.begin()) + 1);
}

// A URL of the web names a place of its host, not of this machine.
bool is_of_the_web(std::string_view text) {
  const auto rest = behind_scheme(text);
  if (!rest || default_port(lowered(text.substr(0, text.size() - rest->size() - 1))) == 0)
    return false;
  return rest->starts_with("//") && rest->size() > 2 && (*rest)[2] != '/';
}

// "localhost:3000/x?a=/": what is asked of a port is no place.
std::string_view without_query(std::string_view item) {
  const auto colon = item.find(':');
  const auto path = item.find('/');
  if (colon == 0 || path == std::string_view::npos || colon > path) return item;
  const auto port = item.substr(colon + 1, path - colon - 1);
  const auto is_of_host = [](char c) { return is_alphanumeric(c) || c == '-' || c == '.'; };
  const bool is_port = !port.empty() && port.size() <= 5 && std::ranges::all_of(port, is_digit);
  return is_port && std::ranges::all_of(item.substr(0, colon), is_of_host)
             ? item.substr(0, item.find('?'))
             : item;
}

class PlaceFinder {
 public:
  PlaceFinder(std::string_view home, MeantAs meant) : home_(home), meant_(meant) {}

  PathReadings find(std::string_view text) {
    if (text.empty()) {
      if (meant_ == MeantAs::kPlace) found_.named.push_back({PathValue{}, false});
      return std::move(found_);
    }
    if (is_for_prose(meant_) && has_words_beyond(text, kMostWordsOfName)) return std::move(found_);
    if (is_one_name(text)) {
      found_.read = text.size();
      if (auto path = path_below("", text)) found_.named.push_back({std::move(*path), false});
      return std::move(found_);
    }
    if (meant_ == MeantAs::kCommand && text.contains("pushd")) numbers_ = Numbers::kFolders;
    budget_ = kLeastPathBudget + kPathBudgetPerByte * text.size();
    add(text);
    const auto filled = Variables(home_).filled(text);
    if (filled) add(*filled);
    add_behind_schemes(filled ? *filled : text);
    if (is_searched(text)) {
      is_part_ = true;
      if (meant_ == MeantAs::kNamed) add_listed(filled ? *filled : text);
      add_searched(filled ? *filled : text);
    } else if (meant_ == MeantAs::kCommand) {
      found_.unclear = true;
    }
    return std::move(found_);
  }

 private:
  [[nodiscard]] std::size_t most_words() const {
    if (meant_ == MeantAs::kProse) return kMostWordsOfName;
    return is_text(meant_) ? 1 : kMostWords;
  }

  // By its parts; of a command, what acts on entries alone is told from the rest.
  void add_searched(std::string_view text) {
    add_starts(text);
    if (meant_ != MeantAs::kCommand) return add_parts(text);
    const std::string said = without_prose(text);
    text = said;
    const auto beyond = parts_beyond_entries(text);
    const bool is_whole = beyond.size() == 1 && beyond.front().text.size() == text.size();
    use_ = is_whole ? FolderUse::kWalked : FolderUse::kEntry;
    add_parts(text);
    if (is_whole) return;
    for (const auto& part : beyond) {
      use_ = part.use;
      add_parts(part.text);
    }
  }

  void add_starts(std::string_view text) {
    constexpr std::string_view kGit = "/.git";
    if (!text.contains("cd") && !text.contains("-C") && !text.contains("--") &&
        !text.contains("pushd") && !text.contains("chdir"))
      return;
    const auto folders = entered_folders(text);
    found_.unclear = found_.unclear || folders.size() > kMostEntered;
    std::optional<PathValue> last;
    for (std::string_view folder : folders) {
      const auto home = home_.starts_with('/') ? below_home(folder, home_, numbers_) : std::nullopt;
      auto path = home ? path_below(home_, *home) : path_below("", folder);
      if (!path || !spend(folder.size())) continue;
      found_.starts.push_back(*path);
      if (folder.ends_with(kGit)) {
        found_.starts.push_back(*path);
        found_.starts.back().components.pop_back();
      }
      if (last && !path->absolute) {
        last->components.insert(last->components.end(), path->components.begin(),
                                path->components.end());
        found_.starts.push_back(*last);
      } else {
        last = std::move(path);
      }
    }
  }

  [[nodiscard]] bool is_searched(std::string_view text) const {
    if (meant_ == MeantAs::kCommand) return text.size() <= kLongestCommand;
    if (text.size() > kLongestText) return false;
    if (meant_ == MeantAs::kNamed) return true;
    return !has_words_beyond(text, most_words());
  }

  // Whether so much more may be read; else the text is unclear, and no more of it is looked at.
  bool spend(std::size_t bytes) {
    found_.read += bytes;
    found_.unclear =
        found_.unclear || found_.read > budget_ || found_.named.size() >= kMostPathReadings;
    return !found_.unclear;
  }

  void add(std::string_view text) {
    const auto put = [&](std::optional<PathValue> path) {
      if (path) found_.named.push_back({std::move(*path), is_part_, is_listed_, use_});
    };
    if (text.empty() || found_.unclear) return;
    const auto [known, is_new] = known_.try_emplace(std::string(text), use_);
    const bool is_more = use_ < known->second;  // what goes below says more than what does not
    if (!spend(is_new ? text.size() : text.size() / 4 + 1) || (!is_new && !is_more)) return;
    known->second = use_;
    put(path_below("", text));
    if (text == "~+" || text.starts_with("~+/"))
      put(path_below("", "./" + std::string(text.substr(2))));
    if (const auto rest = below_home(text, home_, numbers_); rest && home_.starts_with('/'))
      put(path_below(home_, *rest));
    if (!text.contains('\\') || (is_pattern(meant_) && is_expression(text))) return;
    std::string slashes(text);
    std::ranges::replace(slashes, '\\', '/');
    add(slashes);
  }

  // What stands behind schemes, as far as it may be the path of a file: with or without an
  // authority before it, or with that as its first component; percent codes decoded or not; with
  // query, fragment and member of an archive or not. Blanks before it and line ends in it are left
  // out, as URL parsers do.
  void add_behind_schemes(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    if (!behind_scheme_of_any(text)) return;
    std::string clean;
    for (const char c : text) {
      if (c != '\t' && c != '\n' && c != '\r') clean += c == '\\' ? '/' : c;
    }
    std::string_view rest = clean;
    for (int schemes = 0; schemes < kMostSchemes && !is_of_the_web(rest); ++schemes) {
      const auto behind = behind_scheme(rest);
      if (!behind || found_.unclear) return;
      // What has no slash there begins at the root to WHATWG's parser, of this scheme alone.
      const bool is_file = lowered(rest).starts_with("file:");
      rest = *behind;
      add_location(std::string(rest));
      if (is_file) add_location("/" + std::string(rest));
    }
  }
  // Also "fi\nle:".
  static bool behind_scheme_of_any(std::string_view text) {
    const auto colon = text.find(':');
    return colon != std::string_view::npos && colon > 0 && is_letter(text.front()) &&
           text.find_first_of(" /") > colon;
  }

  void add_location(std::string location) {
    for (int decoded = 0; decoded <= kMostDecodings && !found_.unclear; ++decoded) {
      add_authorities(location);
      // A query or fragment is part of the name to some, and no part of the path to others.
      if (const auto end = location.find_first_of("?#!"); end != std::string::npos)
        add_authorities(std::string_view(location).substr(0, end));
      std::string next = percent_decoded(location);
      if (next == location) return;
      location = std::move(next);
    }
  }

  void add_authorities(std::string_view location) {
    add(location);
    const auto slashes = std::min(location.find_first_not_of('/'), location.size());
    if (slashes == 0) return;
    const auto bare = location.substr(slashes);
    add(bare);
    if (slashes == 1) return;
    add("/" + std::string(bare));
    const auto path = std::min(bare.find('/'), bare.size());
    if (slashes > 2 || path == bare.size()) return;
    add(bare.substr(path));
    add(bare.substr(std::min(bare.find_first_not_of('/', path), bare.size())));
  }

  // What stands between marks of lists, also without a slash.
  void add_listed(std::string_view text) {
    is_listed_ = true;
    for (const auto& item : path_items(text)) {
      // What it counts from, and all that "!" leaves, the server knows.
      found_.unclear = found_.unclear || (item.is_listed && is_pathspec(item.text));
      if (found_.unclear) break;
      if (item.is_listed && item.text.size() < text.size() && !is_of_the_web(item.text))
        add(item.text);
    }
    is_listed_ = false;
  }

  void add_parts(std::string_view text) {
    // A document: what its members name is read of each by itself.
    const bool is_json = is_json_document(text);
    const auto words = shell_words(text);
    for (const auto& word : words) {
      if (found_.unclear) return;
      const auto choices = is_json ? Alternatives{.all = {word.text}} : alternatives(word.text);
      if (choices.has_more && may_choose_place(word)) found_.unclear = true;
      for (const auto& alternative : choices.all) {
        if (found_.unclear) return;
        if (words.size() == 1 && word.has_choices) add_whole(alternative);
        add_named(alternative, word.is_operand);
        add_behind_schemes(alternative);
        const bool is_other = word.is_rewritten || choices.all.size() > 1;
        const bool is_pattern =
            choices.all.size() > 1 || alternative.contains('[') || alternative.contains('{');
        if (is_other || is_pattern) add_listed_items(alternative, is_pattern);
      }
    }
    add_items(text);
    if (const std::string plain = with_plain_marks(text); plain.size() < text.size())
      add_items(plain);
  }

  // What a text of one word is by its braces is no part of it, and needs no slash.
  void add_whole(std::string_view text) {
    const bool is_part = std::exchange(is_part_, false);
    const FolderUse use = std::exchange(use_, FolderUse::kWalked);
    if (text.size() <= kMaxPath) add(text);
    is_part_ = is_part;
    use_ = use;
  }

  // Items of a word that quotes and patterns of a shell do not take apart.
  // Of an argument that a rule names, a pattern needs no slash there.
  void add_listed_items(std::string_view word, bool is_pattern) {
    const std::string plain = with_plain_marks(word);
    for (std::string_view rest = plain; !rest.empty() && !found_.unclear;) {
      const auto end = std::min(rest.find_first_of(",;"), rest.size());
      add_item(rest.substr(0, end));
      is_listed_ = meant_ == MeantAs::kNamed && is_pattern;
      if (is_listed_) add(peeled(rest.substr(0, end), Peel::kQuotes));
      is_listed_ = false;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }

  // Items of lists that no shell takes apart.
  void add_items(std::string_view text) {
    constexpr std::string_view kEnds = ",;|<>()[]{}\"'`";
    const auto ends = [&](char c) { return is_space(c) || kEnds.contains(c); };
    while (!text.empty() && !found_.unclear) {
      const auto end = std::ranges::find_if(text, ends);
      const auto length = static_cast<std::size_t>(end - text.begin());
      // A backslash before what ends the item takes its meaning from that: "\\;", a line that goes
      // on.
      // "~> 2.0" in quotes; else it is a word of a shell.
      const bool is_version = text.substr(0, length) == "~" && text.substr(length, 1) == ">";
      const bool is_escaped = length > 0 && length < text.size() && text[length - 1] == '\\';
      if (!is_version) add_item(text.substr(0, length - (is_escaped ? 1 : 0)));
      text.remove_prefix(std::min(length + 1, text.size()));
    }
  }

  // Whether more alternatives than were looked at may name a place.
  [[nodiscard]] bool may_choose_place(const ShellWord& word) const {
    const bool is_written = word.text.contains('/') || word.text.starts_with('~');
    return word.has_choices && (is_written || word.is_operand || meant_ == MeantAs::kCommand);
  }

  // One item: "key=/x", "-f/x", "a:/x", "@/x".
  void add_item(std::string_view item) {
    item = peeled(item, Peel::kQuotes);
    if (item.empty() || is_of_the_web(item)) return;
    item = without_query(item);
    add_named(item, false);
    add_behind_schemes(item);
    if (item.size() > 2 && item[0] == '-' && is_letter(item[1])) add_option_value(item.substr(2));
    constexpr std::string_view kWithin = "=:@?#&!+";
    // Before "=" stands the name of an option and no place, unless it is written as one.
    const auto first = item.substr(0, item.find_first_of(kWithin));
    if (first.find('/') != std::string_view::npos) add_named(first, false);
    std::size_t parts = 0;
    for (auto at = item.find_first_of(kWithin); at != std::string_view::npos;
         at = item.find_first_of(kWithin, at)) {
      if (found_.unclear) return;
      ++at;
      const auto end = std::min(item.find_first_of(kWithin, at), item.size());
      add_named(peeled(item.substr(at, end - at), Peel::kQuotes), false);
      if (end < item.size() && ++parts < kMostEnds) {
        const auto rest = peeled(item.substr(at), Peel::kQuotes);
        add_named(rest, false);
        add_behind_schemes(rest);
      }
    }
  }

  // Behind "-f": "/x", "/x:ro".
  void add_option_value(std::string_view value) {
    add_named(value, true);
    if (value.front() == '/' || value.front() == '~' || value.front() == '.')
      add_named(value.substr(0, value.find(':')), true);
  }

  // A part that is written as a path; of a command every word may be one.
  void add_named(std::string_view part, bool is_operand) {
    const bool is_bare = part.find('/') == std::string_view::npos && !part.starts_with('~');
    const bool takes_bare = meant_ == MeantAs::kCommand || (is_operand && !is_text(meant_));
    if (part.size() <= kMaxPath && (!is_bare || takes_bare)) add(part);
  }

  std::string_view home_;
  MeantAs meant_;
  bool is_part_ = false;
  bool is_listed_ = false;
  FolderUse use_ = FolderUse::kWalked;
  Numbers numbers_ = Numbers::kNames;
  PathReadings found_;
  std::size_t budget_ = 0;                            // bytes
  std::unordered_map<std::string, FolderUse> known_;  // texts that were read
};

// A character of a component that a shell reads, or several.
struct Piece {
  enum class Kind : std::uint8_t { kOne, kAnyOne, kAnyNumber };
  Kind kind = Kind::kOne;
  char32_t unit = 0;
};

// What "?" and "[…]" stand for one of: a character (most shells), a byte (the C locale), or a unit
// of UTF-16 (JavaScript).
enum class Unit : std::uint8_t { kByte, kCharacter, kUtf16 };

// The units of the first character of `text`; its length in bytes.
std::size_t add_units(std::string_view text, Unit unit, std::vector<Piece>& pieces) {
  constexpr char32_t kBeyondUnicode = 0x110000;
  constexpr char32_t kBeyondPlane = 0x10000;
  const auto byte = static_cast<unsigned char>(text.front());
  const Character character = byte < 0x80 ? Character{byte, 1} : first_character(text);
  const bool is_broken = character.code == Character::kBroken && character.bytes == 1;
  if (unit == Unit::kByte || is_broken) {
    pieces.push_back({Piece::Kind::kOne, byte < 0x80 ? byte : kBeyondUnicode + byte});
    return 1;
  }
  if (unit == Unit::kUtf16 && character.code >= kBeyondPlane) {
    pieces.push_back({Piece::Kind::kOne, 0xD800 + ((character.code - kBeyondPlane) >> 10U)});
    pieces.push_back({Piece::Kind::kOne, 0xDC00 + (character.code & 0x3FFU)});
  } else {
    pieces.push_back({Piece::Kind::kOne, character.code});
  }
  return character.bytes;
}

// What stands for several characters, or for how many is not told here: "@(a|b)", "?(a)" (Bash,
// ksh), "(a|b)" (zsh), "{a..b}", and brackets that shells end in different places, "[[:alpha:]]",
// "[!]]". Each is taken to go on to the last bracket that may end it.
class Groups {
 public:
  explicit Groups(std::string_view component)
      : text_(component),
        last_round_(component.rfind(')')),
        last_curly_(component.contains("..") ? component.rfind('}') : std::string_view::npos),
        last_square_(component.rfind(']')),
        has_bar_(component.contains('|')) {
    for (const char mark : {':', '=', '.'}) {
      const auto close = component.rfind(std::string{mark, ']'});
      if (close == std::string_view::npos) continue;
      const auto open = component.substr(0, close).rfind(std::string{'[', mark});
      if (open != std::string_view::npos) last_class_ = std::max(last_class_, open);
    }
  }

  // How long the one is that stands at `at`; 0: none does.
  [[nodiscard]] std::size_t length(std::size_t at) const {
    const auto up_to = [&](std::size_t last) {
      return last == std::string_view::npos || last < at ? std::size_t{0} : last + 1 - at;
    };
    const char c = text_[at];
    const auto next = [&](std::size_t behind) {
      return at + behind < text_.size() ? text_[at + behind] : '\0';
    };
    if (std::string_view("@?+*!").contains(c) && next(1) == '(') {
      const auto length = up_to(last_round_);
      return length > 0 ? length : text_.size() - at;
    }
    if (c == '(' && has_bar_) return up_to(last_round_);
    if (c == '{') return up_to(last_curly_);
    if (c != '[') return 0;
    const bool is_negated = next(1) == '!' || next(1) == '^';
    const bool has_class = last_class_ > at;
    return has_class || next(is_negated ? 2 : 1) == ']' ? up_to(last_square_) : 0;
  }

 private:
  std::string_view text_;
  std::size_t last_round_;
  std::size_t last_curly_;
  std::size_t last_square_;
  bool has_bar_;
  std::size_t last_class_ = 0;  // where the last "[:alpha:]" opens, which stands in brackets
};

std::vector<Piece> pieces_of(std::string_view component, bool is_of_shell, Unit unit) {
  std::vector<Piece> pieces;
  const Groups groups(component);
  for (std::size_t i = 0; i < component.size(); ++i) {
    const char c = component[i];
    // The same character in other bytes is one that "?" and "[…]" may stand for.
    const auto close = c == '[' ? component.find(']', i + 2) : std::string_view::npos;
    const auto group = is_of_shell ? groups.length(i) : 0;
    if (group > 0) {
      pieces.push_back({Piece::Kind::kAnyNumber});
      i += group - 1;
    } else if (c == '*') {
      pieces.push_back({Piece::Kind::kAnyNumber});
    } else if (is_of_shell && c == '?') {
      pieces.push_back({Piece::Kind::kAnyOne});
    } else if (is_of_shell && close != std::string_view::npos) {
      pieces.push_back({Piece::Kind::kAnyOne});
      i = close;
    } else {
      i += add_units(component.substr(i), unit, pieces) - 1;
    }
  }
  return pieces;
}

bool may_meet(std::string_view glob, std::string_view component, Unit unit) {
  using Kind = Piece::Kind;
  const auto ours = pieces_of(glob, false, unit);
  const auto theirs = pieces_of(component, true, unit);
  // Which beginnings of both can be alike: a row for each piece of the glob.
  std::vector<char> row(theirs.size() + 1, 0);
  row[0] = 1;
  for (std::size_t j = 0; j < theirs.size() && theirs[j].kind == Kind::kAnyNumber; ++j)
    row[j + 1] = 1;
  for (const auto& our : ours) {
    std::vector<char> next(theirs.size() + 1, 0);
    for (std::size_t j = 0; j <= theirs.size(); ++j) {
      const bool ends_many = j > 0 && theirs[j - 1].kind == Kind::kAnyNumber;
      bool holds = our.kind == Kind::kAnyNumber && (row[j] != 0 || (j > 0 && next[j - 1] != 0));
      if (ends_many) holds = holds || next[j - 1] != 0 || row[j] != 0;
      if (j > 0 && !ends_many && our.kind != Kind::kAnyNumber && row[j - 1] != 0)
        holds = holds || theirs[j - 1].kind == Kind::kAnyOne || theirs[j - 1].unit == our.unit;
      next[j] = static_cast<char>(holds ? 1 : 0);
    }
    row = std::move(next);
  }
  return row.back() != 0;
}

}  // namespace

bool is_json_document(std::string_view text) {
  return (text.starts_with('{') || text.starts_with('[')) && Json::accept(text);
}

bool is_one_name(std::string_view text) {
  bool is_ascii = true;
  const bool is_plain = std::ranges::all_of(text, [&](char c) {
    const bool is_beyond = static_cast<unsigned char>(c) >= 0x80;
    is_ascii = is_ascii && !is_beyond;
    return is_bare(c) || c == '/' || c == '.' || is_beyond;
  });
  return is_plain && !text.starts_with('-') &&
         (is_ascii || with_plain_marks(text).size() == text.size());
}

PathReadings path_readings(std::string_view text, std::string_view home, MeantAs meant) {
  return PlaceFinder(home, meant).find(text);
}

std::optional<std::vector<std::string>> brace_alternatives(std::string_view text) {
  auto [all, has_more] = alternatives(text);
  if (has_more) return std::nullopt;
  all.erase(all.begin());
  return all;
}

bool has_wildcards(std::string_view component) {
  const auto first = component.find_first_of("*?[({@+!");
  if (first == std::string_view::npos) return false;
  if (component.find_first_of("*?[", first) != std::string_view::npos)
    return component.find_first_not_of('*') != std::string_view::npos;
  const Groups groups(component);
  for (auto at = first; at < component.size(); ++at)
    if (groups.length(at) > 0) return true;
  return false;
}

bool is_stars(std::string_view component) {
  return !component.empty() && component.find_first_not_of('*') == std::string_view::npos;
}

bool may_meet(std::string_view glob, std::string_view component) {
  if (may_meet(glob, component, Unit::kByte)) return true;
  const auto is_ascii = [](std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  };
  if (is_ascii(glob)) return false;
  // Some disks keep a name with its accents apart.
  const std::string apart = nfd(glob);
  return may_meet(glob, component, Unit::kCharacter) || may_meet(glob, component, Unit::kUtf16) ||
         may_meet(apart, component, Unit::kByte) || may_meet(apart, component, Unit::kCharacter);
}

}  // namespace mcpac::policy
