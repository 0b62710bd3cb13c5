// SPDX-License-Identifier: Apache-2.0

#include "project/implied.h"

namespace mcpac::project {

const codegen::Output* implied_output(const Project& project) {
  if (!project.config.servers.empty() || !is_absent(project.lock_file())) return nullptr;
  static const Result<codegen::Output> kOutput = codegen::regenerate(codegen::Lock{});
  return kOutput ? &*kOutput : nullptr;
}

}  // namespace mcpac::project
