// SPDX-License-Identifier: Apache-2.0

// Step: current layer in the building of a sandbox, so that a failure can name it.
//
// The child that is being confined has no way to print: it writes one Failure into a socket
// that closes by itself when the program starts. No failure there means that every layer stands.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mcpac::sandbox {

enum class Layer : std::uint8_t {
  kNone,
  kRequest,     // the spec itself is wrong
  kProcess,     // clone, session, parent-death signal
  kNamespaces,  // user, mount, net, pid, ipc, uts, cgroup, and the id maps
  kRoot,        // mounts and pivot_root
  kDescriptors,
  kLimits,
  kIdentity,  // ids, capabilities, no_new_privs
  kLandlock,
  kSeccomp,
  kProgram,  // execveat
};

struct Failure {
  Layer layer = Layer::kNone;
  std::uint16_t item = kNoItem;  // which mount of the spec
  int error = 0;                 // errno

  static constexpr std::uint16_t kNoItem = 0xffff;
};

[[nodiscard]] std::string_view to_string(Layer layer);
// The errno in words: "EPERM (Operation not permitted)". Of namespaces ENOSPC is a limit of the
// system (namespaces(7)), and no disk is full.
[[nodiscard]] std::string error_text(const Failure& failure);

}  // namespace mcpac::sandbox
