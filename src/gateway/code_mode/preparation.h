// SPDX-License-Identifier: Apache-2.0

// Preparation: files that the first program on a machine needs, made before a client waits for it.
//
// Precompiling the runtime takes seconds, much longer on a busy machine, and the first analyse or
// execute would have to wait for it. A thread of its own does it from the start of the gateway on;
// a program that comes meanwhile waits for the rest of it, and nothing else does. Ends, with its
// processes, when this object goes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "core/error.h"
#include "project/project.h"
#include "run/kill_switch.h"
#include "run/run_limits.h"

namespace mcpac::gateway::code_mode {

class Preparation {
 public:
  // Hears why it takes time, and why it failed; from the thread.
  using Say = std::function<void(const std::string&)>;
  [[nodiscard]] static Result<std::unique_ptr<Preparation>> start(project::Folders folders,
                                                                  const run::RunLimits& limits,
                                                                  Say say);
  ~Preparation();
  Preparation(const Preparation&) = delete;
  Preparation& operator=(const Preparation&) = delete;

 private:
  explicit Preparation(run::KillSwitch kill) : kill_(std::move(kill)) {}

  run::KillSwitch kill_;
  std::thread thread_;
};

}  // namespace mcpac::gateway::code_mode
