// A tool of the pipeline where no root can be made for it (tier B): it works at the host's paths.
//
// Its mounts have other names inside, and clang compares paths. So clang and the analyzer get an
// overlay of their file system (analyzer/overlay.h), and a linker the host's paths.
#pragma once

#include <memory>

#include "core/error.h"
#include "core/file.h"
#include "sandbox/sandbox.h"

namespace mcpac::toolchain {

struct WithoutRoot {
  sandbox::Spec spec;
  std::shared_ptr<const TemporaryFolder> overlay;  // to be kept while it runs; may be null
};

// The same process with each mount at its own path. A spec whose mounts have their own paths
// already is as it was.
[[nodiscard]] Result<WithoutRoot> without_root(sandbox::Spec spec);

}  // namespace mcpac::toolchain
