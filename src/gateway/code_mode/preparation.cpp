// SPDX-License-Identifier: Apache-2.0

#include "gateway/code_mode/preparation.h"

#include <signal.h>

#include <exception>
#include <system_error>
#include <utility>

#include "toolchain/prepare_runtime.h"

namespace mcpac::gateway::code_mode {

Result<std::unique_ptr<Preparation>> Preparation::start(project::Folders folders,
                                                        const run::RunLimits& limits, Say say) {
  auto kill = run::KillSwitch::beside({});
  if (!kill) return pass_on(kill);
  std::unique_ptr<Preparation> made(new Preparation(std::move(*kill)));
  try {
    made->thread_ = std::thread([folders = std::move(folders), tier = limits.lowest_tier,
                                 kill = &made->kill_, say = std::move(say)] {
      // Signals are for the threads that wait for them.
      sigset_t all;
      ::sigfillset(&all);
      ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
      try {
        const auto done = toolchain::prepare_runtime(folders, tier, kill->stop(),
                                                     [&](const char* what) { say(what); });
        if (!done && !kill->was_pulled()) say(done.error().to_text());
      } catch (const std::exception& error) {
        say(error.what());
      }
    });
  } catch (const std::system_error& error) {
    return fail(ErrorId::kInternal, error.what());
  }
  return made;
}

Preparation::~Preparation() {
  kill_.pull();
  if (thread_.joinable()) thread_.join();
}

}  // namespace mcpac::gateway::code_mode
