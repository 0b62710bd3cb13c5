// SPDX-License-Identifier: Apache-2.0

// build_headers: mcpac.lock in, the headers of one build out (mcpac_generate in CMake).
//
// No server is started and no project is needed: the lock holds every approved definition whole,
// and a build is the same on every machine. The runtime headers come with the target
// mcpac::runtime and are left out, so that all parts of one program see the same ones.
#pragma once

#include <filesystem>

#include "core/error.h"
#include "project/header_files.h"

namespace mcpac::toolchain {

[[nodiscard]] Result<project::HeaderChanges> write_build_headers(
    const std::filesystem::path& lock_file, const std::filesystem::path& folder);

}  // namespace mcpac::toolchain
