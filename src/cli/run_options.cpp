// SPDX-License-Identifier: Apache-2.0

#include "cli/run_options.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <iostream>
#include <optional>

#include <CLI/CLI.hpp>

#include "cli/settings.h"
#include "core/clock.h"
#include "core/printable.h"
#include "core/quantity.h"
#include "run/outcome_json.h"
#include "toolchain/child/stage.h"

namespace mcpac::cli {
namespace {

constexpr std::uint64_t kLargestSize = std::uint64_t{1} << 40U;

// Below, not even the runner and its libraries can be loaded, and the kernel ends them without a
// word.
constexpr std::uint64_t kLeastMemory = std::uint64_t{32} << 20U;

constexpr std::chrono::milliseconds kLeastPatience = std::chrono::seconds(2);

// As rules write it (64KB, powers of 1,000), and KiB, MiB, GiB or K, M, G: powers of 1,024.
std::optional<std::uint64_t> any_size(std::string_view text) {
  const bool has_end = text.ends_with("iB");
  if (has_end) text.remove_suffix(2);
  const unsigned shift = text.ends_with('K')   ? 10
                         : text.ends_with('M') ? 20
                         : text.ends_with('G') ? 30
                                               : 0;
  if (shift == 0) return has_end ? std::nullopt : parse_size(text);
  const auto number = parse_size(text.substr(0, text.size() - 1));
  const bool is_plain = text.size() > 1 && text[text.size() - 2] <= '9';
  if (!number || !is_plain || *number > kLargestSize >> shift) return std::nullopt;
  return *number << shift;
}

Result<std::uint64_t> size_of(const std::string& text, const char* option) {
  const auto size = any_size(text);
  if (size && *size > 0 && *size <= kLargestSize) return *size;
  return fail(
      ErrorId::kUsage,
      fmt::format("{} wants a size such as 512MiB, not '{}'", option, printable(text)),
      {.where = option, .fix = "bytes, or KB, MB, GB, KiB, MiB, GiB behind a whole number"});
}

Result<std::uint64_t> memory_of(const std::string& text) {
  auto memory = size_of(text, "--memory");
  if (!memory || *memory >= kLeastMemory) return memory;
  return fail(ErrorId::kUsage, fmt::format("--memory {} is too little to start any program", text),
              {.where = "--memory", .fix = "at least 32MiB"});
}

// "90", "1.5", and with a unit of their own "90s", "5m", "2h".
Result<std::chrono::milliseconds> time_of(const std::string& text, const char* option) {
  constexpr double kMost = 86'400;
  double seconds = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, seconds);
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  const double scale = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  seconds *= scale;
  if (error != std::errc{} || !(seconds > 0 && seconds <= kMost))
    return fail(ErrorId::kUsage,
                fmt::format("{} wants seconds, more than 0 and at most a day (86400), not '{}'",
                            option, printable(text)),
                {.where = option, .fix = "e.g. 90, 90s, 5m or 2h"});
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(seconds * 1000)));
}

// One question, answered by a person at the terminal; everything but "y" or "yes" is no.
bool ask_once(const run::CheckResult& check, StopSignal stop) {
  fmt::print(stderr, "The program asks for what was not granted:\n");
  for (const auto& permission : check.missing) fmt::print(stderr, "  {}\n", printable(permission));
  fmt::print(stderr, "A yes grants exactly:\n");
  for (const auto& rule : check.to_grant)
    fmt::print(stderr, "  {}\n", printable(rule, rule.size() + 1));
  fmt::print(stderr, "Allow for this run? [y/N] ");
  std::array<pollfd, 2> watched{pollfd{0, POLLIN, 0}, pollfd{stop.descriptor, POLLIN, 0}};
  while (::poll(watched.data(), watched.size(), -1) < 0 && errno == EINTR) {
  }
  if (watched[1].revents != 0) return false;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

// How long a reader is waited for at the end. One whose run was ended had the time until then.
std::chrono::milliseconds patience_after(const run::Outcome& outcome,
                                         std::chrono::milliseconds wall) {
  const auto id = outcome.error ? outcome.error->id : ErrorId::kInternal;
  const bool was_ended =
      id == ErrorId::kRunTimeout || id == ErrorId::kInterrupted || id == ErrorId::kRunKilledByUser;
  return was_ended ? kLeastPatience : std::max<std::chrono::milliseconds>(wall, kLeastPatience);
}

}  // namespace

std::shared_ptr<std::string> add_tier_option(CLI::App& command) {
  auto tier = std::make_shared<std::string>();
  command
      .add_option(
          "--min-tier", *tier,
          "the weakest sandbox to accept: A (all layers), B (no namespaces), C (seccomp only)")
      ->default_str("A, or what `mcpac doctor --accept-tier` accepted")
      ->check(CLI::IsMember({"A", "B", "C"}));
  return tier;
}

sandbox::Tier to_tier(const std::string& name) {
  if (name.empty()) return accepted_tier(account_home());
  return name == "C" ? sandbox::Tier::kC : name == "B" ? sandbox::Tier::kB : sandbox::Tier::kA;
}

void add_recording_options(CLI::App& command, history::RecordingChoice& recording) {
  auto* record = command
                     .add_option("--record", recording.record,
                                 "write the calls and what came of them, without secrets, to FILE")
                     ->type_name("FILE");
  command
      .add_option("--replay", recording.replay,
                  "start no server: answer the calls from what --record wrote")
      ->type_name("FILE")
      ->excludes(record);
}

std::shared_ptr<RunOptions> add_run_options(CLI::App& command) {
  auto options = std::make_shared<RunOptions>();
  command
      .add_option("--timeout", options->timeout,
                  "wall time of the program from its start, in seconds, or 5m, 2h")
      ->capture_default_str();
  command.add_option("--memory", options->memory, "what the program may allocate")
      ->capture_default_str();
  command.add_option("--output-limit", options->output_limit, "bytes the program may write")
      ->capture_default_str();
  command
      .add_option("--file-limit", options->file_limit,
                  "bytes of any one file that the program writes, where --files lets it")
      ->capture_default_str();
  command.add_flag("--changeset", options->changeset,
                   "keep what the program writes apart: mcpac changes show, apply or discard it");
  command
      .add_option("--changes-limit", options->changes_limit,
                  "bytes of files that it may change with --changeset")
      ->capture_default_str();
  command
      .add_option("--arguments", options->arguments,
                  "what mcpac::arguments() is in the program: one JSON object, or @FILE with one")
      ->type_name("JSON");
  options->lowest_tier = add_tier_option(command);
  add_recording_options(command, options->recording);
  options->approver = add_approver_options(command);
  command.add_flag("--review", options->review,
                   "show what the program declares and ask before it runs, also when no rule asks");
  command.add_flag("--no-permission-check", options->observe,
                   "make calls that were not granted, and record them as such; a deny and "
                   "mcpac.policy hold all the same, and it wants the word of a person: at the "
                   "terminal, or as a setting");
  command.add_flag("--alone", options->alone,
                   "leave a resident host (mcpac up) aside; as MCPAC_ALONE=1 in the environment");
  command.add_flag("-v,--verbose", options->verbose,
                   "show stages with their times, the sandbox tier, notes");
  return options;
}

Result<run::RunLimits> to_limits(const RunOptions& options) {
  run::RunLimits limits;
  auto wall = time_of(options.timeout, "--timeout");
  if (!wall) return pass_on(wall);
  limits.wall = *wall;
  auto memory = memory_of(options.memory);
  if (!memory) return pass_on(memory);
  auto output = size_of(options.output_limit, "--output-limit");
  if (!output) return pass_on(output);
  limits.memory = *memory;
  limits.output = *output;
  auto file = size_of(options.file_limit, "--file-limit");
  if (!file) return pass_on(file);
  auto changes = size_of(options.changes_limit, "--changes-limit");
  if (!changes) return pass_on(changes);
  limits.file_size = *file;
  limits.changes = *changes;
  limits.writes_to = options.changeset ? run::WritesTo::kChangeset : run::WritesTo::kPlace;
  limits.lowest_tier = to_tier(*options.lowest_tier);
  return limits;
}

run::Listener RunView::listener() {
  run::Listener listener;
  listener.warning = [this](std::string_view text) { context_.warn(text); };
  listener.note = [this](std::string_view text) {
    if (verbose_) context_.say(fmt::format("note: {}", text));
  };
  listener.wait = [this](std::string_view text) {
    if (!context_.json) context_.say(fmt::format("note: {}", text));
  };
  listener.stage = [this](const run::StageTime& stage) {
    if (verbose_)
      context_.say(fmt::format("{:>9.1f} ms  {}", static_cast<double>(stage.time.count()) / 1000,
                               stage.name));
  };
  listener.log = [this](std::string_view level, std::string_view text) {
    hold_.write(stderr, fmt::format("[{}] {}\n", level, printable_prose(text, 4'000)));
  };
  listener.log_sink = 2;
  listener.gate = hold_.gate();
  if (context_.json) {
    listener.standard_output = [this](std::string_view piece) { standard_output_ += piece; };
    listener.standard_error = [this](std::string_view piece) { standard_error_ += piece; };
    return listener;
  }
  listener.output_sink = 1;
  listener.error_sink = 2;
  listener.standard_output = [this](std::string_view piece) { hold_.write(stdout, piece); };
  listener.standard_error = [this](std::string_view piece) { hold_.write(stderr, piece); };
  if (context_.interactive) listener.may_grant = ask_once;
  return listener;
}

Result<run::Questions> RunView::questions(const RunOptions& options) {
  auto approver = to_approver(*options.approver, hold_);
  if (!approver) return pass_on(approver);
  return run::Questions{
      .approver = std::move(*approver),
      .review = options.review ? run::ReviewWanted::kAlways : run::ReviewWanted::kWhenAsked,
      .warning = [this](std::string_view text) { context_.warn(text); }};
}

void RunView::refuse(const Error& error, std::string_view program, bool is_dry) {
  if (!is_dry && history::is_refusal(error.id)) {
    const auto noted = history::record_refusal({.program = program, .error = error},
                                               context_.folders.audit(), SystemClock());
    if (!noted) context_.warn("the refusal could not be recorded: " + noted.error().what);
  }
  context_.fail(error);
}

void RunView::finish(const run::Outcome& outcome, const analyzer::SourceTexts& sources) {
  // What the program said has had the time of its run already.
  const auto now = std::chrono::steady_clock::now();
  const auto asked = std::min(now + patience_after(outcome, wall_), began_ + wall_);
  context_.talk->wait_until(std::max(now + kLeastPatience, asked));
  if (context_.json) {
    Json json = run::to_json(outcome);
    if (outcome.verdict) {
      json["stdout"] = standard_output_;
      json["stderr"] = standard_error_;
    }
    context_.print(json);
    context_.exit_code = outcome.exit_code;
    return;
  }
  if (outcome.report) {
    const bool all = verbose_ || outcome.report->verdict != analyzer::Verdict::kOk ||
                     (outcome.error && outcome.error->id == ErrorId::kUseDenied);
    const auto colours = context_.color ? analyzer::Colours::kYes : analyzer::Colours::kNo;
    if (all) context_.talk->write(analyzer::findings_text(*outcome.report, sources, colours));
  }
  if (outcome.result) context_.print(*outcome.result);
  const bool is_told = outcome.error && !outcome.is_error_said;
  if (is_told || !outcome.denials.list().empty()) hold_.end_line(*context_.talk);
  for (const auto& denial : outcome.denials.list()) context_.say(history::to_human_text(denial));
  if (outcome.denials.others() > 0)
    context_.say(fmt::format("denied: {}: mcpac audit list --run {}",
                             counted(outcome.denials.others(), "other call"),
                             outcome.run_id.substr(0, 13)));
  // Such an end says little by itself: an uncaught exception.
  const bool lacked = outcome.verdict && !is_told && outcome.verdict->limit &&
                      outcome.verdict->kind == sandbox::Verdict::Kind::kExited &&
                      outcome.verdict->code != 0;
  if (lacked) {
    hold_.end_line(*context_.talk);
    context_.say(fmt::format("the program {}\n  fix: {}", toolchain::describe(*outcome.verdict),
                             toolchain::remedy_of(*outcome.verdict)));
  }
  if (outcome.changes > 0)
    context_.say(
        fmt::format("{} kept: mcpac changes diff {}",
                    counted(outcome.changes, "change") + (outcome.changes == 1 ? " is" : " are"),
                    outcome.run_id.substr(0, 13)));
  if (is_told) {
    Error error = *outcome.error;
    // The findings above say it already, with the line and the fix.
    const bool shown = error.id == ErrorId::kFindingRefuses ||
                       error.id == ErrorId::kSourceDoesNotCompile ||
                       error.id == ErrorId::kUseDenied;
    if (shown) error.why = error.fix = "";
    context_.fail(error);
  }
  if (verbose_ && outcome.tier)
    context_.say(fmt::format("sandbox: tier {}", sandbox::to_string(*outcome.tier)));
  if (verbose_ && outcome.verdict)
    context_.say(fmt::format("the program {}; it had {:.1f} MiB of memory at most",
                             toolchain::describe(*outcome.verdict),
                             static_cast<double>(outcome.verdict->peak_memory) / (1U << 20U)));
  if (verbose_ && !outcome.refused_id.empty())
    context_.say(
        fmt::format("refused: mcpac audit list --run {}", outcome.refused_id.substr(0, 13)));
  if (verbose_ && !outcome.run_id.empty())
    context_.say(fmt::format("run {}: mcpac audit list --run {}", outcome.run_id,
                             outcome.run_id.substr(0, 13)));
  context_.exit_code = outcome.exit_code;
}

}  // namespace mcpac::cli
