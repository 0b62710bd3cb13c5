// SPDX-License-Identifier: Apache-2.0

#include "policy/sets/text_automata.h"

#include <algorithm>

namespace mcpac::policy {

Nfa exactly(std::string_view text) {
  Nfa nfa;
  nfa.start = nfa.add();
  nfa.accept(nfa.chain(nfa.start, text));
  return nfa;
}

Nfa glob_automaton(std::string_view glob) {
  Nfa nfa;
  nfa.start = nfa.add();
  int at = nfa.start;
  while (!glob.empty()) {
    const auto star = glob.find('*');
    at = nfa.chain(at, glob.substr(0, star));
    if (star == std::string_view::npos) break;
    const int loop = nfa.add();
    nfa.epsilon(at, loop);
    nfa.edge(loop, any_char(), loop);
    at = loop;
    glob.remove_prefix(star + 1);
  }
  nfa.accept(at);
  return nfa;
}

Nfa starting_with(std::string_view text) {
  Nfa nfa;
  nfa.start = nfa.add();
  const int end = nfa.chain(nfa.start, text);
  nfa.edge(end, any_char(), end);
  nfa.accept(end);
  return nfa;
}

Nfa ending_with(std::string_view text) {
  Nfa nfa;
  nfa.start = nfa.add();
  nfa.edge(nfa.start, any_char(), nfa.start);
  nfa.accept(nfa.chain(nfa.start, text));
  return nfa;
}

Nfa plain_automaton() {
  CharSet word = {{U'a', U'z'}, {U'A', U'Z'}, {U'0', U'9'}};
  for (const char32_t c : std::u32string_view(U"/._~-+=@#$%&*!?,;:|\\")) word.push_back({c, c});
  CharSet last = word;
  for (const char32_t c : std::u32string_view(U")]}")) last.push_back({c, c});
  Nfa nfa;
  nfa.start = nfa.add();
  nfa.accept(nfa.start);
  const int one = nfa.add();
  const int more = nfa.add();
  const int end = nfa.add();
  nfa.edge(nfa.start, word, one);
  nfa.accept(one);
  nfa.edge(nfa.start, word, more);
  nfa.edge(more, any_char(), more);
  nfa.edge(more, last, end);
  nfa.accept(end);
  return nfa;
}

Nfa routed(Nfa nfa) {
  const auto has_slash = [](const CharSet& set) {
    return std::ranges::any_of(set, [](CharRange r) { return r.first <= U'/' && U'/' <= r.last; });
  };
  const auto old = nfa.states().size();
  for (std::size_t from = 0; from < old; ++from) {
    const auto edges = nfa.states()[from].edges;
    for (const auto& edge : edges) {
      if (!has_slash(edge.set) || edge.to == static_cast<int>(from)) continue;
      const int behind = nfa.add();
      const int parameter = nfa.add();
      nfa.edge(static_cast<int>(from), one_char(U'/'), behind);
      nfa.edge(behind, one_char(U'/'), behind);
      nfa.epsilon(behind, edge.to);
      nfa.epsilon(nfa.chain(static_cast<int>(from), "%2F"), behind);
      nfa.edge(static_cast<int>(from), one_char(U';'), parameter);
      nfa.edge(parameter, all_but({{U'#', U'#'}, {U'/', U'/'}, {U'?', U'?'}}), parameter);
      nfa.edge(parameter, one_char(U'/'), behind);
    }
  }
  return nfa;
}

Nfa one_line_automaton(std::u32string_view line_breaks) {
  CharSet breaks;
  for (const char32_t c : line_breaks) breaks.push_back({c, c});
  Nfa nfa;
  nfa.start = nfa.add();
  nfa.edge(nfa.start, all_but(breaks), nfa.start);
  nfa.accept(nfa.start);
  return nfa;
}

Nfa at_least(std::size_t count) {
  Nfa nfa;
  nfa.start = nfa.add();
  int at = nfa.start;
  for (std::size_t i = 0; i < count; ++i) {
    const int next = nfa.add();
    nfa.edge(at, any_char(), next);
    at = next;
  }
  nfa.edge(at, any_char(), at);
  nfa.accept(at);
  return nfa;
}

}  // namespace mcpac::policy
