// SPDX-License-Identifier: Apache-2.0

// ThroughHost: `execute` and `run` as a resident host does them, where one is up
// (docs/resident.md).
#pragma once

#include <memory>

#include "cli/context.h"
#include "cli/run_options.h"
#include "resident/client.h"
#include "run/pipeline.h"

namespace mcpac::cli {

// Says to a resident host, where one is up, that this command starts servers of the project itself,
// for as long as the result lives. Blocks until those that wait there have ended: about a second
// where they do not hear.
[[nodiscard]] std::unique_ptr<resident::Visit> announce_alone(const Context& context);

class ThroughHost {
 public:
  // Has a worker do the whole command, unless --alone or MCPAC_ALONE say otherwise, no host is up,
  // or a person at the terminal could be asked: a worker has no terminal.
  ThroughHost(Context& context, const RunOptions& options);
  // The command is over and its exit code set.
  [[nodiscard]] bool is_done() const { return done_; }
  // A command that works alone, or is the worker, says here what the next worker should start.
  void tell(const run::Outcome& outcome) const;

 private:
  Context& context_;
  std::unique_ptr<resident::Visit> visit_;
  bool replays_;
  bool done_ = false;
};

}  // namespace mcpac::cli
