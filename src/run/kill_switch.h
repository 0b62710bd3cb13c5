// SPDX-License-Identifier: Apache-2.0

// KillSwitch: ends a run from its loop, beside the signals that end it from outside.
#pragma once

#include "core/error.h"
#include "core/file.h"
#include "toolchain/child/stage.h"

namespace mcpac::run {

class KillSwitch {
 public:
  // Stops what `outer` stops, too.
  [[nodiscard]] static Result<KillSwitch> beside(StopSignal outer);
  [[nodiscard]] StopSignal stop() const { return {either_.get()}; }
  // From any thread.
  void pull() const;
  [[nodiscard]] bool was_pulled() const;

 private:
  KillSwitch() = default;
  UniqueFd event_;
  UniqueFd either_;
};

}  // namespace mcpac::run
