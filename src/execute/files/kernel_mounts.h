// KernelMounts: file systems that are no files but the kernel's own inside (proc, sys, devices),
// wherever they are mounted.
#pragma once

#include <filesystem>
#include <string>

#include "core/error.h"

namespace mcpac::execute {

// The place of one in or at `path`, which `place` is a descriptor of; empty: there is none.
[[nodiscard]] Result<std::string> kernel_mount_in(int place, const std::filesystem::path& path);

}  // namespace mcpac::execute
