// SPDX-License-Identifier: Apache-2.0

// ImageStart: hand-over of the image to a runner in its sandbox (docs/adr/0024): one message on the
// program's channel, before anything else, with the image's bytes as a descriptor.
#pragma once

#include <elf.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"

namespace mcpac::run {

// Segments and entry point for a runner: an Image's (image_file.h).
struct ImagePlan {
  std::uint64_t entry = 0;
  std::span<const Elf64_Phdr> segments;  // at most kMostImageSegments
};

// `channel` is our end; nothing has been written to it. `memory` has the segments' bytes, sealed
// (image_memory.h), and stays the caller's. The runner may start before or after. At most 64
// arguments of 4,096 bytes together; kInternal beyond that.
[[nodiscard]] Result<void> send_image(int channel, int memory, const ImagePlan& plan,
                                      const std::vector<std::string>& arguments);

}  // namespace mcpac::run
