#include "cli/through_host.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "cli/terminal_approver.h"
#include "core/printable.h"

namespace mcpac::cli {
namespace {

bool wants_alone(const RunOptions& options) {
  const char* said = std::getenv("MCPAC_ALONE");
  return options.alone || (said != nullptr && *said != '\0' && std::string_view(said) != "0");
}

}  // namespace

std::unique_ptr<resident::Visit> announce_alone(const Context& context) {
  using Wish = resident::Errand::Wish;
  return std::make_unique<resident::Visit>(
      resident::Errand{context.folders, context.config_file, {}, Wish::kAlone});
}

ThroughHost::ThroughHost(Context& context, const RunOptions& options)
    : context_(context), replays_(!options.recording.replay.empty()) {
  if (context.in_worker) return;
  // Nothing is started for it, and servers that wait there are nobody's business here.
  if (replays_) return;
  if (wants_alone(options)) {
    visit_ = announce_alone(context);
    return;
  }
  const auto note = [&](std::string_view why) {
    if (options.verbose && !why.empty())
      context.say(fmt::format("note: works without the resident host: {}", printable(why)));
  };
  // In the background, too, a worker that read the terminal would take the shell's input.
  if (::isatty(STDIN_FILENO) != 0 || open_terminal()) {
    note("questions go to the terminal, and a worker has none");
    visit_ = announce_alone(context);
    return;
  }
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

void ThroughHost::tell(const execute::Outcome& outcome) const {
  if (replays_) return;
  if (outcome.run_id.empty()) return;  // nothing ran: what is known of the last run still holds
  if (visit_) return visit_->used(outcome.servers);
  context_.servers_used(outcome.servers);
}

}  // namespace mcpac::cli
