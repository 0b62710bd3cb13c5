// SPDX-License-Identifier: Apache-2.0

// Parts of a Child, handed over by Warden::spawn; not for others.
#pragma once

#include <atomic>

#include "sandbox/sandbox.h"

namespace mcpac::sandbox {

struct Child::Impl {
  Tier tier = Tier::kA;
  bool ends_by_request = false;  // process.h
  UniqueFd process;              // pidfd: a number could be another's by now
  UniqueFd report;               // the warden's EndReport, then its end
  std::chrono::steady_clock::time_point start;
  Limits limits;
  std::atomic<int> killed_for = -1;  // Verdict::Kind; the first reason counts
  bool waited = false;
};

}  // namespace mcpac::sandbox
