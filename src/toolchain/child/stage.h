// SPDX-License-Identifier: Apache-2.0

// Running one sandboxed process to its end: a tool of the pipeline (analyzer, compiler, linker)
// whose output is collected, or an agent whose output is passed on while it comes.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/file.h"
#include "core/interrupt.h"
#include "sandbox/sandbox.h"
#include "toolchain/child/output_gate.h"

namespace mcpac::toolchain {

struct ToolOutput {
  sandbox::Verdict verdict;
  std::string standard_output;
  std::string standard_error;
  bool cut = false;  // more was written than `max_output`; the rest was thrown away
  [[nodiscard]] bool succeeded() const {
    return verdict.kind == sandbox::Verdict::Kind::kExited && verdict.code == 0;
  }
};

struct ChildIo {
  std::string_view input{};
  // Called with each piece as it comes; false ends the child (kKilled): it wrote too much.
  std::function<bool(std::string_view)> standard_output{};
  std::function<bool(std::string_view)> standard_error{};
  // Where the two receivers write to, when they may block: nothing is read from the child while its
  // output is not taken, so that a pager left alone cannot hold up the wall limit or Ctrl-C. -1:
  // never blocks.
  int output_sink = -1;
  int error_sink = -1;
  // Nothing is read while it is closed, of what goes to a sink. Null: it always may.
  OutputGate* gate = nullptr;
  // Messages about the child from threads that must not wait for a reader: `descriptor` is
  // readable while there is some, and then, while `sink` takes it, `pass_on` is called for one line
  // after the other, each at most as long as a pipe takes at once; false: there is no more.
  struct Beside {
    int descriptor = -1;
    int sink = -1;
    std::function<bool()> pass_on{};
  } beside{};
};

// A child and our ends of the pipes on its descriptors 0 to 2.
struct PipedChild {
  sandbox::Child child;
  std::chrono::milliseconds wall;  // of the spec; 0: none
  UniqueFd input;
  UniqueFd output;
  UniqueFd error;
  std::shared_ptr<const TemporaryFolder> overlay;  // of a tool without a root; else null
};
// The spec's descriptors 0 to 2 are replaced. Where the warden makes no roots, it is
// without_root().
[[nodiscard]] Result<PipedChild> start_child(sandbox::Warden& warden, sandbox::Spec spec);
// Passes on until the child has ended, its wall limit from now on, or `stop`. It looks at the clock
// at least every `longest_wait`.
[[nodiscard]] Result<sandbox::Verdict> attend(
    PipedChild child, ChildIo io, StopSignal stop,
    std::chrono::milliseconds longest_wait = std::chrono::hours(1));

// Whether what is written there is taken, at once or before `until`. False also once `stop` is
// readable: the wait is over.
[[nodiscard]] bool wait_for_reader(int sink, StopSignal stop,
                                   std::chrono::steady_clock::time_point until);

// Feeds `input`, collects both outputs up to `max_output` bytes each, and waits.
[[nodiscard]] Result<ToolOutput> run_tool(sandbox::Warden& warden, sandbox::Spec spec,
                                          std::string_view input, std::size_t max_output,
                                          StopSignal stop);

// The same of one that runs already and waits for `input`.
[[nodiscard]] Result<ToolOutput> run_tool(PipedChild tool, std::string_view input,
                                          std::size_t max_output, StopSignal stop);

// Limits that stopped every compiler bomb that we know, with room for real programs.
[[nodiscard]] sandbox::Limits compiler_limits();

// The end of a tool that did not exit by itself, in words: "was stopped after 10 s".
[[nodiscard]] std::string describe(const sandbox::Verdict& verdict);
// Fix for the limit that ended it or stood in its way; "" where there is none.
[[nodiscard]] std::string remedy_of(const sandbox::Verdict& verdict);

}  // namespace mcpac::toolchain
