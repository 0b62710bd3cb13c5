// SPDX-License-Identifier: Apache-2.0

// Tables of the admitted system calls.
#pragma once

#include <seccomp.h>
#include <sys/socket.h>

#include <compare>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sandbox/admits.h"

namespace mcpac::sandbox {

// Whether the program sees a root of its own; without one some calls would reach the host's files.
enum class Root : std::uint8_t { kOwn, kOfHost };

// Default for a call without a rule: it ends the process at once, or it stops until the listener
// has read it, and then ends the process (listener.h).
enum class Rest : std::uint8_t { kKill, kReport };

// Whether calls that make, give away, take or write a name go to a guard (name_guard.h).
enum class Names : std::uint8_t { kAny, kGuarded };

// The calls that go there, of open and openat those that make or write.
[[nodiscard]] bool names_a_file(int call);

// Key of a filter; filters are compiled and kept by it.
struct FilterKey {
  Admits admits;
  Root root = Root::kOwn;
  Rest rest = Rest::kKill;
  Names names = Names::kAny;
  friend auto operator<=>(const FilterKey&, const FilterKey&) = default;
};

// One answer for a list of calls, whatever their arguments.
struct CallGroup {
  std::uint32_t answer;  // SCMP_ACT_…
  std::span<const int> calls;
};

// One answer for one call with these arguments; the rules of one call never overlap. They count
// instead of the answers of groups.
struct ArgumentRule {
  std::uint32_t answer;
  int call;
  std::vector<scmp_arg_cmp> arguments;
};

// Of every agent; later groups override earlier ones.
[[nodiscard]] std::vector<CallGroup> call_groups();
[[nodiscard]] std::vector<ArgumentRule> argument_rules(const FilterKey& key);

// Further admitted calls; overrides the above.
[[nodiscard]] std::vector<CallGroup> admitted_groups(const FilterKey& key);
[[nodiscard]] std::vector<ArgumentRule> admitted_rules(const FilterKey& key);

// Of a program that Serves, instead of all of the above; what they do not speak of is answered with
// ENOSYS (seccomp_serves.cpp). Without a root of its own there are no namespaces either, and less.
[[nodiscard]] std::vector<CallGroup> serving_groups(const FilterKey& key);
[[nodiscard]] std::vector<ArgumentRule> serving_rules(const FilterKey& key);

// Flags of sending and receiving that no program here needs: all but these. The kernel reads 32
// bits of them.
inline constexpr std::uint64_t kOddSocketFlags =
    0xffffffffU & ~std::uint64_t{MSG_NOSIGNAL | MSG_DONTWAIT | MSG_WAITALL};

// Stands for the process' own number until set_own_process().
inline constexpr std::uint32_t kOwnProcessMark = 0x5ca1ab1e;

}  // namespace mcpac::sandbox
