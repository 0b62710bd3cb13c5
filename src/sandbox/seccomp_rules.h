// Which system calls each profile admits, as tables (measured: docs/architecture.md, "the
// sandbox").
#pragma once

#include <seccomp.h>

#include <span>
#include <string_view>

#include "sandbox/sandbox.h"

namespace mcpac::sandbox {

// One answer for a list of calls, whatever their arguments.
struct CallGroup {
  std::uint32_t answer;  // SCMP_ACT_…
  std::span<const int> calls;
};

// One answer for one call with these arguments; the rules of one call never overlap.
struct ArgumentRule {
  std::uint32_t answer;
  int call;
  std::vector<scmp_arg_cmp> arguments;
};

// Later groups override earlier ones.
[[nodiscard]] std::vector<CallGroup> call_groups(Profile profile);
[[nodiscard]] std::vector<ArgumentRule> argument_rules(Profile profile);

// Stands for the process' own number until set_own_process().
inline constexpr std::uint32_t kOwnProcessMark = 0x5ca1ab1e;

}  // namespace mcpac::sandbox
