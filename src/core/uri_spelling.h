// UriSpelling: what may be spelled in several ways in one URI (RFC 3986, sections 2.3, 3.1, 6.2.2).
//
// One rule for resource URIs (core/offer.h) and for URLs in arguments (policy/match/url.h): what
// some readers decode or remove and others do not is refused, or is rewritten where all spellings
// are equal. The patterns are of the part of RE2's syntax that ECMAScript shares.
#pragma once

#include <string>
#include <string_view>

namespace mcpac {

// A slash and the backslash that some readers take for one, encoded.
inline constexpr std::string_view kSlashCode = "%2[fF]|%5[cC]";
// "." and "..", also encoded.
inline constexpr std::string_view kDots = R"((?:\.|%2[eE]){1,2})";
// A control byte: readers that decode first end the text at %00, or leave out the others.
inline constexpr std::string_view kControlCode = "%(?:[01][0-9a-fA-F]|7[fF])";
// A letter, a digit, '-', '.', '_' or '~', for which there is no need: "%73ecret" is "secret".
inline constexpr std::string_view kNeedlessCode =
    "%(?:2[dDeE]|3[0-9]|[46][1-9a-fA-F]|[57][0-9aA]|5[fF]|7[eE])";

// Finds what readers of a URI take for different places: dot segments, beside "%2f" and "%5c" as
// well, and both kinds of codes.
[[nodiscard]] std::string read_apart_pattern();

// `text` with its needless codes decoded, again until there are none.
[[nodiscard]] std::string without_needless_codes(std::string_view text);

// Whether `text` begins with a scheme and "://", and the scheme has capital letters.
[[nodiscard]] bool has_capital_scheme(std::string_view text);
// The same text with its scheme in lower case, where it begins with one and "://".
[[nodiscard]] std::string with_lower_scheme(std::string_view text);

}  // namespace mcpac
