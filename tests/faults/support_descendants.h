// The processes below one of ours, and what becomes of them when it is killed.
//
// Who calls adopt_orphans() becomes the parent of every descendant whose own parent dies, however
// deep and whatever session it moved to: nothing that a run started can get away unseen.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace faults {

struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  std::string name;     // of /proc/PID/comm
  std::string command;  // its words, separated by blanks; empty for one that is ending
};

void adopt_orphans();

// Those that live, of this process or another one; a dead one that nobody asked after is none.
[[nodiscard]] std::vector<Process> descendants_of(pid_t root);

// Waits until no descendant of this process is left, and returns what still lives when patience
// ends: a guard against waiting for ever, not a measure.
[[nodiscard]] std::vector<Process> wait_for_all_descendants();

}  // namespace faults
