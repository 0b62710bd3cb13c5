// SPDX-License-Identifier: Apache-2.0

#include "toolchain/source_folder.h"

#include "toolchain/child/scratch_file.h"

namespace mcpac::toolchain {

Result<SourceFolder> SourceFolder::make(const std::filesystem::path& temporary) {
  auto folder = TemporaryFolder::create(temporary, "mcpac-source-");
  if (!folder) return pass_on(folder);
  SourceFolder made(std::move(*folder));
  for (const auto& part : {made.sources(), made.lead()}) {
    if (auto done = make_scratch_folder(part, 0755); !done) return pass_on(done);
  }
  return made;
}

}  // namespace mcpac::toolchain
