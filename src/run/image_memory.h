// SPDX-License-Identifier: Apache-2.0

// ImageMemory: the memory in which a runner is given its image (docs/adr/0024): a descriptor whose
// bytes cannot change any more once it leaves us.
#pragma once

#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/file.h"

namespace mcpac::run {

class ImageMemory {
 public:
  // Empty. kInternal where the machine has no memory or no descriptor for it.
  [[nodiscard]] static Result<ImageMemory> make();

  // Takes from the kernel what an image of a usual size needs, before there is one: else the
  // program waits for it. Costs 256 KiB of memory, and a tenth of a millisecond once; where it
  // fails, the image takes what it needs.
  void make_ready();

  // With `bytes` at its beginning, sealed: it can be mapped and executed, and not be written. Up to
  // the end of its last page, or of what was made ready, there are zeros. kInternal as above.
  [[nodiscard]] Result<UniqueFd> sealed_with(std::string_view bytes) &&;

 private:
  explicit ImageMemory(UniqueFd memory) : memory_(std::move(memory)) {}
  UniqueFd memory_;
};

}  // namespace mcpac::run
