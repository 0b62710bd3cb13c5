#include "gateway/code_mode/preparation.h"

#include <signal.h>

#include <exception>
#include <system_error>
#include <utility>

#include "codegen/generate.h"
#include "execute/build/prepare.h"
#include "execute/child/stage.h"

namespace mcpac::gateway::code_mode {
namespace {

// For a program that names no server: the runtime is the same for all.
Result<void> prepare_runtime(execute::Project project, const execute::Folders& folders,
                             sandbox::Tier lowest_tier, execute::StopSignal stop,
                             const Preparation::Say& say) {
  auto made = codegen::regenerate({});
  if (!made) return pass_on(made);
  auto kept = std::make_shared<execute::KeptProject>();
  kept->headers = std::move(made->files);
  project.kept = std::move(kept);
  auto warden = sandbox::Warden::start(folders.warden());
  if (!warden) return pass_on(warden);
  auto prepared = execute::prepare(project, made->lock, {}, {folders, *warden, lowest_tier, stop},
                                   [&](const char* what) { say(what); });
  if (!prepared) return pass_on(prepared);
  return {};
}

}  // namespace

Result<std::unique_ptr<Preparation>> Preparation::start(execute::Project project,
                                                        execute::Folders folders,
                                                        sandbox::Tier lowest_tier, Say say) {
  auto kill = execute::KillSwitch::beside({});
  if (!kill) return pass_on(kill);
  std::unique_ptr<Preparation> made(new Preparation(std::move(*kill)));
  try {
    made->thread_ = std::thread([project = std::move(project), folders = std::move(folders),
                                 lowest_tier, kill = &made->kill_, say = std::move(say)] {
      // Signals are for the threads that wait for them.
      sigset_t all;
      ::sigfillset(&all);
      ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
      try {
        const auto done = prepare_runtime(project, folders, lowest_tier, kill->stop(), say);
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
