// SPDX-License-Identifier: Apache-2.0

// HttpReadings: the bodies that come from one server at the same time, and which of them goes on.
//
// Many large answers at once neither pile up here nor hold up one another: the oldest comes first.
// That bounds as well what a server holds open that begins answers and does not end them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mcpac::mcp {

class HttpReadings {
 public:
  using Clock = std::chrono::steady_clock;
  // kAnnouncements: events that belong to no call, and have no time by which they end.
  enum class Form : std::uint8_t { kWhole, kEvents, kAnnouncements };
  // One of them, as long as it lives.
  class Reading {
   public:
    Reading(HttpReadings& all, Form of);
    ~Reading();
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

    Form form;
    Clock::time_point asked;  // when its next piece was asked for, which has not come
    std::size_t held = 0;     // bytes that have come, until they are taken

   private:
    HttpReadings& all_;
  };

  // How many bytes a body that is read as a whole asks for at once.
  [[nodiscard]] std::size_t most_of_turn(const Reading& reading) const;
  // Whether more of it may be read now. Of the oldest that belongs to a call always.
  [[nodiscard]] bool may_grow(const Reading& reading) const;

 private:
  std::vector<const Reading*> all_;  // in the order of their beginnings
};

}  // namespace mcpac::mcp
