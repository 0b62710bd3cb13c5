// EndReport: what the warden writes about a child that has ended, on the child's own pipe.
//
// Plain memory of one build's two halves, smaller than PIPE_BUF so that it is written whole. What
// stands in a Violation came from the child, which may be hostile: numbers to look up and text to
// clean, nothing to believe.
#pragma once

#include <array>
#include <climits>
#include <cstdint>
#include <type_traits>

namespace mcpac::sandbox {

// The forbidden system call that ended the child, as far as its listener saw it.
struct Violation {
  std::uint32_t happened = 0;
  std::int32_t call = -1;         // its number; -1: not known
  std::uint64_t entry = 0;        // where the program's entry lies in the child; 0: not known
  std::uint32_t frame_count = 0;  // the program counter, then what may be return addresses
  std::uint32_t unused = 0;
  std::array<std::uint64_t, 192> frames{};
  std::array<char, 256> path{};  // the call's path argument, cut to fit; "": none
};

struct EndReport {
  std::uint32_t version = 2;
  std::int32_t status = 0;  // as wait(2) has it
  std::uint64_t cpu_microseconds = 0;
  std::uint64_t peak_bytes = 0;
  Violation violation;
};
static_assert(std::is_trivially_copyable_v<EndReport> && sizeof(EndReport) <= PIPE_BUF);

}  // namespace mcpac::sandbox
