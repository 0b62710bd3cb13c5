// SPDX-License-Identifier: Apache-2.0

#include "toolchain/waiting_build.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "toolchain/child/scratch_file.h"
#include "toolchain/child/waiting_pipe.h"
#include "toolchain/lead.h"
#include "toolchain/toolchain.h"

namespace mcpac::toolchain {

namespace {

std::filesystem::path first_input(const BuildFolder& folder) {
  return folder.addresses() / std::filesystem::path(inside::kFirstInput).filename();
}

}  // namespace

Result<void> write_first_input(const BuildFolder& folder) {
  std::error_code error;  // the write says what is wrong
  std::filesystem::remove(first_input(folder), error);
  return write_scratch(first_input(folder), kFirstInput, 0444);
}

Result<WaitingBuild> WaitingBuild::start(const BuildTools& tools, sandbox::Warden& warden) {
  auto folder = BuildFolder::make(tools.folders.temporary);
  if (!folder) return pass_on(folder);
  auto lead = folder->new_lead("waiting");
  if (!lead) return pass_on(lead);
  if (auto written = write_waiting_lead(*lead, tools.prepared.folder); !written)
    return pass_on(written);
  if (auto made = make_waiting_pipe(first_input(*folder)); !made) return pass_on(made);
  auto compiler =
      WaitingTool::start(warden, tools.compiler(*folder, *lead, 0), pipe_of_lead(*lead));
  if (!compiler) return pass_on(compiler);
  auto linker = WaitingTool::start(warden, tools.image_linker(*folder, 1), first_input(*folder));
  if (!linker) return pass_on(linker);
  return WaitingBuild{std::move(*folder), std::move(*lead), std::move(*compiler),
                      std::move(*linker)};
}

bool WaitingBuild::fits(const BuildTools& tools, const Snapshot& snapshot) const {
  return snapshot.sources_inside().size() == 1 && compiler.fits(tools.compiler(folder, lead, 0)) &&
         linker.fits(tools.image_linker(folder, 1));
}

void WaitingBuild::let_go() {
  compiler.let_go();
  linker.let_go();
}

}  // namespace mcpac::toolchain
