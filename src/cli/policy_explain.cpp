// SPDX-License-Identifier: Apache-2.0

// mcpac policy explain: what a run with these rules would answer to one call, and why.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <CLI/CLI.hpp>

#include "cli/policy_commands.h"
#include "cli/rule_reader.h"
#include "cli/tool_choice.h"
#include "core/call_arguments.h"
#include "core/printable.h"
#include "core/shell_quote.h"
#include "policy/explain/taken_for.h"
#include "servers/confine/server_places.h"

namespace mcpac::cli {
namespace {

using policy::Explanation;
using policy::RuleStanding;

struct ExplainOptions {
  std::string permission;
  std::string arguments = "{}";
  std::vector<std::string> declared;
  std::shared_ptr<GrantOptions> grants;
};

// Control permissions are no tools, and have no schema.
bool is_control_name(const std::string& text) {
  return text.starts_with("mcpac.");
}

Result<Permission> permission_of(const RuleReader& reader, const std::string& text) {
  if (is_control_name(text)) return Permission::parse(text);
  auto tool = choose_tool(reader.lock(), text);
  if (std::error_code error; !tool && std::filesystem::is_regular_file(text, error))
    return fail(ErrorId::kUsage, fmt::format("{} is a file, and no tool", printable(text, 200)),
                {.why = "explained is one call: its tool, and its arguments in JSON",
                 .fix = fmt::format("mcpac policy explain SERVER.TOOL '{{…}}' --policy {}; its "
                                    "rules alone: mcpac policy check {}",
                                    printable(shell_quoted(text), 200),
                                    printable(shell_quoted(text), 200))});
  if (!tool) return pass_on(tool);
  return Permission::of(tool->server->name, tool->tool->name);
}

// A call of the tool as it is typed here, with its required arguments.
std::string example_of(const RuleReader& reader, const Permission& permission) {
  Json example = Json::object();
  const auto tool = reader.world().tools.find(permission);
  const Json* required =
      tool == reader.world().tools.end() ? nullptr : find_member(tool->second, "required");
  constexpr std::size_t kMostShown = 4;
  if (required != nullptr && required->is_array()) {
    for (const Json& name : *required) {
      if (name.is_string() && example.size() < kMostShown) example[name.get<std::string>()] = "…";
    }
  }
  return fmt::format("mcpac policy explain {} {}", shell_quoted(permission.text()),
                     shell_quoted(to_text(example)));
}

// As the gate takes them: an object, defaults filled in, as the locked schema wants it.
Result<Json> arguments_of(const RuleReader& reader, const policy::Authority& authority,
                          const Permission& permission, const std::string& text) {
  auto arguments = parse_call(text, "JSON");
  if (!arguments) {
    Error error = arguments.error();
    if (error.why.empty()) error.why = "the arguments of a call are one JSON object";
    if (error.fix.empty()) error.fix = "e.g. " + printable(example_of(reader, permission), 400);
    return std::unexpected(std::move(error));
  }
  const auto invalid = [&](const std::string& why) {
    return fail(ErrorId::kCallInvalid,
                fmt::format("{} does not take these arguments", printable(permission.text())),
                {.why = why + "; such a call is refused before any rule is asked",
                 .fix = fmt::format("mcpac tools describe {}",
                                    printable(shell_quoted(permission.text()), 400))});
  };
  if (!arguments->is_object()) return invalid("they are not a JSON object");
  const auto tool = reader.world().tools.find(permission);
  if (tool == reader.world().tools.end()) return arguments;
  auto schema = JsonSchema::compile(tool->second, UncheckablePatterns::kLeave);
  if (!schema) return pass_on(schema);
  if (const auto violation = authority.complete(permission, **schema, *arguments)) {
    const std::string place = violation->pointer.empty() ? "the object" : violation->pointer;
    return invalid(printable(place + " " + violation->message));
  }
  return arguments;
}

std::string meters_text(const RuleStanding& rule) {
  std::string text;
  for (const auto& meter : rule.meters) {
    const bool is_end = meter.meter == "until";
    text += fmt::format("{}{} {}{}", text.empty() ? " [" : ", ", meter.meter,
                        is_end ? "" : meter.used + " of ", meter.limit);
  }
  return text.empty() ? text : text + ", per run]";
}

void print_rule(const RuleStanding& rule) {
  const char* word = rule.kind == RuleStanding::Kind::kMatches  ? "matches"
                     : rule.kind == RuleStanding::Kind::kUsedUp ? "used up"
                                                                : "misses ";
  fmt::print("  {}  {}: {}{}\n", word, printable_in_place(rule.place),
             printable_in_place(rule.rule), meters_text(rule));
  if (!rule.why.empty()) fmt::print("           {}\n", printable_in_place(rule.why));
}

// A text that may be a path and is no whole one.
bool has_relative_text(const Json& value) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    return !text.starts_with('/') && !text.starts_with('~') && !text.contains("://");
  }
  return value.is_structured() && std::ranges::any_of(value, has_relative_text);
}

void print_paths(const policy::PathReading& paths) {
  fmt::print("\nrelative paths: an allow reads them below {}",
             printable_in_place(paths.admit_base));
  for (const auto& folder : paths.further_bases)
    fmt::print(" and below {}", printable_in_place(folder));
  if (paths.catch_bases.empty()) {
    fmt::print(
        "; every deny and ask of a path catches them, for where the server reads them is "
        "not known\n");
  } else {
    fmt::print(", a deny or ask below {}\n",
               printable_in_place(fmt::format("{}", fmt::join(paths.catch_bases, " and "))));
  }
  if (paths.lexical_only)
    fmt::print(
        "lexical decision only: the server's files are on another machine, so links are "
        "not followed\n");
}

void print_for_people(const Permission& permission, const Json& arguments,
                      const Explanation& explanation) {
  const auto& decision = explanation.decision;
  fmt::print("{} {}\n", printable_in_place(permission.text()),
             printable_in_place(to_text(arguments)));
  const std::string by = decision.rule.empty() || decision.place.empty()
                             ? ""
                             : fmt::format(" [{}: {}]", decision.place, decision.rule);
  const std::string& why = decision.remark.empty() ? decision.reason : decision.remark;
  const std::string reason = why.empty() ? "" : ": " + why;
  fmt::print("{}{}{}\n", to_string(decision.effect), printable_in_place(reason),
             printable_in_place(by));
  const std::string path = policy::taken_for(permission, explanation);
  if (!path.empty()) fmt::print("path: {}\n", printable_in_place(path));
  for (const auto& layer : explanation.layers) {
    fmt::print("\n{}: {}\n", printable_in_place(layer.name), to_string(layer.effect));
    if (layer.rules.empty()) fmt::print("  no rule speaks of this tool\n");
    for (const auto& rule : layer.rules) print_rule(rule);
  }
  // What "path:" says of this call is not said again of all.
  if (explanation.paths && path.empty() && has_relative_text(arguments))
    print_paths(*explanation.paths);
  if (!decision.no_grant.empty())
    fmt::print("no --grant is suggested: {}\n", printable_in_place(decision.no_grant));
  if (decision.would_grant.empty()) return;
  const std::string fix = decision.would_grant.starts_with("--")  // of a place: the whole option
                              ? decision.would_grant
                              : "--grant " + shell_quoted(decision.would_grant);
  fmt::print("\nfix: {}\n", printable_in_place(fix));
}

std::unexpected<Error> no_destination() {
  return fail(ErrorId::kCallInvalid, "mcpac.network is asked about one host and port",
              {.fix = R"(e.g. '{"host": "api.example.com", "port": 443}')"});
}

// A connection, and what each address of its host would be answered is not known before it is
// looked up.
Result<policy::Explanation> explain_network(const policy::Authority& authority, const Json& json) {
  const Json* port = find_member(json, "port");
  const std::string host = string_member(json, "host");
  if (host.empty() || json.size() != 2 || port == nullptr || !port->is_number_unsigned() ||
      port->get<std::uint64_t>() > 65'535)
    return no_destination();
  const auto answer = authority.decide_network(host, port->get<std::uint16_t>());
  policy::Explanation explanation;
  explanation.decision.effect = answer.allowed ? policy::Effect::kAllow : policy::Effect::kDeny;
  explanation.decision.reason = answer.reason;
  explanation.decision.place = answer.said_in;
  explanation.decision.layer = answer.layer;
  explanation.decision.would_grant = answer.would_grant;
  return explanation;
}

Result<policy::Explanation> explanation_of(const policy::Authority& authority,
                                           const Permission& permission, const Json& arguments) {
  if (permission.text() == policy::kNetworkPermission) return explain_network(authority, arguments);
  return authority.explain(permission, arguments);
}

// What the tool's server would be given for a run with these rules, where it is confined.
Json places_of(const Context& context, const RuleReader& reader, const policy::Authority& authority,
               const Permission& permission) {
  auto all =
      servers::places_of_servers(reader.project(), context.folders, reader.lock(), authority);
  std::erase_if(all, [&](const auto& entry) { return entry.first != permission.server(); });
  return servers::to_json(all);
}

void explain(Context& context, const ExplainOptions& options) {
  auto reader = RuleReader::open(context);
  if (!reader) return context.fail(reader.error());
  auto permission = permission_of(**reader, options.permission);
  if (!permission) return context.fail(permission.error());
  auto authority = (*reader)->run(*options.grants, options.declared);
  if (!authority) return context.fail(authority.error());
  auto arguments = arguments_of(**reader, *authority, *permission, options.arguments);
  if (!arguments) return context.fail(arguments.error());
  const auto found = explanation_of(*authority, *permission, *arguments);
  if (!found) return context.fail(found.error());
  const auto& explanation = *found;
  const Json places = places_of(context, **reader, *authority, *permission);
  if (context.json) {
    Json json = policy::to_json(explanation);
    json["permission"] = permission->text();
    json["arguments"] = *arguments;
    json["server_places"] = places;
    context.print(json);
  } else {
    print_for_people(*permission, *arguments, explanation);
    const auto lines = servers::lines_of_places(places);
    if (!lines.empty()) fmt::print("\nplaces of confined servers\n");
    for (const std::string& line : lines) fmt::print("  {}\n", line);
  }
  context.exit_code = explanation.decision.allowed() ? 0 : static_cast<int>(ExitCode::kRefused);
}

}  // namespace

void add_policy_explain(CLI::App& policy, Context& context) {
  auto options = std::make_shared<ExplainOptions>();
  auto* command = policy.add_subcommand(
      "explain",
      "what a run with these rules answers to one call, and every rule's part in it; exit 77 "
      "unless it is allowed");
  add_common_options(*command, context);
  command->add_option("PERMISSION", options->permission, "server.tool")->required();
  command->add_option("JSON", options->arguments, "the arguments, an object")
      ->capture_default_str();
  command
      ->add_option("--declared", options->declared,
                   "what the program declares, as --grant takes it: a layer of its own, which a "
                   "call needs as well")
      ->type_name("RULE");
  options->grants = add_grant_options(*command);
  command->callback([&context, options] { explain(context, *options); });
}

}  // namespace mcpac::cli
