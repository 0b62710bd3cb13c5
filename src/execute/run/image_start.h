// ImageStart: how a runner in its sandbox is told which image it runs (docs/adr/0024): one message
// on the program's channel, before anything else, with the image as a descriptor.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"

namespace mcpac::execute {

// `channel` is our end; nothing has been written to it. `image` is sealed (image_file.h) and stays
// the caller's. The runner may start before or after. At most 64 arguments of 4,096 bytes together;
// kInternal beyond that.
[[nodiscard]] Result<void> send_image(int channel, int image,
                                      const std::vector<std::string>& arguments);

}  // namespace mcpac::execute
