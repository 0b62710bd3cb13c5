// SPDX-License-Identifier: Apache-2.0

// mcpac changes: what runs with --changeset left, and making it the user's own files or nothing.
#include <fmt/format.h>

#include <algorithm>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "core/clock.h"
#include "core/printable.h"
#include "core/quantity.h"
#include "history/changes/apply.h"
#include "history/changes/changes_diff.h"
#include "history/changes/changeset.h"
#include "project/files/open_place.h"
#include "run/check/writable_today.h"

namespace mcpac::cli {
namespace {

namespace fs = std::filesystem;
using history::Change;
using history::Changeset;

fs::path kept_in(const Context& context) {
  return history::changes_folder(context.folders.state);
}

Json summary_of(const Changeset& changes) {
  Json places = Json::array();
  for (const auto& place : changes.places) places.push_back(place.path.string());
  Json json = {{"run", changes.run},
               {"program", changes.program},
               {"ended", changes.ended},
               {"changes", changes.count()},
               {"places", std::move(places)}};
  if (changes.places.empty()) json["damaged"] = true;
  return json;
}

void list_changes(Context& context) {
  const auto all = history::list_changesets(kept_in(context));
  if (!all) return context.fail(all.error());
  Json json = Json::array();
  for (const Changeset& changes : *all) json.push_back(summary_of(changes));
  if (context.json) return context.print(json);
  if (all->empty()) context.say("no changes are kept");
  for (const Changeset& changes : *all) {
    if (changes.places.empty()) {
      fmt::print("{}  damaged\n", changes.run);
      continue;
    }
    fmt::print("{}  {}  {}: {} in {}\n", changes.run, changes.ended.substr(0, 19) + "Z",
               printable(changes.program, 80), counted(changes.count(), "change"),
               printable(changes.places.front().path.string()));
  }
}

// The one that is meant, whole; otherwise the error was told.
std::optional<Changeset> found(Context& context, const std::string& run) {
  auto changes = history::find_changeset(kept_in(context), run);
  if (changes) {
    auto whole = history::check_whole(*changes);
    if (whole) return std::move(*changes);
    context.fail(whole.error());
  } else {
    context.fail(changes.error());
  }
  return std::nullopt;
}

// Where it is news.
std::string mode_of(const Change& change) {
  if (!change.before) return fmt::format(", mode {:03o}", change.mode);
  const auto before = change.before->mode & 0777U;
  return before == change.mode ? ""
                               : fmt::format(", mode {:03o} becomes {:03o}", before, change.mode);
}

// Of new content beside what lies there: how many bytes, and whether it can be run now.
std::string content_of(const Change& change) {
  constexpr std::uint32_t kRuns = 0111;
  std::string text = counted(change.size, "byte");
  if (change.before) text += fmt::format(", {} before", change.before->size);
  text += mode_of(change);
  const bool ran = change.before && (change.before->mode & kRuns) != 0;
  if (!ran && (change.mode & kRuns) != 0) text += ", can be run";
  return text;
}

std::string line_of(const history::ChangedPlace& place, const Change& change) {
  std::string line = fmt::format("{:<14} {}", to_string(change.kind),
                                 printable((place.path / change.path).string(), 4'000));
  if (!change.digest.empty()) line += fmt::format(" ({})", content_of(change));
  if (change.kind == Change::Kind::kDeleted && change.before)
    line += fmt::format(" ({} before)", counted(change.before->size, "byte"));
  if (change.kind == Change::Kind::kFolderAdded) line += fmt::format(" (mode {:03o})", change.mode);
  if (change.moved_on) line += ": somebody else changed it, too";
  return line;
}

void show(Context& context, const std::string& run) {
  const auto changes = found(context, run);
  if (!changes) return;
  if (context.json) {
    Json json = to_json(*changes);
    for (std::size_t i = 0; i < changes->places.size(); ++i) {
      const auto never = history::never_applied(*changes, i);
      for (std::size_t j = 0; j < never.size(); ++j)
        if (!never[j].empty()) json["places"][i]["changes"][j]["never_applied"] = never[j];
    }
    return context.print(json);
  }
  fmt::print("run      {}\nprogram  {}\nended    {}\n", changes->run, printable(changes->program),
             changes->ended);
  std::size_t refused = 0;
  for (std::size_t i = 0; i < changes->places.size(); ++i) {
    const auto& place = changes->places[i];
    const auto never = history::never_applied(*changes, i);
    for (std::size_t j = 0; j < place.changes.size(); ++j) {
      const Change& change = place.changes[j];
      if (!never[j].empty()) ++refused;
      fmt::print("{}{}{}\n", line_of(place, change),
                 never[j].empty() ? "" : ": never applied: " + never[j],
                 history::is_applied(*changes, i, change) ? "  (applied)" : "");
    }
  }
  if (refused > 0)
    context.say(
        fmt::format("{} never applied: name the others after the run's id, by file or "
                    "folder; `mcpac changes apply {}` says how",
                    refused == 1 ? "1 is" : fmt::format("{} are", refused), changes->run));
  context.say(
      fmt::format("next: mcpac changes diff {0}, then `mcpac changes apply {0} [PATH…]` or "
                  "`mcpac changes discard {0}`",
                  changes->run));
}

void diff(Context& context, const std::string& run) {
  const auto changes = found(context, run);
  if (!changes) return;
  Json json = Json::array();
  for (std::size_t i = 0; i < changes->places.size(); ++i) {
    for (const Change& change : changes->places[i].changes) {
      const std::string text = history::diff_of(*changes, i, change);
      if (!context.json) {
        fmt::print("{}", text);
        continue;
      }
      json.push_back({{"path", (changes->places[i].path / change.path).string()},
                      {"kind", to_string(change.kind)},
                      {"diff", text}});
    }
  }
  if (context.json) context.print(json);
}

std::vector<fs::path> absolute(const std::vector<std::string>& words) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (const std::string& word : words)
    paths.push_back(fs::absolute(word, error).lexically_normal());
  return paths;
}

bool has_change_at(const Changeset& changes, const fs::path& path) {
  return std::ranges::any_of(changes.places, [&](const auto& place) {
    return std::ranges::any_of(place.changes, [&](const Change& change) {
      return project::lies_in(place.path / change.path, path);
    });
  });
}

// What was applied is gone from the changes only when all of it was: a part can be looked at again.
void apply(Context& context, const std::string& run, const std::vector<std::string>& words) {
  const auto changes = found(context, run);
  if (!changes) return;
  const auto project = context.project();
  if (!project) return context.fail(project.error());
  const SystemClock clock;
  const auto may_write = run::writable_today(*project, context.folders, clock, *changes);
  if (!may_write) return context.fail(may_write.error());
  const auto chosen = absolute(words);
  for (const fs::path& path : chosen) {
    if (!has_change_at(*changes, path))
      return context.fail({ErrorId::kChangesUnknown,
                           fmt::format("{} has no change at {}", changes->run.substr(0, 13),
                                       printable(path.string())),
                           "", "",
                           fmt::format("mcpac changes show {}", changes->run.substr(0, 13))});
  }
  auto applied = history::apply(*changes, chosen, *may_write);
  if (!applied) return context.fail(applied.error());
  Json done = Json::array();
  for (const fs::path& path : applied->done) done.push_back(path.string());
  const bool whole = !applied->error && applied->done.size() == changes->count();
  if (applied->error) {
    applied->error->why = fmt::format("{} of {} applied before", applied->done.size(),
                                      counted(changes->count(), "change"));
    for (const fs::path& path : applied->done)
      if (!context.json) context.say(fmt::format("applied {}", printable(path.string())));
    return context.fail(*applied->error);
  }
  if (whole) {
    if (auto removed = history::discard(*changes); !removed) context.warn(removed.error().what);
  }
  if (context.json) return context.print({{"run", changes->run}, {"applied", std::move(done)}});
  context.say(fmt::format("applied {} of {}{}", applied->done.size(),
                          counted(changes->count(), "change"),
                          whole ? "" : "; the changeset is kept"));
}

void discard(Context& context, const std::string& run) {
  const auto changes = history::find_changeset(kept_in(context), run);
  if (!changes) return context.fail(changes.error());
  if (auto done = history::discard(*changes); !done) return context.fail(done.error());
  if (context.json) return context.print({{"discarded", changes->run}});
  context.say(fmt::format("discarded {}", counted(changes->count(), "change")));
}

}  // namespace

void add_changes(CLI::App& app, Context& context) {
  auto* changes =
      app.add_subcommand("changes", "what runs with --changeset left: look, apply, discard");
  changes->require_subcommand(1);
  add_common_options(*changes, context);
  const auto run = std::make_shared<std::string>();
  const auto paths = std::make_shared<std::vector<std::string>>();
  const auto add = [&](const char* name, const char* help) {
    auto* command = changes->add_subcommand(name, help);
    add_common_options(*command, context);
    return command;
  };
  const auto wants_run = [&run](CLI::App* command) {
    command->add_option("RUN", *run, "the run's id; the start of it is enough")->required();
    return command;
  };
  add("list", "the changesets that are kept, oldest first")->callback([&context] {
    list_changes(context);
  });
  wants_run(add("show", "one changeset: each file and what happened to it"))
      ->callback([&context, run] { show(context, *run); });
  wants_run(add("diff", "line by line, before and after"))->callback([&context, run] {
    diff(context, *run);
  });
  auto* applies = wants_run(add("apply", "makes the changes in your files; all are checked first"));
  applies->add_option("PATH", *paths, "only these files and what lies below these folders");
  applies->callback([&context, run, paths] { apply(context, *run, *paths); });
  wants_run(add("discard", "removes the changeset; your files stay as they are"))
      ->callback([&context, run] { discard(context, *run); });
}

}  // namespace mcpac::cli
