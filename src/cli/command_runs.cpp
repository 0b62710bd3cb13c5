// SPDX-License-Identifier: Apache-2.0

// mcpac runs: what runs now, and taking back what it may do.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "core/printable.h"
#include "core/quantity.h"
#include "run/live/live_runs.h"
#include "servers/confine/server_places.h"

namespace mcpac::cli {
namespace {

std::vector<std::string> texts_of(const Json& json, const char* name) {
  std::vector<std::string> texts;
  if (const Json* list = find_member(json, name); list != nullptr && list->is_array()) {
    for (const Json& text : *list) {
      if (text.is_string()) texts.push_back(printable(text.get<std::string>()));
    }
  }
  return texts;
}

std::uint64_t number_of(const Json& json, const char* name) {
  const Json* value = find_member(json, name);
  return value != nullptr && value->is_number_unsigned() ? value->get<std::uint64_t>() : 0;
}

std::string line_of(const Json& run) {
  return fmt::format("{}  {}  {}: {} allowed, {} denied, {} in flight{}", string_member(run, "run"),
                     string_member(run, "started").substr(0, 19) + "Z",
                     printable(string_member(run, "program"), 80), number_of(run, "allowed"),
                     number_of(run, "denied"), number_of(run, "in_flight"),
                     find_member(run, "question")->is_null() ? "" : ", a question waits");
}

// A run that ended while it was asked is not live any more, and no error.
void list_runs(Context& context) {
  const auto ids = run::live_runs(context.folders.runs());
  if (!ids) return context.fail(ids.error());
  Json all = Json::array();
  for (const std::string& id : *ids) {
    auto run = run::ask_live_run(context.folders.runs(), id, {{"do", "show"}});
    if (!run || find_member(*run, "question") == nullptr) continue;
    if (!context.json) fmt::print("{}\n", line_of(*run));
    all.push_back(std::move(*run));
  }
  if (context.json) return context.print(all);
  if (all.empty()) context.say("no run is live");
}

std::optional<Json> asked(Context& context, const std::string& start, const Json& request) {
  const auto id = run::find_live_run(context.folders.runs(), start);
  if (!id) {
    context.fail(id.error());
    return std::nullopt;
  }
  auto answer = run::ask_live_run(context.folders.runs(), *id, request);
  if (!answer) {
    context.fail(answer.error());
    return std::nullopt;
  }
  return std::move(*answer);
}

void show_list(const char* title, const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  fmt::print("{}\n", title);
  for (const auto& text : texts) fmt::print("  {}\n", text);
}

void show(Context& context, const std::string& start) {
  const auto run = asked(context, start, {{"do", "show"}});
  if (!run) return;
  if (context.json) return context.print(*run);
  fmt::print("run      {}\nprogram  {}\nstarted  {}\nprocess  {}\n", string_member(*run, "run"),
             printable(string_member(*run, "program")), string_member(*run, "started"),
             number_of(*run, "pid"));
  fmt::print("calls    {} allowed, {} denied, {} in flight\n", number_of(*run, "allowed"),
             number_of(*run, "denied"), number_of(*run, "in_flight"));
  if (string_member(*run, "mode") == "observe")
    fmt::print("NOT CHECKED  calls that were not granted are made: --no-permission-check, by {}\n",
               printable(string_member(*run, "lifted_by")));
  show_list("declared", texts_of(*run, "declared"));
  show_list("granted", texts_of(*run, "granted"));
  show_list("revoked", texts_of(*run, "revoked"));
  if (const Json* places = find_member(*run, "server_places"); places != nullptr)
    show_list("places of confined servers", servers::lines_of_places(*places));
  if (const Json* meters = find_member(*run, "meters"); meters != nullptr && meters->is_array()) {
    for (const Json& meter : *meters)
      fmt::print("meter    {} {} of {}: {}\n", printable(string_member(meter, "meter")),
                 printable(string_member(meter, "used")), printable(string_member(meter, "limit")),
                 printable(string_member(meter, "rule")));
  }
  if (const Json* calls = find_member(*run, "calls"); calls != nullptr && calls->is_array()) {
    for (const Json& call : *calls)
      fmt::print("in flight for {} ms: {}\n", number_of(call, "ms"),
                 printable(string_member(call, "permission")));
  }
  const Json* question = find_member(*run, "question");
  if (question != nullptr && question->is_object())
    fmt::print("asks for {} ({} in all)\n", printable(string_member(*question, "permission")),
               counted(number_of(*run, "questions"), "question"));
}

void act(Context& context, const std::string& start, const Json& request) {
  const auto answer = asked(context, start, request);
  if (!answer) return;
  if (context.json) return context.print(*answer);
  const std::string what = string_member(*answer, "revoked");
  context.say(fmt::format("{}: revoked {}; ended: {} and {}{}",
                          string_member(*answer, "run").substr(0, 13),
                          what == "*" ? "everything" : printable(what),
                          counted(number_of(*answer, "cancelled_calls"), "call"),
                          counted(number_of(*answer, "cancelled_questions"), "question"),
                          answer->contains("killed") ? "; killed" : ""));
}

}  // namespace

void add_runs(CLI::App& app, Context& context) {
  auto* runs = app.add_subcommand("runs", "live runs: what they do, and taking back what they may");
  runs->require_subcommand(1);
  add_common_options(*runs, context);
  const auto add = [&](const char* name, const char* help) {
    auto* command = runs->add_subcommand(name, help);
    add_common_options(*command, context);
    return command;
  };
  add("list", "the runs that are live now, oldest first")->callback([&context] {
    list_runs(context);
  });
  const auto id = std::make_shared<std::string>();
  const auto permission = std::make_shared<std::string>();
  const auto wants_run = [&id](CLI::App* command) {
    command->add_option("RUN", *id, "the run's id; the start of it is enough")->required();
    return command;
  };
  wants_run(add("show", "one run: what it declares and holds, its calls, its question"))
      ->callback([&context, id] { show(context, *id); });
  auto* revoke = wants_run(
      add("revoke", "takes a permission back, or all of them: calls in flight are cancelled"));
  revoke->add_option("PERMISSION", *permission, "server.tool; without it, everything");
  revoke->callback([&context, id, permission] {
    act(context, *id, {{"do", "revoke"}, {"permission", *permission}});
  });
  wants_run(add("kill", "revokes everything and ends the program"))->callback([&context, id] {
    act(context, *id, {{"do", "kill"}});
  });
}

}  // namespace mcpac::cli
