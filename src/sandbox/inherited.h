// SPDX-License-Identifier: Apache-2.0

// Inherited: state that a process has from its parent, and a sandboxed program must not have.
//
// Done once by the warden for itself, as its children have it from the warden; what each child
// needs anew (signals, session, umask, parent-death signal, descriptors, limits) is in confine.cpp.
// Niceness and the processors of the caller are kept: they are how a user holds a run back.
#pragma once

namespace mcpac::sandbox {

// No keys of the caller's session, no odd personality, no priority above an ordinary one, no
// timers.
void shed_inherited_state();

}  // namespace mcpac::sandbox
