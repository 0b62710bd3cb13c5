// SPDX-License-Identifier: Apache-2.0

// Handshake: the last word between a client and its worker, on a socket of their own.
//
// The client sends one end of it with its request. On it the worker says "ready": it has become
// what the client is, and nothing has happened. The client answers "go", with its standard
// descriptors. Until it sends that, it may close its end at any time and do the work itself, and
// the worker ends; once it was sent, the client never does the work itself. So whichever process
// dies when, a program is never run twice. The host takes no part: it can neither lose the word nor
// make it up, and never holds a descriptor whose file could make it wait.
//
// Before "ready" the worker compares the client's standing with its own, and the number in "ready"
// has to come back from that very process: one that was confined when it asked, and stands freely
// by the time it is looked at because it has become another program, knows of no number.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "core/file.h"
#include "resident/standing.h"

namespace mcpac::resident {

using StandardDescriptors = std::array<UniqueFd, 3>;

// The worker's half. `client`: the process that the host held when it passed the request on.
// Nothing: it gave up, stands otherwise, or `signals` became readable.
[[nodiscard]] std::optional<StandardDescriptors> wait_for_go(int channel, pid_t client,
                                                             int signals);

// The client's half. The number in "ready", once `channel` is readable; nothing: the worker gave
// up.
[[nodiscard]] std::optional<std::string> hear_ready(int channel);
// False: the worker has ended, and never began.
[[nodiscard]] bool say_go(int channel, const std::string& number);

}  // namespace mcpac::resident
