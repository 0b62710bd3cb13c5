// The scene of the fault tests: a project with two servers that write down what reaches them, the
// programs that are run in it, and what may be left in its folders.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "e2e/workspace.h"

namespace faults {

enum class Way : std::uint8_t {
  kUnseen,    // a source of its own: analysed and compiled
  kSeen,      // the same source as before
  kCalling,   // calls that never end are in flight, one to a server that does not end by itself
  kPrebuilt,  // mcpac run
};
[[nodiscard]] std::string_view to_string(Way way);

class Scene {
 public:
  Scene();

  // Starts mcpac in a process group of its own; what it says goes to a file.
  [[nodiscard]] pid_t start(Way way);
  // What the last one said, for a report.
  [[nodiscard]] std::string said() const;
  // To its end: the short program, never seen or seen before.
  [[nodiscard]] e2e::Outcome run_short(Way way);
  [[nodiscard]] e2e::Outcome mcpac(const std::vector<std::string>& words) const;

  // Ids of the runs that have a log, sorted.
  [[nodiscard]] std::vector<std::string> runs() const;
  // How many calls reached the servers since forget_calls().
  [[nodiscard]] std::size_t calls_that_arrived() const;
  void forget_calls() const;
  [[nodiscard]] std::filesystem::path audit() const { return workspace_.state() / "audit"; }

  // Names of what should not be there when no run lives and the last one ended well.
  [[nodiscard]] std::vector<std::string> left_behind() const;
  // Programs of the cache that are not whole.
  [[nodiscard]] std::vector<std::string> broken_programs() const;

  // Prepares what costs time once: headers, the prebuilt program.
  void prepare();

 private:
  [[nodiscard]] std::vector<std::string> words_of(Way way);
  [[nodiscard]] std::filesystem::path calls_file() const;

  e2e::Workspace workspace_;
  std::vector<std::string> project_entries_;
  int salt_ = 0;
};

}  // namespace faults
