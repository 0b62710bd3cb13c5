// SPDX-License-Identifier: Apache-2.0

// ApprovalStore: the answers that outlive their run, in one file of the account's state folder
// (Folders::approvals), wherever the environment says that state lies.
//
// The file is private (0600), of one owner, and written whole beside itself. What is not so, cannot
// be read, or does not carry its own digest is left out with a warning: a lost answer is asked
// again, a forged one must not be taken. That guards against other users, faults and careless
// edits; a process with the user's rights could also grant (docs/threat-model.md).
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "gate/approver.h"
#include "run/asking/run_approver.h"

namespace mcpac::run {

// One "until" or "never".
struct StoredAnswer {
  std::string id;  // SHA-256 of the rest
  gate::Binding binding;
  policy::AskRule rule;
  gate::Answered answer = gate::Answered::kNever;
  std::string until;  // RFC 3339; empty for never
  std::string who;
  std::string given;    // when
  std::string program;  // for people
};
[[nodiscard]] Json to_json(const StoredAnswer& answer);

// A program's declaration when it was last approved. Grants nothing: it shows what is new.
struct ApprovedProgram {
  std::string project;
  std::string program;
  std::string when;
  std::vector<std::string> declared;
  std::string digest{};  // Binding::program of what was approved; empty: an older mcpac noted it
};

struct Approvals {
  std::vector<StoredAnswer> answers;
  std::vector<ApprovedProgram> programs;
};

class ApprovalStore {
 public:
  using Warn = std::function<void(std::string_view)>;
  // An empty file: there is nowhere to keep them.
  ApprovalStore(std::filesystem::path file, Warn warn, const Clock& clock);
  // Without what is over, damaged or forged.
  [[nodiscard]] Approvals read() const;
  // Reads, changes and writes while no other mcpac does.
  [[nodiscard]] Result<void> change(const std::function<void(Approvals&)>& edit) const;
  [[nodiscard]] const Clock& clock() const { return clock_; }
  void warn(std::string_view text) const { warn_(text); }

 private:
  std::filesystem::path file_;
  Warn warn_;
  const Clock& clock_;
};

// The answers of one binding, for one run.
class RunMemory final : public gate::ApprovalMemory {
 public:
  RunMemory(const ApprovalStore& store, gate::Binding binding, std::string program);
  [[nodiscard]] std::optional<gate::Reply> find(const policy::AskRule& rule) override;
  [[nodiscard]] Result<void> keep(const std::vector<policy::AskRule>& rules,
                                  const gate::Reply& reply) override;

 private:
  const ApprovalStore& store_;
  gate::Binding binding_;
  std::string program_;
  Approvals known_;
};

}  // namespace mcpac::run
