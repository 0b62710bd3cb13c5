// SPDX-License-Identifier: Apache-2.0

#include "policy/sets/automaton.h"

#include <unistr.h>

#include <algorithm>
#include <map>
#include <set>

namespace mcpac::policy {
namespace {

constexpr char32_t kLastChar = 0x10FFFF;
constexpr char32_t kFirstSurrogate = 0xD800;
constexpr char32_t kBehindSurrogates = 0xE000;
// A node of a map and a few pointers.
constexpr std::size_t kStateOverhead = 120;

bool holds(const CharSet& set, char32_t c) {
  return std::ranges::any_of(set, [c](const CharRange& r) { return r.first <= c && c <= r.last; });
}

// What a person would rather read in a witness comes first.
char32_t readable_in(char32_t first, char32_t last) {
  for (const auto& [low, high] : {std::pair{U'a', U'z'}, std::pair{U'0', U'9'},
                                  std::pair{U'A', U'Z'}, std::pair{U' ', U'~'}}) {
    if (first <= high && low <= last) return std::max(first, low);
  }
  return first;
}

// The sets of all edges, each once.
std::vector<const CharSet*> sets_of(const std::vector<Nfa>& automata) {
  std::vector<const CharSet*> sets;
  for (const auto& nfa : automata) {
    for (const auto& state : nfa.states()) {
      for (const auto& edge : state.edges) sets.push_back(&edge.set);
    }
  }
  const auto less = [](const CharSet* a, const CharSet* b) { return *a < *b; };
  const auto same = [](const CharSet* a, const CharSet* b) { return *a == *b; };
  std::ranges::sort(sets, less);
  sets.erase(std::unique(sets.begin(), sets.end(), same), sets.end());
  return sets;
}

int rank(char32_t c) {
  if (c >= U'a' && c <= U'z') return 0;
  if (c == U'/' || c == U'.') return 1;
  if (c > U' ' && c <= U'~') return 2;
  if (c == U' ') return 3;
  return c > U'~' ? 4 : 5;
}

}  // namespace

CharSet any_char() {
  return {{0, kLastChar}};
}

CharSet one_char(char32_t c) {
  return {{c, c}};
}

CharSet all_but(const CharSet& set) {
  CharSet sorted = set;
  std::ranges::sort(sorted, {}, &CharRange::first);
  CharSet rest;
  char32_t from = 0;
  for (const auto& range : sorted) {
    if (range.first > from) rest.push_back({from, range.first - 1});
    from = std::max(from, static_cast<char32_t>(range.last + 1));
  }
  if (from <= kLastChar) rest.push_back({from, kLastChar});
  return rest;
}

int Nfa::chain(int from, std::string_view text) {
  for (const char32_t c : code_points_of(text)) {
    const int next = add();
    edge(from, one_char(c), next);
    from = next;
  }
  return from;
}

Alphabet::Alphabet(const std::vector<Nfa>& automata) {
  std::set<char32_t> cuts = {0, kFirstSurrogate, kBehindSurrogates};
  const auto sets = sets_of(automata);
  for (const auto* set : sets) {
    for (const auto& range : *set) {
      cuts.insert(range.first);
      if (range.last < kLastChar) cuts.insert(range.last + 1);
    }
  }
  // Pieces that lie in the same sets are one class.
  std::map<std::vector<bool>, char32_t> classes;
  for (auto cut = cuts.begin(); cut != cuts.end(); ++cut) {
    if (*cut >= kFirstSurrogate && *cut < kBehindSurrogates) continue;
    const auto next = std::next(cut);
    const char32_t last = next == cuts.end() ? kLastChar : *next - 1;
    const char32_t letter = readable_in(*cut, last);
    std::vector<bool> in(sets.size());
    for (std::size_t i = 0; i < sets.size(); ++i) in[i] = holds(*sets[i], letter);
    const auto [known, is_new] = classes.try_emplace(std::move(in), letter);
    if (!is_new && rank(letter) < rank(known->second)) known->second = letter;
  }
  for (const auto& [in, letter] : classes) letters_.push_back(letter);
  std::ranges::sort(letters_, [](char32_t a, char32_t b) {
    return std::pair(rank(a), a) < std::pair(rank(b), b);
  });
}

std::size_t Alphabet::cost(const std::vector<Nfa>& automata) {
  std::size_t ranges = 0;
  for (const auto* set : sets_of(automata)) ranges += set->size();
  return ranges * ranges / 8;
}

Dfa::Dfa(const Nfa& nfa, const Alphabet& alphabet) : nfa_(&nfa), letters_(alphabet.size()) {
  std::map<CharSet, std::size_t> sets;
  alone_.assign(nfa.states().size() + 1, -1);
  for (const auto& state : nfa.states()) {
    has_epsilons_ = has_epsilons_ || !state.epsilons.empty();
    auto& moves = moves_.emplace_back();
    for (const auto& edge : state.edges) {
      const auto [known, is_new] = sets.try_emplace(edge.set, has_letter_.size());
      if (is_new) {
        auto& has = has_letter_.emplace_back(letters_);
        for (std::size_t i = 0; i < letters_; ++i) has[i] = holds(edge.set, alphabet.letter(i));
      }
      moves.push_back({known->second, edge.to});
    }
  }
  next_ = {nfa.start};
  close(next_);
  intern(next_);
}

void Dfa::close(std::vector<int>& set) const {
  if (!has_epsilons_) return;
  std::vector<bool> in(nfa_->states().size());
  for (const int state : set) in[index(state)] = true;
  for (std::size_t i = 0; i < set.size(); ++i) {
    for (const int next : nfa_->states()[index(set[i])].epsilons) {
      if (in[index(next)]) continue;
      in[index(next)] = true;
      set.push_back(next);
    }
  }
  std::ranges::sort(set);
}

int Dfa::intern(const std::vector<int>& set) {
  const int made = static_cast<int>(sets_.size());
  int& number = set.empty()       ? alone_.back()
                : set.size() == 1 ? alone_[index(set.front())]
                                  : known_.try_emplace(set, -1).first->second;
  if (number >= 0) return number;
  number = made;
  accepting_.push_back(
      std::ranges::any_of(set, [this](int state) { return nfa_->states()[index(state)].accepts; }));
  table_.insert(table_.end(), letters_, -1);
  bytes_ += (2 * set.size() + letters_) * sizeof(int) + kStateOverhead;
  sets_.push_back(set);
  return made;
}

int Dfa::make_step(int state, std::size_t letter) {
  next_.clear();
  for (const int from : sets_[index(state)]) {
    for (const auto& move : moves_[index(from)]) {
      if (has_letter_[move.set][letter]) next_.push_back(move.to);
    }
  }
  if (next_.size() > 1) {
    std::ranges::sort(next_);
    next_.erase(std::unique(next_.begin(), next_.end()), next_.end());
  }
  close(next_);
  // close() marks what it has seen, a bit for each state.
  work_ += sets_[index(state)].size() + next_.size() + nfa_->states().size() / 64;
  const int made = intern(next_);
  table_[index(state) * letters_ + letter] = made;
  return made;
}

std::u32string code_points_of(std::string_view utf8) {
  std::u32string text;
  const auto* at = reinterpret_cast<const std::uint8_t*>(utf8.data());
  std::size_t left = utf8.size();
  while (left > 0) {
    ucs4_t c = 0;
    const int length = u8_mbtouc(&c, at, left);
    text.push_back(c);
    at += length;
    left -= static_cast<std::size_t>(length);
  }
  return text;
}

std::string utf8_of(const std::u32string& text) {
  std::string utf8;
  for (const char32_t c : text) {
    std::uint8_t bytes[6];
    const int length = u8_uctomb(bytes, c, sizeof bytes);
    if (length > 0)
      utf8.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length));
  }
  return utf8;
}

bool is_utf8(std::string_view text) {
  return u8_check(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()) == nullptr;
}

}  // namespace mcpac::policy
