// SPDX-License-Identifier: Apache-2.0

// LoopTalk: bounded queue of messages from the loop of a run to the thread that attends to the
// program.
//
// The reader of a run may stand still: a stopped terminal, a pipe that is not read.
// The loop must not stand still with it, for revocation, `mcpac runs kill` and the end of the run
// go through there. So it leaves here what it has to say, and never waits. A program can say more
// than the reader takes: a bounded number of its lines wait, and the rest is counted and dropped.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

#include "core/file.h"
#include "run/check/listener.h"

namespace mcpac::run {

class LoopTalk {
 public:
  // `listener` is borrowed; it is only ever called by pass_on() and pass_on_rest().
  explicit LoopTalk(const Listener& listener);
  LoopTalk(const LoopTalk&) = delete;
  LoopTalk& operator=(const LoopTalk&) = delete;

  // A line of the program. `level` is one of MCP's eight names, which live for ever.
  void log(std::string_view level, std::string_view text);
  // Of ours: none is lost.
  void warn(std::string_view text);

  // As attend() wants it (stage.h).
  [[nodiscard]] toolchain::ChildIo::Beside beside();
  // When all is over that must not wait for a reader: everything that is left, and how much was
  // lost. It gives up at `until`, or when `stop` is readable.
  void pass_on_rest(StopSignal stop, std::chrono::steady_clock::time_point until);

 private:
  struct Said {
    std::string_view level;  // empty: a warning
    std::string text;
  };
  void add(Said said);
  [[nodiscard]] bool pass_on();

  const Listener& listener_;
  std::mutex mutex_;  // never held while a listener is called
  UniqueFd event_;    // readable while there is something
  std::deque<Said> waiting_;
  std::size_t bytes_ = 0;  // of the program's
  std::size_t lost_ = 0;   // lines of the program
};

}  // namespace mcpac::run
