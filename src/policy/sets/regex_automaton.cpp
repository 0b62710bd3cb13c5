// SPDX-License-Identifier: Apache-2.0

// RE2's syntax to an automaton, for the part of it that is modelled exactly.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "core/ascii.h"
#include "policy/sets/text_automata.h"

namespace mcpac::policy {
namespace {

// A pattern that RE2 takes can still unroll to millions of states.
constexpr std::size_t kMaxStates = 20'000;

struct Fragment {
  int first;
  int last;
};

const CharSet kDigits = {{U'0', U'9'}};
const CharSet kWord = {{U'0', U'9'}, {U'A', U'Z'}, {U'_', U'_'}, {U'a', U'z'}};
const CharSet kSpace = {{U'\t', U'\n'}, {U'\f', U'\r'}, {U' ', U' '}};

// "[[:alpha:]]" and the like are of ASCII alone (RE2, "syntax").
const std::map<std::u32string, CharSet> kPosixClasses = {
    {U"alnum", {{U'0', U'9'}, {U'A', U'Z'}, {U'a', U'z'}}},
    {U"alpha", {{U'A', U'Z'}, {U'a', U'z'}}},
    {U"ascii", {{0, 0x7f}}},
    {U"blank", {{U'\t', U'\t'}, {U' ', U' '}}},
    {U"cntrl", {{0, 0x1f}, {0x7f, 0x7f}}},
    {U"digit", kDigits},
    {U"graph", {{U'!', U'~'}}},
    {U"lower", {{U'a', U'z'}}},
    {U"print", {{U' ', U'~'}}},
    {U"punct", {{U'!', U'/'}, {U':', U'@'}, {U'[', U'`'}, {U'{', U'~'}}},
    {U"space", {{U'\t', U'\r'}, {U' ', U' '}}},
    {U"upper", {{U'A', U'Z'}}},
    {U"word", kWord},
    {U"xdigit", {{U'0', U'9'}, {U'A', U'F'}, {U'a', U'f'}}}};

// Both cases of all letters of ASCII in `set`, with the two characters beyond it that fold to some.
CharSet with_both_cases(CharSet set) {
  const auto add_shifted = [&set](CharRange range, char32_t first, char32_t last, int by) {
    const char32_t low = std::max(range.first, first);
    const char32_t high = std::min(range.last, last);
    if (low > high) return;
    set.push_back({low + static_cast<char32_t>(by), high + static_cast<char32_t>(by)});
  };
  const auto holds = [&set](char32_t c) {
    return std::ranges::any_of(set, [c](CharRange r) { return r.first <= c && c <= r.last; });
  };
  const CharSet given = set;
  for (const CharRange range : given) {
    add_shifted(range, U'a', U'z', -32);
    add_shifted(range, U'A', U'Z', 32);
  }
  if (holds(U'k')) set.push_back({0x212A, 0x212A});  // the sign of kelvin
  if (holds(U's')) set.push_back({0x017F, 0x017F});  // the long s
  return set;
}

// Recursive descent. `ok_` falls once and stays: then nothing that was made is of use.
class RegexReader {
 public:
  RegexReader(std::u32string text, DotMatches dot)
      : text_(std::move(text)), flags_{.dot_all = dot == DotMatches::kAll} {}

  std::optional<Nfa> read() {
    const Fragment whole = choice();
    if (!ok_ || at_ != text_.size()) return std::nullopt;
    nfa_.start = whole.first;
    nfa_.accept(whole.last);
    return std::move(nfa_);
  }

 private:
  // Of "(?is)"; "m" is about anchors, which are read only where both its meanings are the same, and
  // "U" changes no language.
  struct Flags {
    bool dot_all = false;
    bool fold = false;
  };

  [[nodiscard]] bool peek(char32_t c) const { return at_ < text_.size() && text_[at_] == c; }
  [[nodiscard]] bool peek_digit(std::size_t ahead) const {
    return at_ + ahead < text_.size() && text_[at_ + ahead] >= U'0' && text_[at_ + ahead] <= U'9';
  }
  [[nodiscard]] bool peek_text(std::u32string_view what) const {
    return std::u32string_view(text_).substr(at_).starts_with(what);
  }
  // Something that stands behind what it repeats; what RE2 makes of one that does not hangs on too
  // much.
  [[nodiscard]] bool sees_repetition() const {
    return peek(U'*') || peek(U'+') || peek(U'?') || (peek(U'{') && peek_digit(1));
  }
  bool take(char32_t c) {
    if (!peek(c)) return false;
    ++at_;
    return true;
  }
  bool take_text(std::u32string_view what) {
    if (!peek_text(what)) return false;
    at_ += what.size();
    return true;
  }
  Fragment give_up() {
    ok_ = false;
    at_ = text_.size();
    return empty();
  }
  Fragment empty() {
    const int state = nfa_.add();
    return {state, state};
  }
  Fragment set(const CharSet& chars) {
    const Fragment made{nfa_.add(), nfa_.add()};
    nfa_.edge(made.first, chars, made.last);
    return made;
  }

  Fragment choice() {
    const Fragment made{nfa_.add(), nfa_.add()};
    if (++depth_ > 100) return give_up();
    do {
      const Fragment one = sequence();
      nfa_.epsilon(made.first, one.first);
      nfa_.epsilon(one.last, made.last);
    } while (ok_ && take(U'|'));
    --depth_;
    return made;
  }

  // A full match makes anchors at the very ends of a whole alternative idle.
  bool take_idle_anchor(bool at_front) {
    if (depth_ != 1) return false;
    if (at_front && (take(U'^') || take_text(U"\\A"))) return true;
    const std::size_t length = peek(U'$') ? 1 : peek_text(U"\\z") ? 2 : 0;
    const std::size_t end = at_ + length;
    if (length == 0 || (end < text_.size() && text_[end] != U'|')) return false;
    at_ = end;
    return true;
  }

  Fragment sequence() {
    Fragment made = empty();
    bool at_front = true;
    while (ok_ && at_ < text_.size() && !peek(U'|') && !peek(U')')) {
      if (take_idle_anchor(at_front)) {
        if (sees_repetition()) return give_up();
        continue;
      }
      const std::size_t before = nfa_.states().size();
      const Fragment next = repeated();
      // Flags by themselves make one empty state.
      at_front = at_front && nfa_.states().size() == before + 1;
      nfa_.epsilon(made.last, next.first);
      made.last = next.last;
    }
    return made;
  }

  Fragment repeated() {
    const std::size_t begin = at_;
    const Flags flags = flags_;
    Fragment made = atom();
    while (ok_) {
      std::size_t low = 0;
      std::optional<std::size_t> high;
      if (take(U'*')) {
      } else if (take(U'+')) {
        low = 1;
      } else if (take(U'?')) {
        high = 1;
      } else if (!count(low, high)) {
        return made;
      }
      std::ignore = take(U'?');  // lazy: the same language
      made = repeat(begin, flags, low, high);
    }
    return made;
  }

  // A number as RE2 writes one: without zeros in front, and at most 1000.
  std::optional<std::size_t> number() {
    const std::size_t begin = at_;
    std::size_t value = 0;
    while (peek_digit(0) && at_ - begin < 4) value = value * 10 + (text_[at_++] - U'0');
    const bool is_padded = at_ - begin > 1 && text_[begin] == U'0';
    if (at_ == begin || is_padded || peek_digit(0) || value > 1000) return std::nullopt;
    return value;
  }

  // "{n}", "{n,}", "{n,m}". A brace before anything but a digit stands for itself; any other that
  // is not exactly one of these RE2 may read as text or refuse, and we do not say.
  bool count(std::size_t& low, std::optional<std::size_t>& high) {
    if (!peek(U'{') || !peek_digit(1)) return false;
    ++at_;
    const auto first = number();
    std::optional<std::size_t> most = first;
    if (first && take(U',')) {
      most.reset();
      if (!peek(U'}')) {
        most = number();
        if (!most || *most < *first) return give_up_count();
      }
    }
    if (!first || !take(U'}')) return give_up_count();
    low = *first;
    high = most;
    return true;
  }
  bool give_up_count() {
    std::ignore = give_up();
    return false;
  }

  // The atom is read again for every copy: fragments are used once.
  Fragment repeat(std::size_t begin, Flags flags, std::size_t low,
                  std::optional<std::size_t> high) {
    const std::size_t end = at_;
    const auto copy = [&] {
      at_ = begin;
      flags_ = flags;
      const Fragment made = atom();
      at_ = end;
      if (nfa_.states().size() > kMaxStates) ok_ = false;
      return made;
    };
    Fragment all = empty();
    for (std::size_t i = 0; i < low && ok_; ++i) {
      const Fragment one = copy();
      nfa_.epsilon(all.last, one.first);
      all.last = one.last;
    }
    if (!high) {
      const Fragment loop = empty();
      const Fragment one = copy();
      nfa_.epsilon(loop.first, one.first);
      nfa_.epsilon(one.last, loop.first);
      nfa_.epsilon(all.last, loop.first);
      all.last = loop.first;
    } else {
      const int last = nfa_.add();
      for (std::size_t i = low; i < *high && ok_; ++i) {
        nfa_.epsilon(all.last, last);
        const Fragment one = copy();
        nfa_.epsilon(all.last, one.first);
        all.last = one.last;
      }
      nfa_.epsilon(all.last, last);
      all.last = last;
    }
    if (!ok_) return give_up();
    // "x{2}{3}" is rare, and would need the copy of a copy.
    if (sees_repetition()) return give_up();
    return all;
  }

  Fragment atom() {
    if (at_ == text_.size()) return give_up();
    if (take(U'(')) return group();
    if (take(U'[')) return bracket();
    if (take(U'.')) return set(flags_.dot_all ? any_char() : all_but(one_char(U'\n')));
    if (peek(U'^') || peek(U'$') || sees_repetition()) return give_up();
    CharSet chars;
    std::optional<char32_t> single;
    if (!character(chars, single)) return give_up();
    return set(chars);
  }

  // Behind "(": a group, named or not, or flags that hold for it or to the end of the one around.
  Fragment group() {
    const Flags outer = flags_;
    if (take_text(U"?P<")) {
      while (at_ < text_.size() && text_[at_] < 128 && is_word(static_cast<char>(text_[at_])))
        ++at_;
      if (!take(U'>')) return give_up();
    } else if (take(U'?')) {
      if (!read_flags()) return give_up();
      if (take(U')')) return sees_repetition() ? give_up() : empty();
      if (!take(U':')) return give_up();
    }
    const Fragment inner = choice();
    flags_ = outer;
    return take(U')') ? inner : give_up();
  }

  // Up to, not including, ")" or ":".
  bool read_flags() {
    bool on = true;
    bool any = peek(U':');
    for (; at_ < text_.size() && !peek(U')') && !peek(U':'); ++at_) {
      any = text_[at_] != U'-';
      switch (text_[at_]) {
        case U'i': flags_.fold = on; break;
        case U's': flags_.dot_all = on; break;
        case U'm':
        case U'U': break;
        case U'-':
          if (!on) return false;
          on = false;
          break;
        default: return false;
      }
    }
    return any;
  }

  // Of letters beyond ASCII we do not say which are one in both cases.
  bool fold(CharSet& chars) const {
    if (!flags_.fold) return true;
    if (std::ranges::any_of(chars, [](CharRange range) { return range.last >= 128; })) return false;
    chars = with_both_cases(std::move(chars));
    return true;
  }

  // One character, which `single` names then, or an escape that stands for several. Folded.
  bool character(CharSet& chars, std::optional<char32_t>& single) {
    const char32_t c = text_[at_++];
    single = c == U'\\' ? escaped(chars) : c;
    if (single) chars = one_char(*single);
    if (chars.empty()) return false;
    return !single || fold(chars);
  }

  // Behind a backslash. Neither a character nor a set: what is not modelled.
  std::optional<char32_t> escaped(CharSet& chars) {
    if (at_ == text_.size()) return std::nullopt;
    const char32_t e = text_[at_++];
    const auto classes = [&](CharSet set, bool negated) -> std::optional<char32_t> {
      std::ignore = fold(set);
      chars = negated ? all_but(set) : std::move(set);
      return std::nullopt;
    };
    switch (e) {
      case U'd': return classes(kDigits, false);
      case U'D': return classes(kDigits, true);
      case U'w': return classes(kWord, false);
      case U'W': return classes(kWord, true);
      case U's': return classes(kSpace, false);
      case U'S': return classes(kSpace, true);
      case U'n': return U'\n';
      case U't': return U'\t';
      case U'r': return U'\r';
      case U'f': return U'\f';
      case U'a': return U'\a';
      case U'v': return U'\v';
      case U'x': return hexadecimal();
      default: break;
    }
    const bool is_letter = (e >= U'a' && e <= U'z') || (e >= U'A' && e <= U'Z');
    if (is_letter || (e >= U'0' && e <= U'9') || e >= 128) return std::nullopt;
    return e;
  }

  // "\x41", "\x{10ffff}".
  std::optional<char32_t> hexadecimal() {
    const bool braced = take(U'{');
    char32_t value = 0;
    std::size_t digits = 0;
    for (; at_ < text_.size() && digits < (braced ? 6U : 2U); ++digits, ++at_) {
      const int digit = text_[at_] < 128 ? hex_value(static_cast<char>(text_[at_])) : -1;
      if (digit < 0) break;
      value = value * 16 + static_cast<char32_t>(digit);
    }
    const bool ends = braced ? digits > 0 && take(U'}') : digits == 2;
    const bool is_char = value <= 0x10FFFF && (value < 0xD800 || value >= 0xE000);
    return ends && is_char ? std::optional(value) : std::nullopt;
  }

  // "[:alpha:]" or "[:^alpha:]" within a bracket.
  bool posix_class(CharSet& chars) {
    const auto end = text_.find(U":]", at_ + 2);
    if (end == std::u32string::npos) return false;
    const bool negated = text_[at_ + 2] == U'^';
    const std::size_t begin = at_ + (negated ? 3 : 2);
    if (begin > end) return false;
    const auto known = kPosixClasses.find(text_.substr(begin, end - begin));
    if (known == kPosixClasses.end()) return false;
    at_ = end + 2;
    chars = known->second;
    std::ignore = fold(chars);
    if (negated) chars = all_but(chars);
    return true;
  }

  Fragment bracket() {
    const bool negated = take(U'^');
    CharSet all;
    for (bool first = true; first || !peek(U']'); first = false) {
      if (at_ >= text_.size()) return give_up();
      CharSet one;
      std::optional<char32_t> single;
      if (peek_text(U"[:")) {
        if (!posix_class(one)) return give_up();
      } else if (!character(one, single)) {
        return give_up();
      }
      if (peek(U'-') && at_ + 1 < text_.size() && text_[at_ + 1] != U']') {
        ++at_;
        CharSet unused;
        std::optional<char32_t> to;
        if (!single || peek_text(U"[:") || !character(unused, to) || !to || *to < *single)
          return give_up();
        one = {{*single, *to}};
        if (!fold(one)) return give_up();
      }
      all.insert(all.end(), one.begin(), one.end());
    }
    ++at_;
    return set(negated ? all_but(all) : all);
  }

  std::u32string text_;
  Flags flags_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  bool ok_ = true;
  Nfa nfa_;
};

}  // namespace

std::optional<Nfa> regex_automaton(std::string_view pattern, DotMatches dot) {
  if (!is_utf8(pattern)) return std::nullopt;
  return RegexReader(code_points_of(pattern), dot).read();
}

}  // namespace mcpac::policy
