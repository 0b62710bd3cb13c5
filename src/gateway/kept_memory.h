// SPDX-License-Identifier: Apache-2.0

// Memory of large results, kept for the next ones and returned when nothing is in work.
//
// A result of 10 MiB is held three or four times on its way: as what was received, as a value and
// as what is sent. Left to itself the allocator has each of these from the kernel and gives it
// back, and the kernel clears every page again, which took longer than all else that is done with
// it.
#pragma once

namespace mcpac::gateway {

// Of the whole process, from here on: 64 MiB at the end of each arena, and what is free between
// what is in use. mcpac_main.cpp keeps less, for commands that end soon.
void keep_memory_of_results();
// All of it that is free, at the end of the arena of the thread that calls and within all.
void give_back_memory();

}  // namespace mcpac::gateway
