// RE2's syntax to an automaton, for the part of it that is modelled exactly.
#include <algorithm>
#include <tuple>

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

// Recursive descent. `ok_` falls once and stays: then nothing that was made is of use.
class RegexReader {
 public:
  explicit RegexReader(std::u32string text) : text_(std::move(text)) {}

  std::optional<Nfa> read() {
    // A full match makes anchors at the very ends idle, unless they belong to one alternative only.
    const bool has_choice = text_.find(U'|') != std::u32string::npos;
    if (!has_choice && take(U'^') && sees_repetition()) return std::nullopt;
    if (!has_choice && text_.size() > at_ && text_.back() == U'$' &&
        !(text_.size() > 1 && text_[text_.size() - 2] == U'\\'))
      text_.pop_back();
    const Fragment whole = choice();
    if (!ok_ || at_ != text_.size()) return std::nullopt;
    nfa_.start = whole.first;
    nfa_.accept(whole.last);
    return std::move(nfa_);
  }

 private:
  [[nodiscard]] bool peek(char32_t c) const { return at_ < text_.size() && text_[at_] == c; }
  [[nodiscard]] bool peek_digit(std::size_t ahead) const {
    return at_ + ahead < text_.size() && text_[at_ + ahead] >= U'0' && text_[at_ + ahead] <= U'9';
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

  Fragment sequence() {
    Fragment made = empty();
    while (ok_ && at_ < text_.size() && !peek(U'|') && !peek(U')')) {
      const Fragment next = repeated();
      nfa_.epsilon(made.last, next.first);
      made.last = next.last;
    }
    return made;
  }

  Fragment repeated() {
    const std::size_t begin = at_;
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
      made = repeat(begin, low, high);
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
  Fragment repeat(std::size_t begin, std::size_t low, std::optional<std::size_t> high) {
    const std::size_t end = at_;
    const auto copy = [&] {
      at_ = begin;
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
    if (take(U'(')) {
      if (take(U'?') && !take(U':')) return give_up();  // flags and names
      const Fragment inner = choice();
      return take(U')') ? inner : give_up();
    }
    if (take(U'[')) return bracket();
    if (take(U'.')) return set(all_but(one_char(U'\n')));
    if (peek(U'^') || peek(U'$') || sees_repetition()) return give_up();
    CharSet chars;
    if (!character(chars)) return give_up();
    return set(chars);
  }

  // One character or one escape.
  bool character(CharSet& chars) {
    const char32_t c = text_[at_++];
    if (c != U'\\') {
      chars = one_char(c);
      return true;
    }
    if (at_ == text_.size()) return false;
    const char32_t e = text_[at_++];
    switch (e) {
      case U'd': chars = kDigits; return true;
      case U'D': chars = all_but(kDigits); return true;
      case U'w': chars = kWord; return true;
      case U'W': chars = all_but(kWord); return true;
      case U's': chars = kSpace; return true;
      case U'S': chars = all_but(kSpace); return true;
      case U'n': chars = one_char(U'\n'); return true;
      case U't': chars = one_char(U'\t'); return true;
      case U'r': chars = one_char(U'\r'); return true;
      case U'f': chars = one_char(U'\f'); return true;
      default: break;
    }
    const bool is_letter = (e >= U'a' && e <= U'z') || (e >= U'A' && e <= U'Z');
    if (is_letter || (e >= U'0' && e <= U'9') || e >= 128) return false;
    chars = one_char(e);
    return true;
  }

  Fragment bracket() {
    const bool negated = take(U'^');
    CharSet all;
    for (bool first = true; first || !peek(U']'); first = false) {
      if (at_ >= text_.size()) return give_up();
      if (peek(U'[') && at_ + 1 < text_.size() && text_[at_ + 1] == U':') return give_up();
      CharSet one;
      if (!character(one)) return give_up();
      const bool single = one.size() == 1 && one[0].first == one[0].last;
      if (peek(U'-') && at_ + 1 < text_.size() && text_[at_ + 1] != U']') {
        ++at_;
        CharSet to;
        if (!single || !character(to) || to.size() != 1 || to[0].first != to[0].last)
          return give_up();
        one = {{one[0].first, to[0].first}};
      }
      all.insert(all.end(), one.begin(), one.end());
    }
    ++at_;
    return set(negated ? all_but(all) : all);
  }

  std::u32string text_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  bool ok_ = true;
  Nfa nfa_;
};

}  // namespace

std::optional<Nfa> regex_automaton(std::string_view pattern) {
  if (!is_utf8(pattern)) return std::nullopt;
  return RegexReader(code_points_of(pattern)).read();
}

}  // namespace mcpac::policy
