// SPDX-License-Identifier: Apache-2.0

#include "core/rfc3339.h"

#include <string_view>

namespace mcpac {
namespace {

// Puts a number of so many digits at this place.
void put(std::string& text, std::size_t at, std::size_t digits, std::uint64_t number) {
  for (std::size_t i = digits; i-- > 0; number /= 10)
    text[at + i] = static_cast<char>('0' + number % 10);
}

}  // namespace

// Without a formatting library, whose time for this is more than that of a hash: two records of a
// call have one each.
std::string rfc3339_utc(std::chrono::system_clock::time_point time) {
  using namespace std::chrono;
  const auto micros = floor<microseconds>(time);
  const auto day = floor<days>(micros);
  const year_month_day date(day);
  const hh_mm_ss clock(micros - day);
  std::string text = "0000-00-00T00:00:00.000000Z";
  const auto put_count = [&](std::size_t at, std::size_t digits, auto count) {
    put(text, at, digits, static_cast<std::uint64_t>(count));
  };
  put_count(0, 4, static_cast<int>(date.year()));
  put_count(5, 2, static_cast<unsigned>(date.month()));
  put_count(8, 2, static_cast<unsigned>(date.day()));
  put_count(11, 2, clock.hours().count());
  put_count(14, 2, clock.minutes().count());
  put_count(17, 2, clock.seconds().count());
  put_count(20, 6, clock.subseconds().count());
  return text;
}

}  // namespace mcpac
