// SPDX-License-Identifier: Apache-2.0

// Prepare: from a spec and what the machine gives to a plan, or to the reason why not.
#pragma once

#include <expected>
#include <map>

#include "sandbox/machine.h"
#include "sandbox/plan.h"
#include "sandbox/protocol.h"
#include "sandbox/seccomp_rules.h"

namespace mcpac::sandbox {

// State of the warden between children.
struct Stock {
  Machine machine;
  std::map<FilterKey, std::vector<sock_filter>> filters;  // compiled at first use
};

// The descriptors of a request, in the order of the protocol; -1 where none came.
struct Given {
  int program = -1;
  int standard_input = -1;
  int standard_output = -1;
  int standard_error = -1;
  int channel = -1;
  int observer = -1;
};

// Compiles what each of them takes anew: their filter, for a machine with namespaces.
void prepare_filter_of_servers(Stock& stock);

// `own_id` is an unused id; the plan borrows the strings of `spec` and the descriptors of `given`.
[[nodiscard]] std::expected<Plan, Refused> prepare(Stock& stock, Spec& spec, const Given& given,
                                                   uid_t own_id);

}  // namespace mcpac::sandbox
