#include "core/ids.h"

#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <sodium.h>

namespace mcpac {

std::string new_uuid_v7(const Clock& clock) {
  std::array<std::uint8_t, 16> bytes{};
  randombytes_buf(bytes.data(), bytes.size());
  const auto millis = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(clock.wall_now().time_since_epoch()).count());
  for (unsigned i = 0; i < 6; ++i) bytes[i] = static_cast<std::uint8_t>(millis >> (40U - 8U * i));
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0fU) | 0x70U);
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3fU) | 0x80U);
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

}  // namespace mcpac
