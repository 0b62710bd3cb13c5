// SPDX-License-Identifier: Apache-2.0

// The warden's loop: requests from the host, ends of children. One thread, no secrets.
#pragma once

namespace mcpac::sandbox {

// Arguments of a warden.
inline constexpr const char* kWordWhenAsked = "when-asked";
inline constexpr const char* kWordForServers = "for-servers";
inline constexpr const char* kWordGivesBack = "gives-back";

// Whether the host has moved to make room for its children's control groups (cgroup_adopt.h): its
// warden gives back what it cannot when it is killed.
enum class HostGroup : unsigned char { kAsFound, kMoved };

// Preparation before the first request: what the machine gives, or for programs that serve (Serves)
// their filter and id map, and the machine is presumed to give tier A.
enum class Purpose : unsigned char { kAny, kServers };

// Serves the host at the other end of `socket` until it goes away; then kills every child and
// returns.
int serve(int socket, HostGroup group, Purpose purpose);

}  // namespace mcpac::sandbox
