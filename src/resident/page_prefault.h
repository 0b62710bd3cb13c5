// Touches the program beforehand: its code and constants, and those of its libraries, are in the
// page tables of this process afterwards.
//
// Else a worker does that page by page while a client waits: half a millisecond of the six until
// the first call of a program that was seen.
#pragma once

namespace mcpac::resident {

// Changes no byte. Does nothing on kernels before 5.14, and where memory is short.
void touch_program();

}  // namespace mcpac::resident
