// SPDX-License-Identifier: Apache-2.0

// mcpac audit accept: a run that was killed is taken as it lies there.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "audit/accept.h"
#include "cli/audit_commands.h"
#include "core/clock.h"

namespace mcpac::cli {
namespace {

void accept(Context& context, const std::string& run) {
  const auto accepted = audit::accept(context.folders.audit(), run, SystemClock());
  if (!accepted) return context.fail(accepted.error());
  if (context.json) return context.print({{"accepted", *accepted}});
  context.say(fmt::format("accepted, as it lies there: {}", *accepted));
}

}  // namespace

void add_audit_accept(CLI::App& audit, Context& context) {
  auto accepted = std::make_shared<std::string>();
  auto* accepts = audit.add_subcommand(
      "accept",
      "say that a run without a closing record was killed: from now on `verify` holds it against "
      "what it has now, and takes it as it is");
  add_common_options(*accepts, context);
  accepts->add_option("run", *accepted, "the start of its id is enough")
      ->required()
      ->type_name("ID");
  accepts->callback([&context, accepted] { accept(context, *accepted); });
}

}  // namespace mcpac::cli
