// SPDX-License-Identifier: Apache-2.0

// The question before a run: shown when rules of the run ask for something that the program
// declares, or when its user wants to see it.
#pragma once

#include <string>
#include <vector>

#include "analyzer/report.h"
#include "codegen/lock.h"
#include "gate/approver.h"
#include "history/records/run_record.h"
#include "policy/authority.h"
#include "run/asking/approval_store.h"
#include "run/asking/questions.h"
#include "run/check/strictness.h"
#include "servers/host.h"

namespace mcpac::run {

struct ReviewSubject {
  std::string program;  // as messages call it
  std::string project;  // its folder
  // Its declaration: text for people, and the permission.
  std::vector<std::pair<Permission, std::string>> declared;
  const policy::Authority* authority = nullptr;  // of the run, the declaration included; borrowed
  gate::Binding binding;
  // The calls in its source, where there is one; null for a program that was built elsewhere.
  const analyzer::Report* report = nullptr;
};

// An error where it may not run: no approver is there (kApprovalMissing), or the answer was no
// (kApprovalRefused). What was answered goes into `answers`. With kExpect: without an approver it
// may run, and what asks is denied.
[[nodiscard]] Result<void> require_review(const ReviewSubject& subject, ReviewWanted wanted,
                                          DeniedUses denied, RunApprover* approver,
                                          const ApprovalStore& store, servers::Host& host,
                                          const Interrupt& interrupt,
                                          history::EarlyAnswers& answers);

}  // namespace mcpac::run
