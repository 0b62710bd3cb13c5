#include "resident/patience.h"

#include <algorithm>

namespace mcpac::resident {
namespace {

unsigned& factor() {
  static unsigned value = 1;
  return value;
}

}  // namespace

void set_patience(unsigned wanted) {
  factor() = std::clamp(wanted, 1U, 1'000U);
}

std::chrono::milliseconds patient(std::chrono::milliseconds usual) {
  return usual * factor();
}

}  // namespace mcpac::resident
