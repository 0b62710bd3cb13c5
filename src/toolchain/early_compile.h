// EarlyCompile: a program, compiled and linked while it is still being analysed.
//
// Most of both is clang reading the same text, and neither waits for the other. So the compiler
// starts with the entry that the text seems to have; what it made counts only where the analysis
// finds this very entry. Nothing of it is looked at, kept or run before everything was checked, and
// a program that is refused takes its compiler with it.
#pragma once

#include <future>
#include <optional>

#include "core/file.h"
#include "toolchain/compile.h"

namespace mcpac::toolchain {

class EarlyCompile {
 public:
  // Begins at once, on a thread of its own. All of `place` outlives this. `waiting`: tools that
  // were started before, used where they fit.
  EarlyCompile(const BuildPlace& place, EntryPlace entry, std::optional<WaitingBuild> waiting);
  EarlyCompile(const EarlyCompile&) = delete;
  EarlyCompile& operator=(const EarlyCompile&) = delete;
  ~EarlyCompile();  // ends the compiler, where its result was not taken
  [[nodiscard]] EntryPlace entry() const { return entry_; }
  // Waits for what was built, or for what went wrong. Once.
  [[nodiscard]] Result<Built> take();

 private:
  EntryPlace entry_;
  UniqueFd cancel_;  // readable: the program is not wanted any more
  UniqueFd stop_;    // readable: that, or what `place` names
  std::future<Result<Built>> built_;
};

}  // namespace mcpac::toolchain
