// SPDX-License-Identifier: Apache-2.0

// OutputHold: holds back a program's output while a question stands on the same terminal
// (toolchain/child/output_gate.h). What goes into a pipe waits, too: it may end at the same
// terminal.
#pragma once

#include <cstdio>
#include <string_view>

#include "cli/talk.h"
#include "toolchain/child/output_gate.h"

namespace mcpac::cli {

class OutputHold {
 public:
  // On the thread that attends to the program, which asks gate() first.
  void write(std::FILE* to, std::string_view text);
  // What `talk` says next begins a line, where the program left one open. Once it has ended.
  void end_line(Talk& talk);

  // On the loop, which waits for no reader.
  void hold() { gate_.close(); }
  void release() { gate_.open(); }
  [[nodiscard]] toolchain::OutputGate* gate() { return &gate_; }

 private:
  toolchain::OutputGate gate_;
  bool out_is_open_ = false;  // its last character ended no line
  bool err_is_open_ = false;
};

}  // namespace mcpac::cli
