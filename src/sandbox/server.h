// The warden's loop: requests from the host, ends of children. One thread, no secrets.
#pragma once

namespace mcpac::sandbox {

// What a warden is told by its arguments.
inline constexpr const char* kWordWhenAsked = "when-asked";
inline constexpr const char* kWordGivesBack = "gives-back";

// Whether the host has moved to make room for its children's control groups (cgroup_adopt.h): its
// warden gives back what it cannot when it is killed.
enum class HostGroup : unsigned char { kAsFound, kMoved };

// Serves the host at the other end of `socket` until it goes away; then kills every child and
// returns.
int serve(int socket, HostGroup group);

}  // namespace mcpac::sandbox
