// SPDX-License-Identifier: Apache-2.0

#include "core/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/ascii.h"

namespace mcpac {
namespace {

constexpr std::uint64_t kMillion = 1'000'000;
constexpr std::uint64_t kLargestAmount = 1'000'000'000;

std::optional<std::uint64_t> whole(std::string_view digits) {
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, value);
  if (parsed.ptr != end || parsed.ec != std::errc{}) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> bytes_of(std::string_view unit) {
  if (unit.empty() || unit == "B") return 1;
  if (unit == "KB") return 1'000;
  if (unit == "MB") return 1'000'000;
  if (unit == "GB") return 1'000'000'000;
  return std::nullopt;
}

}  // namespace

std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  if (text.size() > 15) return std::nullopt;
  const auto end = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto value = whole(text.substr(0, end));
  const auto unit = bytes_of(text.substr(end));
  // Fifteen digits and a unit of a thousand million would not fit; a million GB is never needed.
  if (!value || !unit || *value > 1'000'000'000'000'000 / *unit) return std::nullopt;
  return *value * *unit;
}

std::string size_text(std::uint64_t bytes) {
  for (const std::string_view unit : {"GB", "MB", "KB"}) {
    const std::uint64_t size = *bytes_of(unit);
    if (bytes >= size && bytes % size == 0) return fmt::format("{}{}", bytes / size, unit);
  }
  return fmt::format("{}B", bytes);
}

std::optional<std::uint64_t> parse_amount(std::string_view text) {
  const auto point = text.find('.');
  const auto units = whole(text.substr(0, point));
  if (!units || *units > kLargestAmount) return std::nullopt;
  if (point == std::string_view::npos) return *units * kMillion;
  const auto digits = text.substr(point + 1);
  const auto value = whole(digits);
  if (!value || digits.size() > 6) return std::nullopt;
  std::uint64_t millionths = *value;
  for (auto places = digits.size(); places < 6; ++places) millionths *= 10;
  return *units * kMillion + millionths;
}

bool is_currency(std::string_view text) {
  return text.size() == 3 && std::ranges::all_of(text, is_upper);
}

std::optional<Money> parse_money(std::string_view text) {
  const auto blank = text.find(' ');
  if (blank == std::string_view::npos || !is_currency(text.substr(blank + 1))) return std::nullopt;
  const auto amount = parse_amount(text.substr(0, blank));
  if (!amount) return std::nullopt;
  return Money{*amount, std::string(text.substr(blank + 1))};
}

std::string to_text(const Money& money) {
  std::string behind = fmt::format("{:06}", money.millionths % kMillion);
  while (behind.size() > 2 && behind.back() == '0') behind.pop_back();
  return fmt::format("{}.{} {}", money.millionths / kMillion, behind, money.currency);
}

}  // namespace mcpac
