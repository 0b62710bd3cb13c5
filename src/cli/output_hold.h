// OutputHold: what a program prints, held back while a question stands on the same terminal.
//
// A program could else paint over a question, or ask one of its own beside it. What goes into a
// pipe is held, too: it may end at the same terminal. What waits is bounded by the run's
// --output-limit. Safe from several threads: the program's output comes on one, its log and the
// questions on another.
#pragma once

#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>

namespace mcpac::cli {

class OutputHold {
 public:
  void write(std::FILE* to, std::string_view text);
  void hold();
  void release();
  // What we say next on standard error begins a line, where the program left one open.
  void end_line();

 private:
  void put(std::FILE* to, std::string_view text);  // with the mutex held

  std::mutex mutex_;
  bool held_ = false;
  std::string out_;
  std::string err_;
  bool out_is_open_ = false;  // its last character ended no line
  bool err_is_open_ = false;
};

}  // namespace mcpac::cli
