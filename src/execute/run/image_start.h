// ImageStart: how a runner in its sandbox is told which image it runs (docs/adr/0024, 0045): a byte
// that says that there will be one, and one message with its bytes as a descriptor; before anything
// else on the program's channel. `channel` is our end of it.
#pragma once

#include <elf.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"

namespace mcpac::execute {

// The message comes within half a millisecond or so: a runner that waits is awake then. kInternal
// where the channel takes nothing.
[[nodiscard]] Result<void> announce_image(int channel);

// What a runner maps, and where it enters: an Image's (image_file.h).
struct ImagePlan {
  std::uint64_t entry = 0;
  std::span<const Elf64_Phdr> segments;  // at most kMostImageSegments
};

// After announce_image(). `memory` has the segments' bytes, sealed (image_memory.h), and stays the
// caller's. The runner may start before or after. At most 64 arguments of 4,096 bytes together;
// kInternal beyond that.
[[nodiscard]] Result<void> send_image(int channel, int memory, const ImagePlan& plan,
                                      const std::vector<std::string>& arguments);

}  // namespace mcpac::execute
