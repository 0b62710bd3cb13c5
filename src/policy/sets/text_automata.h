// SPDX-License-Identifier: Apache-2.0

// Text automata: one automaton for each test on strings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "policy/sets/automaton.h"

namespace mcpac::policy {

// Longer counts are not unrolled into states; a caller that meets one cannot decide exactly.
constexpr std::size_t kMaxCounted = 5000;

[[nodiscard]] Nfa exactly(std::string_view text);
[[nodiscard]] Nfa glob_automaton(std::string_view glob);  // "*" any run of characters
[[nodiscard]] Nfa starting_with(std::string_view text);
[[nodiscard]] Nfa ending_with(std::string_view text);
// Texts that no server takes anything off (match/readings.h): empty, or with a plain character at
// both ends. What tests say of others may be what they say of these, so they are classes of their
// own.
[[nodiscard]] Nfa plain_automaton();
// Strings that pass `nfa` once one slash stands for several, for an encoded one, and for one behind
// a parameter (";x/").
[[nodiscard]] Nfa routed(Nfa nfa);
// Without any of these (match/matcher.h).
[[nodiscard]] Nfa one_line_automaton(std::u32string_view line_breaks);
// At least `count` code points.
[[nodiscard]] Nfa at_least(std::size_t count);
// A pattern of RE2, matched in full. Nothing for what is not modelled exactly: look-behinds such as
// \b, Unicode classes, letters beyond ASCII in both cases, anchors inside. What the dot of a
// pattern matches where no flag in it says so: match/matcher.h.
enum class DotMatches : std::uint8_t { kAllButLineFeed, kAll };
[[nodiscard]] std::optional<Nfa> regex_automaton(std::string_view pattern,
                                                 DotMatches dot = DotMatches::kAllButLineFeed);

}  // namespace mcpac::policy
