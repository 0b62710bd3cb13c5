// SPDX-License-Identifier: Apache-2.0

#include "policy/text/times.h"

#include <charconv>

namespace mcpac::policy {
namespace {

using namespace std::chrono;

constexpr seconds kLongest = days{3653};

// Exactly `digits` decimal digits at `at`, moved past; -1 where they are not.
int take(std::string_view text, std::size_t& at, std::size_t digits) {
  int value = 0;
  for (std::size_t i = 0; i < digits; ++i, ++at) {
    if (at >= text.size() || text[at] < '0' || text[at] > '9') return -1;
    value = value * 10 + (text[at] - '0');
  }
  return value;
}

bool take(std::string_view text, std::size_t& at, std::string_view any_of) {
  if (at >= text.size() || any_of.find(text[at]) == std::string_view::npos) return false;
  ++at;
  return true;
}

// ".123": to microseconds, the rest cut off (a limit ends early rather than late).
std::optional<microseconds> fraction(std::string_view text, std::size_t& at) {
  if (!take(text, at, ".")) return microseconds{0};
  std::int64_t value = 0;
  std::size_t count = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, ++count) {
    if (count < 6) value = value * 10 + (text[at] - '0');
  }
  if (count == 0) return std::nullopt;
  for (; count < 6; ++count) value *= 10;
  return microseconds{value};
}

std::optional<minutes> offset(std::string_view text, std::size_t& at) {
  if (take(text, at, "Zz")) return minutes{0};
  const bool west = at < text.size() && text[at] == '-';
  if (!take(text, at, "+-")) return std::nullopt;
  const int h = take(text, at, 2);
  if (!take(text, at, ":")) return std::nullopt;
  const int m = take(text, at, 2);
  if (h < 0 || h > 23 || m < 0 || m > 59) return std::nullopt;
  const minutes value{h * 60 + m};
  return west ? -value : value;
}

}  // namespace

std::optional<system_clock::time_point> parse_rfc3339(std::string_view text) {
  std::size_t at = 0;
  const int y = take(text, at, 4);
  if (!take(text, at, "-")) return std::nullopt;
  const int mon = take(text, at, 2);
  if (!take(text, at, "-")) return std::nullopt;
  const int d = take(text, at, 2);
  if (!take(text, at, "Tt")) return std::nullopt;
  const int h = take(text, at, 2);
  if (!take(text, at, ":")) return std::nullopt;
  const int min = take(text, at, 2);
  if (!take(text, at, ":")) return std::nullopt;
  const int s = take(text, at, 2);
  if (y < 1970 || y > 2200 || mon < 1 || d < 1 || h < 0 || h > 23 || min < 0 || min > 59 || s < 0 ||
      s > 60) {
    return std::nullopt;
  }
  const year_month_day date{year{y}, month{static_cast<unsigned>(mon)},
                            day{static_cast<unsigned>(d)}};
  if (!date.ok()) return std::nullopt;
  const auto part = fraction(text, at);
  if (!part) return std::nullopt;
  const auto zone = offset(text, at);
  if (!zone || at != text.size()) return std::nullopt;
  return sys_days{date} + hours{h} + minutes{min} + seconds{s} + *part - *zone;
}

std::optional<seconds> parse_duration(std::string_view text) {
  std::int64_t count = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, count);
  if (parsed.ec != std::errc{} || count <= 0 || count > kLongest.count()) return std::nullopt;
  const std::string_view unit(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr));
  seconds value{0};
  if (unit == "s") value = seconds{count};
  if (unit == "m" || unit == "min") value = minutes{count};
  if (unit == "h") value = hours{count};
  if (unit == "d") value = days{count};
  if (value.count() == 0 || value > kLongest) return std::nullopt;
  return value;
}

}  // namespace mcpac::policy
