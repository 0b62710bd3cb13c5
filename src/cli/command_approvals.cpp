// SPDX-License-Identifier: Apache-2.0

// mcpac approvals: answers that outlive their run (until, never).
#include <fmt/format.h>

#include <algorithm>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "core/clock.h"
#include "core/printable.h"
#include "core/quantity.h"
#include "run/asking/approval_store.h"

namespace mcpac::cli {
namespace {

run::ApprovalStore store_of(Context& context, const Clock& clock) {
  return {context.folders.approvals(), [&context](std::string_view text) { context.warn(text); },
          clock};
}

void list_approvals(Context& context) {
  const SystemClock clock;
  const auto approvals = store_of(context, clock).read();
  Json all = Json::array();
  for (const auto& answer : approvals.answers) {
    all.push_back(run::to_json(answer));
    if (context.json) continue;
    fmt::print("{}  {}  {}  {}: {}: {}  (by {})\n", answer.id.substr(0, 12),
               gate::to_string(answer.answer),
               answer.until.empty() ? "-" : answer.until.substr(0, 19) + "Z",
               printable(answer.program, 80), printable(answer.rule.tool),
               printable(answer.rule.rule), printable(answer.who, 80));
  }
  if (context.json) return context.print(all);
  if (approvals.answers.empty()) context.say("no answer is kept");
}

Error unknown(const std::string& start, std::size_t matches) {
  return {ErrorId::kUnknownApproval,
          matches == 0 ? fmt::format("no kept approval's id starts with '{}'", printable(start, 64))
                       : fmt::format("'{}' is the start of {} ids", printable(start, 64), matches),
          "", "", "mcpac approvals list"};
}

void forget(Context& context, const std::string& start, bool all) {
  if (all != start.empty())
    return context.fail({ErrorId::kUsage, "forget wants the id of an approval, or --all", "", "",
                         "mcpac approvals list"});
  const SystemClock clock;
  std::size_t matches = 0;
  std::size_t forgotten = 0;
  const auto done = store_of(context, clock).change([&](run::Approvals& approvals) {
    const auto is_meant = [&](const run::StoredAnswer& answer) {
      return all || answer.id.starts_with(start);
    };
    matches = static_cast<std::size_t>(std::ranges::count_if(approvals.answers, is_meant));
    if (!all && matches != 1) return;
    forgotten = std::erase_if(approvals.answers, is_meant);
    if (all) approvals.programs.clear();
  });
  if (!done) return context.fail(done.error());
  if (!all && matches != 1) return context.fail(unknown(start, matches));
  if (context.json) return context.print({{"forgotten", forgotten}});
  context.say("forgot " + counted(forgotten, "approval"));
}

}  // namespace

void add_approvals(CLI::App& app, Context& context) {
  auto* approvals = app.add_subcommand("approvals", "answers to --ask rules that are kept");
  approvals->require_subcommand(1);
  add_common_options(*approvals, context);
  auto* shown = approvals->add_subcommand("list", "the kept answers, oldest first");
  add_common_options(*shown, context);
  shown->callback([&context] { list_approvals(context); });
  auto* forgets =
      approvals->add_subcommand("forget", "forgets one answer, or all and what was approved");
  add_common_options(*forgets, context);
  const auto id = std::make_shared<std::string>();
  const auto all = std::make_shared<bool>(false);
  forgets->add_option("ID", *id, "the start of it is enough");
  forgets->add_flag("--all", *all, "all of them");
  forgets->callback([&context, id, all] { forget(context, *id, *all); });
}

}  // namespace mcpac::cli
