// SPDX-License-Identifier: Apache-2.0

#include "ipc/aside.h"

#include <pthread.h>
#include <signal.h>

#include <system_error>
#include <thread>

namespace mcpac::ipc::detail {

bool start_thread(std::function<void()> body) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  bool started = true;
  try {
    std::thread(std::move(body)).detach();
  } catch (const std::system_error&) {
    started = false;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace mcpac::ipc::detail
