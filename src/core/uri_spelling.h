// SPDX-License-Identifier: Apache-2.0

// UriSpelling: equivalent spellings of one URI (RFC 3986, sections 2.3, 3.1, 6.2.2).
//
// One rule for resource URIs (core/offer.h) and for URLs in arguments (policy/match/url.h): what
// some readers decode or remove and others do not is refused, or is rewritten where all spellings
// are equal. The patterns are of the part of RE2's syntax that ECMAScript shares.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mcpac {

// A control byte: readers that decode first end the text at %00, or leave out the others.
inline constexpr std::string_view kControlCode = "%(?:[01][0-9a-fA-F]|7[fF])";
// A letter, a digit, '-', '.', '_' or '~', for which there is no need: "%73ecret" is "secret".
inline constexpr std::string_view kNeedlessCode =
    "%(?:2[dDeE]|3[0-9]|[46][1-9a-fA-F]|[57][0-9aA]|5[fF]|7[eE])";

// Finds a segment that some reader takes for "." or "..", up to what ends it. Readers decode twice
// ("%252e"), take overlong UTF-8 ("%c0%ae"), "%u002e" and characters that are compatible with a dot
// or a slash (U+FF0E, U+2025, U+FF0F; Unicode's NFKC, and the best fits of Windows), cut a segment
// at ';' ("..;x", Tomcat), and leave out blanks and invisible characters at its ends. The segment
// stands behind `before` or such a slash; behind it stands such a slash, one of "/?#;", or nothing.
[[nodiscard]] std::string dot_segment_pattern(std::string_view before);
// Finds what readers of a URI take for different places: dot segments, and both kinds of codes.
[[nodiscard]] std::string read_apart_pattern();
// A slash in each of these spellings but the plain one.
[[nodiscard]] std::string slash_code_pattern();

// Length in bytes of the scheme at the beginning of a text, without its colon (RFC 3986, 3.1); 0:
// there is none.
[[nodiscard]] std::size_t scheme_length(std::string_view text);

// `text` with its needless codes decoded, again until there are none.
[[nodiscard]] std::string without_needless_codes(std::string_view text);

// Whether `text` begins with a scheme and "://", and the scheme has capital letters.
[[nodiscard]] bool has_capital_scheme(std::string_view text);
// The same text with its scheme in lower case, where it begins with one and "://".
[[nodiscard]] std::string with_lower_scheme(std::string_view text);

}  // namespace mcpac
