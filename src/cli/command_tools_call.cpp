// SPDX-License-Identifier: Apache-2.0

// mcpac tools call: one call from the command line, through the same gate as a program's.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>

#include "cli/approver_options.h"
#include "cli/commands.h"
#include "cli/grant_options.h"
#include "cli/through_host.h"
#include "cli/tool_choice.h"
#include "codegen/arguments.h"
#include "core/ascii.h"
#include "core/call_arguments.h"
#include "core/file.h"
#include "core/printable.h"
#include "core/shell_quote.h"
#include "mcpac/content.hpp"
#include "run/call_tool.h"
#include "servers/confine/failed_calls.h"

namespace mcpac::cli {
namespace {

constexpr std::size_t kMaxArguments = std::size_t{16} << 20U;

struct CallOptions {
  std::string tool;
  std::string json_arguments;
  bool from_stdin = false;
  std::shared_ptr<GrantOptions> grants;
  std::shared_ptr<ApproverOptions> approver;
};

// "--path", "./data" and "--path=./data" alike; "--verbose" before another key is a switch.
std::vector<codegen::TypedArgument> typed(const std::vector<std::string>& words) {
  std::vector<codegen::TypedArgument> result;
  for (const std::string& word : words) {
    if (!word.starts_with("--")) {
      // A word that belongs to no key stays as a key of its own: the schema does not know it and
      // says so.
      const bool belongs = !result.empty() && !result.back().value;
      if (belongs)
        result.back().value = word;
      else
        result.push_back({word, ""});
      continue;
    }
    const auto equals = word.find('=');
    if (equals == std::string::npos)
      result.push_back({word.substr(2), std::nullopt});
    else
      result.push_back({word.substr(2, equals - 2), word.substr(equals + 1)});
  }
  return result;
}

// What people try first: the JSON object itself, and path=./data.
Result<void> check_words(const std::vector<std::string>& words) {
  bool wants_value = false;
  for (const std::string& word : words) {
    const bool is_key = word.starts_with("--");
    const auto equals = word.find('=');
    if (!is_key && !wants_value && equals != std::string::npos && equals > 0)
      return fail(ErrorId::kUsage, fmt::format("'{}' is no option", printable(word, 200)),
                  {.where = "mcpac tools call",
                   .why = "arguments of a tool are written --key value, or all as one JSON object",
                   .fix = fmt::format("--{} {}", printable(word.substr(0, equals), 200),
                                      printable(shell_quoted(word.substr(equals + 1)), 200))});
    wants_value = is_key && equals == std::string::npos;
  }
  return {};
}

// Arguments from exactly one place: --arguments, --stdin, or --key value pairs after the tool.
Result<Json> arguments_of(const CallOptions& options, const std::vector<std::string>& pairs,
                          const codegen::LockedTool& tool) {
  const int places = (options.json_arguments.empty() ? 0 : 1) + (options.from_stdin ? 1 : 0) +
                     (pairs.empty() ? 0 : 1);
  if (places > 1)
    return fail(ErrorId::kUsage,
                "the arguments come from one place: --arguments, --stdin, or --key value",
                {.fix = "keep one of them"});
  if (!options.json_arguments.empty()) return parse_call(options.json_arguments, "--arguments");
  if (pairs.size() == 1 && pairs.front().starts_with('{'))
    return parse_call(pairs.front(), "the arguments");
  if (auto words = check_words(pairs); !words) return pass_on(words);
  if (!options.from_stdin) return codegen::arguments_from(tool, typed(pairs));
  auto text = read_descriptor(0, "standard input", kMaxArguments);
  if (!text) return pass_on(text);
  return parse_call(*text, "standard input");
}

// Servers' words as they are for a program that reads them; on a terminal they only show
// themselves.
void show_text(std::FILE* to, const std::string& text) {
  fmt::print(to, "{}\n", ::isatty(::fileno(to)) == 1 ? printable_lines(text) : text);
}

constexpr std::size_t kMostRead = std::size_t{16} << 10U;  // of what a tool says, for advice

// "127.0.0.1:5432", where the tool says that nothing answers there; else empty.
std::string refused_loopback(std::string_view text) {
  if (!lowered(text).contains("econnrefused") && !lowered(text).contains("connection refused"))
    return {};
  for (const auto& [name, address] :
       {std::pair<std::string_view, std::string_view>("127.0.0.1:", "127.0.0.1"),
        {"localhost:", "localhost"},
        {"::1:", "[::1]"},
        {"[::1]:", "[::1]"}}) {
    for (auto at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
      const auto digits = text.substr(at + name.size(), 5);
      const auto size =
          static_cast<std::size_t>(std::ranges::find_if_not(digits, is_digit) - digits.begin());
      if (size > 0) return fmt::format("{}:{}", address, digits.substr(0, size));
    }
  }
  return {};
}

// What a confined server may lack, as the tool's own words do not say that it is confined. The
// server chose those: they explain, and what is advised is to look, once.
void explain_confined(const mcp::ServerConfig& server, const Permission& tool,
                      std::string_view said, bool is_advised, Error& error) {
  if (const std::string place = refused_loopback(said); !place.empty()) {
    error.why +=
        fmt::format("; {} is confined, and nothing of this machine is at {} in its sandbox",
                    server.name, place);
  }
  if (is_advised) return;
  error.fix += fmt::format(
      "; it is confined: mcpac server confine {} --learn --call {} JSON shows what a call uses",
      server.name, shell_quoted(tool.tool()));
}

// As `.text()` has it in a program; --json has all of it. `is_advised`: a warning said already how
// to find out what a confined server lacks.
void show_result(Context& context, const project::Project& project, const Permission& tool,
                 const Json& result, bool is_advised) {
  const Json* is_error = find_member(result, "isError");
  const bool failed = is_error != nullptr && is_error->is_boolean() && is_error->get<bool>();
  if (failed) context.exit_code = static_cast<int>(ExitCode::kUnavailable);
  if (context.json) return context.print(result);
  std::string said;
  for (const std::string& text :
       detail::views_of(detail::contents_of(result), detail::structured_of(result))) {
    if (said.size() < kMostRead) said += text + "\n";
    // On standard error mcpac speaks: a server's line must not pass for one of its.
    failed ? fmt::print(stderr, "the tool: {}\n", printable_prose(text, std::string::npos))
           : show_text(stdout, text);
  }
  if (!failed) return;
  Error error{ErrorId::kToolError, "the tool answered that it failed", "",
              "what it says stands above", "mcpac tools describe " + shell_quoted(tool.text())};
  // Not as the tool wrote it.
  if (said.contains("${env:") || said.contains("${file:"))
    error.why += "; what reads ${env:…} or ${file:…} there is its value, which is not shown";
  const auto* server = project.config.find(tool.server());
  if (server != nullptr && server->sandbox)
    explain_confined(*server, tool, std::string_view(said).substr(0, kMostRead), is_advised, error);
  context.fail(error);
}

void call(Context& context, const CallOptions& options, const std::vector<std::string>& pairs) {
  auto project = context.project();
  if (!project) return context.fail(project.error());
  auto lock = project::load_lock(*project);
  if (!lock) return context.fail(lock.error());
  auto found = choose_tool(*lock, options.tool);
  if (!found) return context.fail(found.error());
  auto arguments = arguments_of(options, pairs, *found->tool);
  if (!arguments) return context.fail(arguments.error());
  auto layer = to_layer(*options.grants);
  if (!layer) return context.fail(layer.error());
  OutputHold hold;
  auto approver = to_approver(*options.approver, hold);
  if (!approver) return context.fail(approver.error());
  auto permission = Permission::of(found->server->name, found->tool->name);
  if (!permission) return context.fail(permission.error());
  const auto visit = announce_alone(context);
  bool is_advised = false;
  const auto warn =
      [&, advice = servers::advice_for_calls(permission->server())](std::string_view text) {
        is_advised = is_advised || text.contains(advice);
        context.warn(text);
      };
  auto result = run::call_tool(
      *project, context.folders, *permission, std::move(*arguments), std::move(*layer),
      {.approver = std::move(*approver), .review = run::ReviewWanted::kWhenAsked, .warning = warn});
  if (!result) return context.fail(result.error());
  show_result(context, *project, *permission, *result, is_advised);
}

}  // namespace

void add_tools_call(CLI::App& tools, Context& context) {
  auto options = std::make_shared<CallOptions>();
  auto* command = tools.add_subcommand(
      "call",
      "one call through the gate: mcpac tools call SERVER.TOOL --grant RULE, and its arguments as "
      "--key value …, as one JSON object, with --arguments or --stdin");
  add_common_options(*command, context);
  command->add_option("TOOL", options->tool, "server.tool")->required();
  command->add_option("--arguments", options->json_arguments, "all arguments as one JSON object")
      ->type_name("JSON");
  command->add_flag("--stdin", options->from_stdin,
                    "all arguments as one JSON object on standard input");
  options->grants = add_grant_options(*command);
  options->approver = add_approver_options(*command);
  // --path ./data and the like belong to the tool; what they may be only its schema knows.
  command->allow_extras();
  command->callback(
      [&context, options, command] { call(context, *options, command->remaining()); });
}

}  // namespace mcpac::cli
