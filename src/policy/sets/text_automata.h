// Text automata: what passes a test on strings, as an automaton each.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "policy/sets/automaton.h"

namespace mcpac::policy {

// Longer counts are not unrolled into states; who meets one cannot decide exactly.
constexpr std::size_t kMaxCounted = 5000;

[[nodiscard]] Nfa exactly(std::string_view text);
[[nodiscard]] Nfa glob_automaton(std::string_view glob);  // "*" any run of characters
[[nodiscard]] Nfa starting_with(std::string_view text);
[[nodiscard]] Nfa ending_with(std::string_view text);
[[nodiscard]] Nfa one_line_automaton();
// At least `count` code points.
[[nodiscard]] Nfa at_least(std::size_t count);
// A pattern of RE2, matched in full. Nothing for what is not modelled exactly: flags, look-behinds
// such as \b, Unicode classes, anchors inside.
[[nodiscard]] std::optional<Nfa> regex_automaton(std::string_view pattern);

}  // namespace mcpac::policy
