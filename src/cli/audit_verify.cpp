// mcpac audit verify: are the records still the ones that were written?
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "audit/verify.h"
#include "cli/audit_commands.h"
#include "core/printable.h"

namespace mcpac::cli {
namespace {

using audit::RunVerdict;
using audit::Standing;

std::string line_of(const audit::Problem& problem) {
  return fmt::format("    {}: {}\n", printable_in_place(problem.where),
                     printable_in_place(problem.what));
}

std::string line_of(const RunVerdict& run) {
  std::string text = fmt::format("{}  {}  {} records, {} of them signed for", run.run_id,
                                 audit::to_string(run.standing), run.records, run.signed_records);
  if (run.standing == Standing::kUnfinished)
    text += ": it has no closing record, so it crashed or its end was cut off";
  if (run.torn_bytes > 0)
    text += fmt::format("; {} bytes of a line that was never finished", run.torn_bytes);
  return text + "\n";
}

void print_for_people(const audit::Verification& found) {
  for (const auto& run : found.runs) {
    fmt::print("{}", line_of(run));
    for (const auto& problem : run.problems) fmt::print("{}", line_of(problem));
  }
  fmt::print("index of runs: {} lines{}\n", found.index.lines,
             found.index.head.empty() ? "" : ", head " + found.index.head);
  for (const auto& problem : found.index.problems) fmt::print("{}", line_of(problem));
  fmt::print("{}\n", audit::to_string(found.standing()));
}

// Tampered is a refusal; what cannot be proven either way is data that does not suffice.
ExitCode exit_code_of(Standing standing) {
  switch (standing) {
    case Standing::kProven:
    case Standing::kRunning: return ExitCode::kOk;
    case Standing::kUnfinished:
    case Standing::kUnprovable: return ExitCode::kData;
    case Standing::kTampered: break;
  }
  return ExitCode::kRefused;
}

void verify(Context& context, const std::string& run, const std::string& key) {
  const auto folder = context.folders.audit();
  const std::filesystem::path file =
      key.empty() ? audit::key_folder(folder) / "public" : std::filesystem::path(key);
  auto keys = audit::read_public_keys(file);
  if (!keys) return context.fail(keys.error());
  const auto found = audit::verify(folder, *keys, run.empty() ? std::nullopt : std::optional(run));
  if (!found) return context.fail(found.error());
  if (context.json) {
    context.print(audit::to_json(*found));
  } else {
    print_for_people(*found);
  }
  context.exit_code = static_cast<int>(exit_code_of(found->standing()));
}

}  // namespace

void add_audit_verify(CLI::App& audit, Context& context) {
  auto run = std::make_shared<std::string>();
  auto key = std::make_shared<std::string>();
  auto* command = audit.add_subcommand(
      "verify",
      "whether the records are the ones that were written: chains, signatures, the index of runs; "
      "exit 77 when something was changed, 65 when a run cannot be proven");
  add_common_options(*command, context);
  command->add_option("--run", *run, "only this run; the start of its id is enough")
      ->type_name("ID");
  command->add_option("--key", *key, "a file of public keys, one a line (default: this user's own)")
      ->type_name("FILE");
  command->callback([&context, run, key] { verify(context, *run, *key); });
}

}  // namespace mcpac::cli
