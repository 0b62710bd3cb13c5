// SPDX-License-Identifier: Apache-2.0

// mcpac policy fmt: policy files in one spelling, in place.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/policy_commands.h"
#include "core/file.h"
#include "core/printable.h"
#include "policy/text/format.h"
#include "run/check/authorities.h"

namespace mcpac::cli {
namespace {

namespace fs = std::filesystem;

struct FormatChoice {
  std::vector<std::string> files;
  bool check = false;
};

// The file that a link leads to, with the rights that it has.
Result<void> write_through(const fs::path& file, const std::string& text) {
  std::error_code error;
  const auto target = fs::canonical(file, error);
  if (error) return fail(ErrorId::kFileUnwritable, error.message(), {.where = file.string()});
  const auto rights = fs::status(target, error).permissions() & fs::perms::mask;
  return write_file_atomic(target, text, static_cast<unsigned>(rights));
}

// Whether the file was not (with `check`: is not) in the one spelling.
Result<bool> format_file(const std::string& file, bool check) {
  auto rules = run::read_rules(file);
  if (!rules) return pass_on(rules);
  auto formatted = policy::format({rules->name, rules->text});
  if (!formatted) return pass_on(formatted);
  if (*formatted == rules->text) return false;
  if (check) return true;
  if (auto written = write_through(file, *formatted); !written) return pass_on(written);
  return true;
}

// All files, also behind one that does not parse; the first error decides.
void format_files(Context& context, const FormatChoice& choice) {
  Json changed = Json::array();
  for (const std::string& file : choice.files) {
    const auto differs = format_file(file, choice.check);
    if (!differs) {
      context.fail(differs.error());
      continue;
    }
    if (!*differs) continue;
    changed.push_back(file);
    if (!context.json)
      fmt::print("{} {}\n", choice.check ? "would change" : "formatted", printable(file));
  }
  if (context.json) context.print({{"changed", changed}, {"written", !choice.check}});
  if (choice.check && !changed.empty() && context.exit_code == 0)
    context.exit_code = static_cast<int>(ExitCode::kRefused);
}

}  // namespace

void add_policy_fmt(CLI::App& policy, Context& context) {
  auto choice = std::make_shared<FormatChoice>();
  auto* command = policy.add_subcommand(
      "fmt", "write policy files in one spelling, comments kept; nothing else of them changes");
  add_common_options(*command, context);
  command->add_option("FILE", choice->files, "files of rules")->required();
  command->add_flag("--check", choice->check,
                    "write nothing; exit 77 when a file is not in that spelling");
  command->callback([&context, choice] { format_files(context, *choice); });
}

}  // namespace mcpac::cli
