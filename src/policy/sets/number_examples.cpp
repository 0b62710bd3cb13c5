#include "policy/sets/number_examples.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <set>

namespace mcpac::policy {
namespace {

// The integers beside a bound: those below 2^64 are told apart even where doubles are not.
void add_integers(double near, const std::string& bound, std::vector<Json>& numbers) {
  if (std::abs(near) > 18.5e18) return;
  // Read the digits themselves where they are an integer; a double would round them.
  const bool plain = bound.find_first_of(".eE") == std::string::npos;
  if (near < 0) {
    const std::int64_t whole = plain          ? std::strtoll(bound.c_str(), nullptr, 10)
                               : near < -9e18 ? std::numeric_limits<std::int64_t>::min() + 4
                                              : static_cast<std::int64_t>(near);
    for (std::int64_t step = -2; step <= 2; ++step) {
      if (step < 0 && whole < std::numeric_limits<std::int64_t>::min() - step) continue;
      numbers.emplace_back(whole + step);
    }
    return;
  }
  const std::uint64_t whole = plain          ? std::strtoull(bound.c_str(), nullptr, 10)
                              : near > 18e18 ? std::numeric_limits<std::uint64_t>::max() - 4
                                             : static_cast<std::uint64_t>(near);
  for (std::uint64_t step = 0; step <= 2; ++step) {
    if (whole <= std::numeric_limits<std::uint64_t>::max() - step)
      numbers.emplace_back(whole + step);
    if (step > 0 && whole >= step) numbers.emplace_back(whole - step);
    if (step > whole) numbers.emplace_back(-static_cast<std::int64_t>(step - whole));
  }
}

// Integers that a double stands for beside itself: the nearest double is a reading of them
// (readings.h), so both sides of the middles between doubles are looked at.
void add_beyond_doubles(double near, std::vector<Json>& numbers) {
  constexpr double kExact = 9007199254740992.0;
  constexpr double kMost = 18446744073709551615.0;
  if (std::abs(near) < kExact || near < -9.2e18 || near > 18.4e18) return;
  for (const double toward : {-kMost, kMost}) {
    const double next = std::nextafter(near, toward);
    if (near < 0) {
      const auto middle = static_cast<std::int64_t>(near) / 2 + static_cast<std::int64_t>(next) / 2;
      for (const std::int64_t step : {-1, 0, 1}) numbers.emplace_back(middle + step);
    } else {
      const auto middle =
          static_cast<std::uint64_t>(near) / 2 + static_cast<std::uint64_t>(next) / 2;
      for (const std::uint64_t step : {0U, 1U, 2U}) numbers.emplace_back(middle + step - 1);
    }
  }
}

void add_doubles(double near, std::vector<Json>& numbers) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (std::isinf(near)) near = std::copysign(std::numeric_limits<double>::max(), near);
  double below = near;
  double above = near;
  numbers.emplace_back(near);
  for (int step = 0; step < 2; ++step) {
    below = std::nextafter(below, -kInfinity);
    above = std::nextafter(above, kInfinity);
    if (!std::isinf(below)) numbers.emplace_back(below);
    if (!std::isinf(above)) numbers.emplace_back(above);
  }
}

}  // namespace

std::vector<Json> number_examples(const std::vector<std::string>& bounds) {
  std::vector<Json> numbers = {0, 1, -1, 0.5};
  std::set<double> values;
  for (const auto& bound : bounds) {
    const double near = std::strtod(bound.c_str(), nullptr);
    values.insert(near);
    add_integers(near, bound, numbers);
  }
  // A middle is easier to read than a neighbour.
  for (auto at = values.begin(); at != values.end() && std::next(at) != values.end(); ++at) {
    const double middle = *at / 2 + *std::next(at) / 2;
    if (std::isfinite(middle)) numbers.emplace_back(middle);
  }
  for (const double value : values) {
    add_doubles(value, numbers);
    add_beyond_doubles(value, numbers);
  }
  numbers.emplace_back(std::numeric_limits<double>::max());
  numbers.emplace_back(std::numeric_limits<double>::lowest());
  return numbers;
}

}  // namespace mcpac::policy
