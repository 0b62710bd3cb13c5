#include "sandbox/step.h"

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

}  // namespace mcpac::sandbox
