#include "core/json_escape.h"

#include <doctest/doctest.h>

#include "core/json.h"

TEST_SUITE("core/json_escape") {
  TEST_CASE("exactly what a JSON string cannot hold is escaped, and reads as it was") {
    for (int value = 0; value < 0x80; ++value) {
      CAPTURE(value);
      const char c = static_cast<char>(value);
      std::string text(1, c);
      const bool stands = mcpac::parse_json("\"" + text + "\"").has_value();
      CHECK(mcpac::needs_json_escape(c) == !stands);
      if (stands) continue;
      std::string escaped;
      mcpac::append_json_escape(escaped, c);
      const auto read = mcpac::parse_json("\"" + escaped + "\"");
      REQUIRE(read.has_value());
      CHECK(*read == text);
    }
    std::string escaped;
    for (const char c : {'\n', '"', '\x1f'}) mcpac::append_json_escape(escaped, c);
    CHECK(escaped == "\\n\\\"\\u001f");
  }

  TEST_CASE(
      "the plain start of a text ends at the first byte that is not plain, wherever that is") {
    for (std::size_t at = 0; at < 200; ++at) {
      CAPTURE(at);
      CHECK(mcpac::plain_json_length(std::string(at, '~')) == at);
      for (const char c : {'"', '\\', '\0', '\n', '\x1f', '\x80', '\xc3', '\xff'}) {
        std::string text(200, ' ');
        text[at] = c;
        CHECK(mcpac::plain_json_length(text) == at);
        text[199] = '"';
        CHECK(mcpac::plain_json_length(text) == at);
      }
      std::string plain(200, '\x7f');
      plain[at] = '!';
      CHECK(mcpac::plain_json_length(plain) == 200);
    }
  }
}
