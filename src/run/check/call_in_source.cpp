// SPDX-License-Identifier: Apache-2.0

#include "run/check/call_in_source.h"

namespace mcpac::run {

policy::CallInSource call_in_source(const analyzer::Use& use) {
  policy::CallInSource call{.known = Json::object(), .unknown = {}, .open = use.open};
  for (const auto& [name, argument] : use.arguments) {
    if (argument.is_constant) {
      call.known[name] = argument.value;
    } else {
      call.unknown.insert(name);
    }
  }
  return call;
}

}  // namespace mcpac::run
