#include "core/uri_spelling.h"

#include <doctest/doctest.h>
#include <re2/re2.h>

#include <cctype>
#include <string>

namespace mcpac {

TEST_CASE("codes that a URI does not need are decoded, all others stay") {
  CHECK(without_needless_codes("/%73ecret%2F%7e") == "/secret%2F~");
  CHECK(without_needless_codes("%%361%2561%4") == "a%2561%4");
  CHECK(without_needless_codes("%00%20%3A%C3%BC%25") == "%00%20%3A%C3%BC%25");
}

TEST_CASE("each byte is encoded without a need, a control byte, or neither, as the patterns say") {
  const RE2 needless{std::string(kNeedlessCode)};
  const RE2 control{std::string(kControlCode)};
  const RE2 apart(read_apart_pattern());
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (unsigned byte = 0; byte < 256; ++byte) {
    const std::string code = {'%', kDigits[byte / 16], kDigits[byte % 16]};
    const bool plain = byte < 0x80 && (std::isalnum(static_cast<int>(byte)) != 0 || byte == '-' ||
                                       byte == '.' || byte == '_' || byte == '~');
    CHECK_MESSAGE((without_needless_codes(code) != code) == plain, code);
    CHECK_MESSAGE(RE2::FullMatch(code, needless) == plain, code);
    const bool is_control = byte < 0x20 || byte == 0x7f;
    CHECK_MESSAGE(RE2::FullMatch(code, control) == is_control, code);
    CHECK_MESSAGE(RE2::PartialMatch("x:a" + code, apart) == (plain || is_control), code);
  }
}

TEST_CASE("a scheme is put in lower case, and nothing that is none") {
  CHECK(with_lower_scheme("DEMO+X://Host/Path") == "demo+x://Host/Path");
  CHECK(has_capital_scheme("Demo://x"));
  for (const char* text : {"demo://X", "Note: x", "A", "", "1A://x", "A B://x", "A:/x", "://A"}) {
    CHECK_MESSAGE(!has_capital_scheme(text), text);
    CHECK_MESSAGE(with_lower_scheme(text) == text, text);
  }
}

}  // namespace mcpac
