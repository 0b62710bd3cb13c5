// SPDX-License-Identifier: Apache-2.0

// mcpac audit replay: every recorded decision, made again.
#include <fmt/format.h>

#include <map>
#include <set>

#include <CLI/CLI.hpp>

#include "audit/log.h"
#include "cli/audit_commands.h"
#include "core/printable.h"
#include "core/quantity.h"
#include "history/records/replay.h"
#include "history/records/run_record.h"

namespace mcpac::cli {
namespace {

using history::RunReplay;

void print_for_people(const RunReplay& replay) {
  std::size_t left_out = 0;
  std::string why;
  for (const auto& [reason, count] : replay.not_recomputed) {
    left_out += count;
    why += fmt::format("{}{} because {}", why.empty() ? ": " : ", ", count, reason);
  }
  fmt::print("{}  {} decisions, {} recomputed, {} not{}\n", replay.run_id, replay.decisions,
             replay.recomputed, left_out, why);
  for (const auto& difference : replay.differences)
    fmt::print("    {}: {}\n", printable(difference.event_id), printable(difference.what));
  if (replay.further_differences > 0)
    fmt::print("    and {}\n", counted(replay.further_differences, "more difference"));
}

Result<std::vector<std::vector<audit::Event>>> events_by_run(const std::filesystem::path& folder,
                                                             const std::string& run) {
  auto events = audit::read_events(
      folder, {.run_id = run.empty() ? std::nullopt : std::optional<std::string>(run)});
  if (!events) return pass_on(events);
  std::map<std::string, std::vector<audit::Event>> runs;
  for (auto& event : *events) runs[event.run_id].push_back(std::move(event));
  std::vector<std::vector<audit::Event>> list;
  for (auto& [id, of_run] : runs) list.push_back(std::move(of_run));
  return list;
}

void replay(Context& context, const std::string& run) {
  const auto folder = context.folders.audit();
  auto tampered = tampered_runs(folder, run);
  if (!tampered) return context.fail(tampered.error());
  if (!run.empty() && !tampered->empty())
    return context.fail(tampered_error(folder, *tampered->begin()));
  auto runs = events_by_run(folder, run);
  if (!runs) return context.fail(runs.error());
  const history::LockOf lock_of = [&folder](const std::string& digest) {
    return history::kept_lock(folder, digest);
  };
  const history::EventsOf earlier =
      [&folder](const std::string& id) -> Result<std::vector<audit::Event>> {
    auto changed = tampered_runs(folder, id);
    if (!changed) return pass_on(changed);
    if (!changed->empty()) return std::unexpected(tampered_error(folder, id));
    return audit::read_events(folder, {.run_id = id});
  };
  Json all = Json::array();
  std::size_t differing = 0;
  std::optional<Error> failure;
  for (const auto& events : *runs) {
    const std::string& id = events.front().run_id;
    auto replayed = tampered->contains(id)
                        ? Result<RunReplay>(std::unexpected(tampered_error(folder, id)))
                        : history::replay_run(events, lock_of, earlier);
    if (!replayed) {
      if (!failure) failure = replayed.error();
      context.warn(fmt::format("run {}: {}", id, replayed.error().what));
      continue;
    }
    if (!replayed->differences.empty()) ++differing;
    if (context.json) {
      all.push_back(history::to_json(*replayed));
    } else {
      print_for_people(*replayed);
    }
  }
  if (context.json) context.print(all);
  if (runs->empty() && !context.json) context.say("nothing has been recorded yet");
  if (failure) return context.fail(*failure);
  if (differing == 0) return;
  context.fail({ErrorId::kReplayDiffers,
                fmt::format("{} of {} runs come out otherwise than they are recorded", differing,
                            runs->size()),
                folder.string(), "the same rules, lock, clocks and limits give another answer",
                "mcpac audit verify says whether the log is the one that was written"});
}

}  // namespace

void add_audit_replay(CLI::App& audit, Context& context) {
  auto run = std::make_shared<std::string>();
  auto* command = audit.add_subcommand(
      "replay",
      "make every recorded decision again, from the rules, lock, clocks and limits of its time; "
      "exit 77 when one comes out otherwise");
  add_common_options(*command, context);
  command->add_option("RUN", *run, "only this run; the start of its id is enough (default: all)");
  command->callback([&context, run] { replay(context, *run); });
}

}  // namespace mcpac::cli
