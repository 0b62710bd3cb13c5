// SPDX-License-Identifier: Apache-2.0

// The system-call filter: the layer that carries the most.
//
// An allow-list of three classes: what a program needs is allowed, what a C or C++ library merely
// tries is answered with an error, and everything else ends the process. Other architectures and
// the x32 numbers end it as well.
#pragma once

#include <linux/filter.h>
#include <sys/types.h>

#include <span>
#include <vector>

#include "core/error.h"
#include "sandbox/seccomp_rules.h"

namespace mcpac::sandbox {

// Compiled once a key: libseccomp takes milliseconds, a sandbox one.
[[nodiscard]] Result<std::vector<sock_filter>> compile_filter(const FilterKey& key);

// A program may signal itself only; its number is known when it exists.
void set_own_process(std::span<sock_filter> filter, pid_t process);

// In the child, after everything else. 0 or errno.
[[nodiscard]] int install_filter(std::span<sock_filter> filter);

}  // namespace mcpac::sandbox
