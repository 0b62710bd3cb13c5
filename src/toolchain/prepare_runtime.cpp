// SPDX-License-Identifier: Apache-2.0

#include "toolchain/prepare_runtime.h"

#include <memory>
#include <utility>

#include "codegen/generate.h"
#include "project/project.h"
#include "toolchain/prepare.h"

namespace mcpac::toolchain {
namespace {

// A project without servers: the runtime is the same for all.
struct Empty {
  codegen::Lock lock;
  project::Project project;
};
Result<Empty> empty_project() {
  auto made = codegen::regenerate({});
  if (!made) return pass_on(made);
  auto kept = std::make_shared<project::KeptProject>();
  kept->headers = std::move(made->files);
  Empty empty;
  empty.lock = std::move(made->lock);
  empty.project.kept = std::move(kept);
  return empty;
}

}  // namespace

Result<void> prepare_runtime(const project::Folders& folders, sandbox::Tier lowest_tier,
                             StopSignal stop, const std::function<void(const char*)>& on_build) {
  auto empty = empty_project();
  if (!empty) return pass_on(empty);
  auto warden = sandbox::Warden::start(folders.warden());
  if (!warden) return pass_on(warden);
  auto prepared =
      prepare(empty->project, empty->lock, {}, {folders, *warden, lowest_tier, stop}, on_build);
  if (!prepared) return pass_on(prepared);
  return {};
}

bool is_runtime_prepared(const project::Folders& folders) {
  const auto empty = empty_project();
  return empty && find_prepared(empty->project, empty->lock, {}, folders);
}

}  // namespace mcpac::toolchain
