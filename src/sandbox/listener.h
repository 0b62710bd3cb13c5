// SPDX-License-Identifier: Apache-2.0

// Listener: the warden's end of a child's system-call filter.
//
// A call that is not admitted stops its thread until a listener answers. Ours never answers: it
// reads what the call was and the child is killed, so no such call is ever made and none ever
// returns. The listener is closed only after the kill, as closing it would let the call fail and
// the program go on. Where none can be had, the filter kills by itself and the call stays unnamed.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstdint>
#include <optional>
#include <span>

#include "sandbox/end_report.h"

namespace mcpac::sandbox {

// In the child: installs the filter and hands its listener over through the socket `report`. 0 or
// errno.
[[nodiscard]] int install_listened_filter(std::span<sock_filter> filter, int report);

// In the warden, when the listener is readable: what was called. A call that another thread has
// interrupted in the meantime is a violation all the same, without a number.
[[nodiscard]] Violation receive_violation(int listener);

// The same of a call that a guard received (name_guard.h).
[[nodiscard]] Violation read_violation(int listener, const seccomp_notif& notification);

// Whether the thread still stands in that call: otherwise its number may be another thread's.
[[nodiscard]] bool still_there(int listener, std::uint64_t id);
// Whether no thread is left that could call anything: then a wait for calls ends, too.
[[nodiscard]] bool has_hung_up(int listener);

// A call that was interrupted before the warden could see that the listener was readable: the
// kernel still counts it, and tells only who is ready to wait for one. So this waits a tenth of a
// millisecond; nothing where no call was missed.
[[nodiscard]] std::optional<Violation> missed_violation(int listener);

}  // namespace mcpac::sandbox
