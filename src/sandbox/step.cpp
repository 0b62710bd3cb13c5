// SPDX-License-Identifier: Apache-2.0

#include "sandbox/step.h"

#include <cerrno>
#include <cstring>

namespace mcpac::sandbox {

std::string_view to_string(Layer layer) {
  switch (layer) {
    case Layer::kNone: return "none";
    case Layer::kRequest: return "request";
    case Layer::kProcess: return "process";
    case Layer::kNamespaces: return "namespaces";
    case Layer::kRoot: return "root";
    case Layer::kDescriptors: return "descriptors";
    case Layer::kLimits: return "limits";
    case Layer::kIdentity: return "identity";
    case Layer::kLandlock: return "landlock";
    case Layer::kSeccomp: return "seccomp";
    case Layer::kProgram: return "program";
  }
  return "unknown";
}

std::string error_text(const Failure& failure) {
  const char* const known = ::strerrorname_np(failure.error);
  const std::string name = known != nullptr ? known : "error";
  if (failure.layer == Layer::kNamespaces && failure.error == ENOSPC)
    return name + " (the system's limit of namespaces, user.max_user_namespaces or its like)";
  return name + " (" + std::strerror(failure.error) + ")";
}

}  // namespace mcpac::sandbox
