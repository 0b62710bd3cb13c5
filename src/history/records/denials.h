// SPDX-License-Identifier: Apache-2.0

// Denials: denied calls of a run, for the user whose rules denied them.
//
// The program hears the reason and what it declared itself; the rule that came nearest and the
// grant that would admit the call are told here, after the run. Each kind once: a loop of calls is
// one thing to mend.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json.h"
#include "gate/record.h"

namespace mcpac::history {

struct Denial {
  std::string permission;
  std::string reason;
  std::string rule;            // that decided or came nearest; may be empty
  std::string layer;           // whose rule that is
  std::string place = {};      // where it stands: "mcpac.policy:12"
  std::string taken_for = {};  // policy::taken_for
  std::size_t other_rules = 0;
  // The least that would admit the first of these calls (policy/explain/would_grant.h), or why
  // there is none.
  std::string would_grant;
  std::string no_grant = {};
  std::uint64_t calls = 1;
  bool asked = false;  // it needed an answer
  gate::Check::SaidNo said_no = gate::Check::SaidNo::kNot;
  bool used_up = false;  // the rule would admit it, had it not reached a limit
  bool ended = false;    // with used_up: its `until` is over, which no other run changes
};

[[nodiscard]] Denial to_denial(const gate::Check& check);

class Denials {
 public:
  void add(const gate::Check& check);
  [[nodiscard]] const std::vector<Denial>& list() const { return list_; }
  // Calls of further kinds: a program may invent as many as it likes.
  [[nodiscard]] std::uint64_t others() const { return others_; }

 private:
  std::vector<Denial> list_;
  std::uint64_t others_ = 0;
};

[[nodiscard]] Json to_json(const Denial& denial);
// A grant that would admit it, or why none is printed; empty where nothing is known.
[[nodiscard]] std::string fix_of(const Denial& denial);
// Lines: what was denied and why, what its path was taken for, and what would admit it.
[[nodiscard]] std::string to_human_text(const Denial& denial);

}  // namespace mcpac::history
