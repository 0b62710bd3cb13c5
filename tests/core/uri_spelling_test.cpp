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

TEST_CASE("a segment is found that some reader takes for dots, and no other") {
  const RE2 apart(read_apart_pattern());
  for (const char* uri :
       {"file:///pub/..;/x", "file:///pub/..%3b/x", "file:///pub/%252e%252e/x",
        "file:///a/..%c0%afx", "file:///a/%u002e%u002e/x", "file:///a/\uFF0E\uFF0E/x",
        "file:///a/\u2025/x", "file:///a/..%ef%bc%8fx", "file:///a/..\u2215x", "file:///a/..%20/x",
        "x:..;y", "x:a/%c0%ae"})
    CHECK_MESSAGE(RE2::PartialMatch(uri, apart), std::string(uri));
  for (const char* uri :
       {"file:///a;v=1/b", "file:///a/100%25", "x:///?q=%25", "file:///caf\u00e9", "file:///a/...",
        "file:///a..b/c", "file:///a/..b;c", "file:///a/%C3%A9", "file:///%E4%B8%AD/x"})
    CHECK_MESSAGE(!RE2::PartialMatch(uri, apart), std::string(uri));
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
