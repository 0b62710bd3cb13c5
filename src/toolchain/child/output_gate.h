// SPDX-License-Identifier: Apache-2.0

// OutputGate: gate that a program's output passes. It is closed while a person reads a question on
// a terminal that the output may end at, too: a program could else paint over the question, or ask
// one of its own beside it.
//
// What a closed gate holds back stays with the program, in its pipe. Closing and opening is done on
// the loop, passing through on the thread that attends to the program.
#pragma once

#include <condition_variable>
#include <mutex>

#include "core/file.h"

namespace mcpac::toolchain {

class OutputGate {
 public:
  OutputGate();
  OutputGate(const OutputGate&) = delete;
  OutputGate& operator=(const OutputGate&) = delete;

  // Waits for the writer inside, a second at most: then the reader has stopped the terminal that
  // both write to, and close() must not stand still with it (the clock of the run and the signals
  // that end it are looked at elsewhere, but what is said to the loop is not).
  void close();
  void open();
  [[nodiscard]] bool is_open() const;
  // Readable while it is open.
  [[nodiscard]] int descriptor() const { return event_.get(); }
  // False: it is closed. True: it is not closed before leave().
  [[nodiscard]] bool enter();
  void leave();

 private:
  mutable std::mutex mutex_;  // never held while anything is written
  std::condition_variable left_;
  UniqueFd event_;
  bool is_open_ = true;
  bool is_inside_ = false;
};

}  // namespace mcpac::toolchain
