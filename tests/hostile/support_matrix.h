// Matrix: every hostile case, as root and as an ordinary user, in the tiers A, B and C, and once
// without any sandbox: a case that fails there too would prove nothing.
//
// The tiers B and C are made by a filter around the warden (support_sandbox.h, lack()). Where that
// one refuses a call with EPERM, the program sees this and not the violation: the kernel takes the
// earlier answer of two.
//
// After every case nothing may be left: no process, no mount, nothing changed in the victim's
// folder.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sandbox/sandbox.h"

namespace mcpac::hostile {

// Where a case works without a sandbox.
enum class Control {
  kWorks,  // here
  kApart,  // as root of namespaces of its own, where it harms nobody
  kNone,   // nowhere on this machine, or it would harm it; `why` says which
};

struct Row {
  std::string name;    // as in cases/*.c
  std::string inside;  // "EACCES", "violated ptrace", "works", "signal 11", "timed out", …
  Control control = Control::kWorks;
  std::string why{};
  std::string below{};          // in tiers B and C, where it ends otherwise
  std::string of_user_below{};  // there, for an ordinary user, where that differs again
  std::string in_c{};           // in tier C, where that differs again
};

// Changes the spec of every row; the victim's folder is the argument.
using Change = std::function<void(sandbox::Spec&, const std::filesystem::path& folder)>;

// What every row is granted of the victim's place.
// kGuarded: writing, but for .git, .envrc and mcpac.json.
enum class Granted { kNothing, kReading, kWriting, kGuarded, kChanges };

enum class Input { kNothing, kTerminal };

// Checks all rows in all six places, and the controls.
void check(const std::vector<Row>& rows, Input input = Input::kNothing, const Change& change = {});
void check_granted(const std::vector<Row>& rows, Granted granted);

// How one run ended, in the words of Row::inside.
[[nodiscard]] std::string ending(const Result<sandbox::Verdict>& verdict, std::string output);

[[nodiscard]] std::filesystem::path cases_program();
// Processes, as "17 (name) 18 (other) ".
struct Below {
  std::string parent;  // what it started or inherited, without `child`
  std::string child;
};
[[nodiscard]] Below processes_below(pid_t parent, pid_t child = 0);

}  // namespace mcpac::hostile
