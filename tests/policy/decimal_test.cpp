#include "policy/text/decimal.h"

#include <doctest/doctest.h>

namespace mcpac::policy {
namespace {

Decimal number(std::string_view text) {
  return Decimal::parse(text).value();
}

}  // namespace

TEST_CASE("numbers compare as the decimals that they are written as") {
  CHECK(number("5e2") == number("500.00"));
  CHECK(number("-0.0") == number("0"));
  CHECK(number("9007199254740993") > number("9007199254740992"));
  CHECK(number("1e400") > number("1e399"));
  CHECK(number("1e-400") > number("0"));
  CHECK(number("-1e400") < number("-1"));
  CHECK(number("-2") < number("-1.5"));
  CHECK(number("0.1") == Decimal::of(Json(0.1)));
  CHECK(number("18446744073709551615") == Decimal::of(Json(UINT64_MAX)));
}

TEST_CASE("what is no JSON number is refused") {
  for (const char* text :
       {"", "-", "01", "1.", ".5", "1e", "+1", "0x1", "1e99999999999999999999", "NaN", "1 "}) {
    CHECK_MESSAGE(!Decimal::parse(text).has_value(), text);
  }
}

}  // namespace mcpac::policy
