// SPDX-License-Identifier: Apache-2.0

#include "resident/patience.h"

#include <algorithm>
#include <cstdlib>

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

void set_patience_from_environment() {
  // What is no number is the usual patience.
  if (const char* said = std::getenv("MCPAC_RESIDENT_PATIENCE"))
    set_patience(static_cast<unsigned>(std::max(std::atoi(said), 1)));
}

std::chrono::milliseconds patient(std::chrono::milliseconds usual) {
  return usual * factor();
}

}  // namespace mcpac::resident
