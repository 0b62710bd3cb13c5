// SPDX-License-Identifier: Apache-2.0

#include "mcp/http_readings.h"

#include <algorithm>

#include "mcp/http_connection.h"

namespace mcpac::mcp {

HttpReadings::Reading::Reading(HttpReadings& all, Form of) : form(of), all_(all) {
  all_.all_.push_back(this);
}

HttpReadings::Reading::~Reading() {
  std::erase(all_.all_, this);
}

// Large answers to calls at the same time are taken one after the other: the reader begins with the
// first before the last is here, and they do not pile up. All others go on in smaller steps. Where
// the server is behind with an older one, it is the next one's turn: else those of a slow moment
// would hold up one another.
std::size_t HttpReadings::most_of_turn(const Reading& reading) const {
  constexpr std::size_t kStep = std::size_t{2} << 10U;
  constexpr std::chrono::milliseconds kBehind{20};
  const auto turn = std::ranges::find_if(all_, [&](const Reading* one) {
    return one == &reading || (one->form == Form::kWhole && reading.asked - one->asked < kBehind);
  });
  return *turn == &reading ? HttpConnection::kPiece : kStep;
}

// What is begun and not ended is held until its call's time is up: of much together only the oldest
// goes on. What is small is no matter, however many there are.
bool HttpReadings::may_grow(const Reading& reading) const {
  constexpr std::size_t kSmall = std::size_t{64} << 10U;
  constexpr std::size_t kMuch = std::size_t{64} << 20U;
  if (reading.held <= kSmall) return true;
  std::size_t together = 0;
  for (const Reading* one : all_) together += one->held;
  if (together <= kMuch) return true;
  // Announcements may stand still for ever, and no call waits for them.
  const auto oldest = std::ranges::find_if(all_, [](const Reading* one) {
    return one->held > kSmall && one->form != Form::kAnnouncements;
  });
  return oldest == all_.end() || *oldest == &reading;
}

}  // namespace mcpac::mcp
