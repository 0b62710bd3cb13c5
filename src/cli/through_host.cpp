// SPDX-License-Identifier: Apache-2.0

#include "cli/through_host.h"

#include <fmt/format.h>

#include "cli/worker_choice.h"
#include "core/printable.h"

namespace mcpac::cli {

std::unique_ptr<resident::Visit> announce_alone(const Context& context) {
  using Wish = resident::Errand::Wish;
  return std::make_unique<resident::Visit>(
      resident::Errand{context.folders, context.config_file, {}, Wish::kAlone});
}

ThroughHost::ThroughHost(Context& context, const RunOptions& options)
    : context_(context), replays_(!options.recording.replay.empty()) {
  if (context.in_worker) return;
  // Nothing is started for it, and servers that wait there do not matter here.
  if (replays_) return;
  const auto note = [&](std::string_view why) {
    if (options.verbose && !why.empty())
      context.say(fmt::format("note: works without the resident host: {}", printable(why)));
  };
  visit_ = resident::Visit::taken_over();  // bin/mcpac has asked already
  const bool alone = !visit_ && (options.alone || is_told_to_be_alone());
  const bool terminal = !visit_ && !alone && has_terminal();
  if (terminal) note("questions go to the terminal, and a worker has none");
  if (alone || terminal) {
    visit_ = announce_alone(context);
    return;
  }
  if (!visit_)
    visit_ = std::make_unique<resident::Visit>(
        resident::Errand{context.folders, context.config_file, context.arguments});
  const auto& outcome = visit_->outcome();
  done_ = outcome.has_value();
  if (!done_) {
    note(visit_->why_alone());
  } else if (*outcome) {
    context.exit_code = **outcome;
  } else {
    context.fail(outcome->error());
  }
}

void ThroughHost::tell(const run::Outcome& outcome) const {
  if (replays_) return;
  if (outcome.run_id.empty()) return;  // nothing ran: what is known of the last run still holds
  if (visit_) return visit_->used(outcome.servers);
  context_.servers_used(outcome.servers);
}

}  // namespace mcpac::cli
