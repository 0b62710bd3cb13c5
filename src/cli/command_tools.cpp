#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/grant_options.h"
#include "codegen/arguments.h"
#include "codegen/describe.h"
#include "codegen/search.h"
#include "core/file.h"
#include "core/printable.h"
#include "execute/call_tool.h"

namespace mcpac::cli {
namespace {

constexpr std::size_t kMaxArguments = std::size_t{16} << 20U;

Result<codegen::Lock> lock_of(Context& context) {
  auto project = context.project();
  if (!project) return pass_on(project);
  return execute::load_lock(*project);
}

std::string first_line(const OrderedJson& definition) {
  const auto found = definition.find("description");
  if (found == definition.end() || !found->is_string()) return "";
  std::string text = found->get<std::string>();
  text = text.substr(0, text.find('\n'));
  return printable(text, 90);  // the server's own text
}

void show_tools(
    Context& context,
    const std::vector<std::pair<const codegen::LockedServer*, const codegen::LockedTool*>>& tools) {
  Json all = Json::array();
  for (const auto& [server, tool] : tools) {
    const std::string name = server->name + "." + tool->name;
    if (context.json) {
      all.push_back({{"permission", name},
                     {"cpp", tool->cpp_name},
                     {"digest", tool->digest},
                     {"description", first_line(tool->definition)}});
    } else {
      fmt::print("{:<44} {}\n", printable(name), first_line(tool->definition));
    }
  }
  if (context.json) context.print(all);
}

void list(Context& context) {
  auto lock = lock_of(context);
  if (!lock) return context.fail(lock.error());
  std::vector<std::pair<const codegen::LockedServer*, const codegen::LockedTool*>> tools;
  for (const auto& server : lock->servers) {
    for (const auto& tool : server.tools) tools.emplace_back(&server, &tool);
  }
  show_tools(context, tools);
}

// The locked tool, or an error that names the nearest ones.
Result<std::pair<const codegen::LockedServer*, const codegen::LockedTool*>> find(
    const codegen::Lock& lock, const std::string& name) {
  auto permission = Permission::parse(name);
  if (!permission) return pass_on(permission);
  const auto* server = lock.find_server(permission->server());
  const auto* tool = lock.find_tool(permission->server(), permission->tool());
  if (tool != nullptr) return std::pair{server, tool};
  std::vector<std::string> near;
  for (const auto& hit : codegen::search_tools(lock, permission->tool(), 3))
    near.push_back(hit.server->name + "." + hit.tool->name);
  return fail(ErrorId::kUnknownTool, fmt::format("mcpac.lock has no tool {}", name),
              {.fix = near.empty() ? "mcpac tools list"
                                   : fmt::format("did you mean {}?", fmt::join(near, ", "))});
}

void describe(Context& context, const std::string& name) {
  auto lock = lock_of(context);
  if (!lock) return context.fail(lock.error());
  auto found = find(*lock, name);
  if (!found) return context.fail(found.error());
  const auto& [server, tool] = *found;
  const std::string text = codegen::describe_tool(*server, *tool);
  if (!context.json) {
    fmt::print("{}", text);
    return;
  }
  context.print({{"permission", name},
                 {"cpp", tool->cpp_name},
                 {"digest", tool->digest},
                 {"text", text},
                 {"definition", Json(tool->definition)}});
}

void search(Context& context, const std::vector<std::string>& words) {
  auto lock = lock_of(context);
  if (!lock) return context.fail(lock.error());
  std::vector<std::pair<const codegen::LockedServer*, const codegen::LockedTool*>> tools;
  for (const auto& hit : codegen::search_tools(*lock, fmt::format("{}", fmt::join(words, " ")), 20))
    tools.emplace_back(hit.server, hit.tool);
  if (tools.empty() && !context.json) context.say("no tool matches");
  show_tools(context, tools);
}

struct CallOptions {
  std::string tool;
  std::string json_arguments;
  bool from_stdin = false;
  std::shared_ptr<GrantOptions> grants;
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

// Arguments from exactly one place: --arguments, --stdin, or --key value pairs after the tool.
Result<Json> arguments_of(const CallOptions& options, const std::vector<std::string>& pairs,
                          const codegen::LockedTool& tool) {
  const int places = (options.json_arguments.empty() ? 0 : 1) + (options.from_stdin ? 1 : 0) +
                     (pairs.empty() ? 0 : 1);
  if (places > 1)
    return fail(ErrorId::kUsage,
                "the arguments come from one place: --arguments, --stdin, or --key value");
  if (!options.json_arguments.empty()) return parse_json(options.json_arguments, "--arguments");
  if (!options.from_stdin) return codegen::arguments_from(tool, typed(pairs));
  auto text = read_descriptor(0, "standard input", kMaxArguments);
  if (!text) return pass_on(text);
  return parse_json(*text, "standard input");
}

// Text content as text; everything else as JSON.
void show_result(Context& context, const Json& result) {
  const Json* is_error = find_member(result, "isError");
  const bool failed = is_error != nullptr && is_error->is_boolean() && is_error->get<bool>();
  if (failed) context.exit_code = static_cast<int>(ExitCode::kUnavailable);
  if (context.json) return context.print(result);
  if (const Json* content = find_member(result, "content");
      content != nullptr && content->is_array()) {
    for (const Json& item : *content) {
      const bool is_text = string_member(item, "type") == "text";
      fmt::print(failed ? stderr : stdout, "{}\n",
                 is_text ? string_member(item, "text") : to_text(item));
    }
  }
  if (failed) context.fail({ErrorId::kToolError, "the tool answered that it failed", "", "", ""});
}

void call(Context& context, const CallOptions& options, const std::vector<std::string>& pairs) {
  auto project = context.project();
  if (!project) return context.fail(project.error());
  auto lock = execute::load_lock(*project);
  if (!lock) return context.fail(lock.error());
  auto found = find(*lock, options.tool);
  if (!found) return context.fail(found.error());
  auto arguments = arguments_of(options, pairs, *found->second);
  if (!arguments) return context.fail(arguments.error());
  auto layer = to_layer(*options.grants);
  if (!layer) return context.fail(layer.error());
  auto permission = Permission::parse(options.tool);
  auto result = execute::call_tool(*project, context.folders, *permission, std::move(*arguments),
                                   std::move(*layer));
  if (!result) return context.fail(result.error());
  show_result(context, *result);
}

void add_call(CLI::App& tools, Context& context) {
  auto options = std::make_shared<CallOptions>();
  auto* command = tools.add_subcommand(
      "call", "one call through the gate: SERVER.TOOL --grant … --key value …");
  add_common_options(*command, context);
  command->add_option("TOOL", options->tool, "server.tool")->required();
  command->add_option("--arguments", options->json_arguments, "all arguments as one JSON object")
      ->type_name("JSON");
  command->add_flag("--stdin", options->from_stdin,
                    "all arguments as one JSON object on standard input");
  options->grants = add_grant_options(*command);
  // --path ./data and the like belong to the tool; what they may be only its schema knows.
  command->allow_extras();
  command->callback(
      [&context, options, command] { call(context, *options, command->remaining()); });
}

}  // namespace

void add_tools(CLI::App& app, Context& context) {
  auto* tools = app.add_subcommand("tools", "the approved tools (mcpac.lock), and single calls");
  tools->require_subcommand(1);
  auto* listing = tools->add_subcommand("list", "every locked tool");
  add_common_options(*listing, context);
  listing->callback([&context] { list(context); });
  auto name = std::make_shared<std::string>();
  auto* description = tools->add_subcommand("describe", "the C++ that calls a tool");
  add_common_options(*description, context);
  description->add_option("TOOL", *name, "server.tool")->required();
  description->callback([&context, name] { describe(context, *name); });
  auto words = std::make_shared<std::vector<std::string>>();
  auto* searching = tools->add_subcommand("search", "find tools by words");
  add_common_options(*searching, context);
  searching->add_option("WORDS", *words)->required();
  searching->callback([&context, words] { search(context, *words); });
  add_call(*tools, context);
}

}  // namespace mcpac::cli
