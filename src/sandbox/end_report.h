// SPDX-License-Identifier: Apache-2.0

// EndReport: the warden's report about a child that has ended, on the child's own pipe.
//
// Plain memory of one build's two halves, smaller than PIPE_BUF so that it is written whole. What
// stands in a Violation or a Crash came from the child, which may be hostile: numbers to look up
// and text to clean, nothing to believe.
#pragma once

#include <array>
#include <climits>
#include <cstdint>
#include <type_traits>

namespace mcpac::sandbox {

// Position of a thread when it was looked at.
struct Stand {
  std::uint64_t entry = 0;        // where the program's entry lies in the child; 0: not known
  std::uint32_t frame_count = 0;  // the program counter, then what may be return addresses
  std::uint32_t unused = 0;
  std::array<std::uint64_t, 192> frames{};
};

// The forbidden system call that ended the child, as far as its listener saw it.
struct Violation {
  std::uint32_t happened = 0;
  std::int32_t call = -1;  // its number; -1: not known
  Stand stand;
  std::array<char, 256> path{};  // the call's path argument, cut to fit; "": none
};

// The last signal of the child's first thread that crashes end with (watch.h). It may have been
// handled: the status says how the child ended.
struct Crash {
  std::int32_t signal = 0;         // 0: none was seen
  std::uint32_t aborted = 0;       // by abort(), whose signal the first process of a pid
                                   // namespace outlives
  std::uint64_t stack_needed = 0;  // not 0: its stack has fewer bytes than this
  std::uint64_t threads = 0;       // that there were
  Stand stand;
};

// Refusals that did not end the child.
struct Refusals {
  std::uint32_t file_size = 0;  // times that a file would have grown too large
  std::uint32_t unused = 0;
};

// Refusals for the names that it must keep (name_guard.h).
struct KeptNames {
  std::uint32_t refusals = 0;
  std::uint32_t out_of_patience = 0;  // the child was ended, as a file system did not answer it
  std::array<char, 256> path{};       // the first that was refused, cut to fit
};

// Report of its control group (cgroup_leaf.h).
struct GroupUse {
  std::uint32_t there = 0;  // 0: it had none
  std::uint32_t unused = 0;
  std::uint64_t peak_bytes = 0;  // 0: not known
  std::uint64_t full = 0;        // times that there was no memory left in this very group
  std::uint64_t killed = 0;      // processes that were ended for want of memory, there or above
  std::uint64_t refused_threads = 0;
};

struct EndReport {
  std::uint32_t version = 7;
  std::int32_t status = 0;  // as wait(2) has it
  std::uint64_t cpu_microseconds = 0;
  std::uint64_t peak_bytes = 0;
  std::uint64_t stack_bytes = 0;     // that the first thread could have
  std::uint64_t most_processes = 0;  // threads included
  std::uint64_t held_memory = 0;     // bytes for which the warden ended it; 0: it did not
  std::uint64_t held_threads = 0;    // for which the warden ended it; 0: it did not
  std::uint32_t watched = 0;         // to its end: a crash that was not seen is another thread's
  std::uint32_t unused = 0;
  Refusals refusals;
  KeptNames kept;
  GroupUse group;
  Crash crash;
  Violation violation;
};
static_assert(std::is_trivially_copyable_v<EndReport> && sizeof(EndReport) <= PIPE_BUF);

}  // namespace mcpac::sandbox
