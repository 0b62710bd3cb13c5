// SPDX-License-Identifier: Apache-2.0

// mcpac audit verify: are the records still the ones that were written?
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include <CLI/CLI.hpp>

#include "audit/verify.h"
#include "cli/audit_commands.h"
#include "core/printable.h"
#include "core/quantity.h"

namespace mcpac::cli {
namespace {

using audit::RunVerdict;
using audit::Standing;

std::string line_of(const audit::Problem& problem) {
  return fmt::format("    {}: {}\n", printable_in_place(problem.where),
                     printable_in_place(problem.what));
}

std::string line_of(const RunVerdict& run) {
  std::string text =
      fmt::format("{}  {}  {}, {} of them signed for", run.run_id, audit::to_string(run.standing),
                  counted(run.records, "record"), run.signed_records);
  if (run.standing == Standing::kUnfinished)
    text += ": it has no closing record, so it crashed or its end was cut off";
  if (run.standing == Standing::kAccepted)
    text += ": it has no closing record, and is as it was when that was accepted";
  if (run.torn_bytes > 0)
    text += fmt::format("; {} of a line that was never finished", counted(run.torn_bytes, "byte"));
  return text + "\n";
}

void print_for_people(const audit::Verification& found) {
  for (const auto& run : found.runs) {
    fmt::print("{}", line_of(run));
    for (const auto& problem : run.problems) fmt::print("{}", line_of(problem));
  }
  fmt::print("index of runs: {}{}\n", counted(found.index.lines, "line"),
             found.index.head.empty() ? "" : ", head " + found.index.head);
  for (const auto& problem : found.index.problems) fmt::print("{}", line_of(problem));
  fmt::print("{}\n", audit::to_string(found.standing()));
}

std::size_t count_of(const audit::Verification& found, Standing standing) {
  return static_cast<std::size_t>(std::ranges::count(found.runs, standing, &RunVerdict::standing));
}

// The places stand in the data; this says what they come to.
std::optional<Error> error_of(const audit::Verification& found, const std::string& where) {
  switch (found.standing()) {
    case Standing::kProven:
    case Standing::kRunning:
    case Standing::kAccepted: return std::nullopt;
    case Standing::kUnfinished:
    case Standing::kUnprovable:
      return Error{
          ErrorId::kAuditUnproven,
          fmt::format("{} runs have no closing record, {} have no chain",
                      count_of(found, Standing::kUnfinished),
                      count_of(found, Standing::kUnprovable)),
          where, "a run that crashed, or whose end was cut off, cannot be told apart",
          "what is signed stands; a copy made earlier may hold the rest. Of a run that you "
          "know was killed: mcpac audit accept ID"};
    case Standing::kTampered: break;
  }
  return Error{ErrorId::kAuditTampered, "the audit log is not the one that was written", where,
               fmt::format("changed: {}{}", counted(count_of(found, Standing::kTampered), "run"),
                           found.index.problems.empty() ? "" : " and the index of runs"),
               "compare with a copy, or with a head of the index that was kept elsewhere"};
}

void verify(Context& context, const std::string& run, const std::string& key) {
  const auto folder = context.folders.audit();
  auto keys = key.empty() ? audit::own_keys(folder) : audit::read_public_keys(key);
  if (!keys) return context.fail(keys.error());
  const auto found = audit::verify(folder, *keys, run.empty() ? std::nullopt : std::optional(run));
  if (!found) return context.fail(found.error());
  if (context.json) {
    context.print(audit::to_json(*found));
  } else {
    print_for_people(*found);
  }
  if (keys->empty() && found->standing() <= Standing::kUnprovable) {
    context.say(found->runs.empty()
                    ? "nothing has been recorded yet"
                    : "these runs were recorded by an mcpac that signed nothing: there is nothing "
                      "to prove them with");
    return;
  }
  if (const auto error = error_of(*found, folder.string())) context.fail(*error);
}

}  // namespace

Result<std::set<std::string>> tampered_runs(const std::filesystem::path& folder,
                                            const std::string& run) {
  auto keys = audit::own_keys(folder);
  if (!keys) return pass_on(keys);
  auto found =
      audit::verify(folder, *keys, run.empty() ? std::nullopt : std::optional<std::string>(run));
  if (!found) return pass_on(found);
  std::set<std::string> tampered;
  for (const auto& verdict : found->runs) {
    if (verdict.standing == audit::Standing::kTampered) tampered.insert(verdict.run_id);
  }
  return tampered;
}

Error tampered_error(const std::filesystem::path& folder, const std::string& run_id) {
  return {ErrorId::kAuditTampered,
          fmt::format("the log of run {} is not the one that was written", run_id), folder.string(),
          "a record that somebody changed is no record of a decision",
          fmt::format("mcpac audit verify --run {}", run_id)};
}

void add_audit_verify(CLI::App& audit, Context& context) {
  auto run = std::make_shared<std::string>();
  auto key = std::make_shared<std::string>();
  auto* command = audit.add_subcommand(
      "verify",
      "whether the records are the ones that were written: chains, signatures, the index of runs; "
      "exit 77 when something was changed, 65 when a run cannot be proven");
  add_common_options(*command, context);
  command->add_option("--run,RUN", *run, "only this run; the start of its id is enough")
      ->type_name("ID");
  command->add_option("--key", *key, "a file of public keys, one a line (default: this user's own)")
      ->type_name("FILE");
  command->callback([&context, run, key] { verify(context, *run, *key); });
}

}  // namespace mcpac::cli
