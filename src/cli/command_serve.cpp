// mcpac serve: doors for ordinary MCP clients (docs/gateway.md).
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>

#include <CLI/CLI.hpp>

#include "cli/approver_options.h"
#include "cli/commands.h"
#include "cli/grant_options.h"
#include "cli/run_options.h"
#include "cli/serve_doors.h"
#include "cli/through_host.h"
#include "execute/host/interrupt.h"

namespace mcpac::cli {
namespace {

// A coarse look is enough for what happens once.
constexpr auto kLook = std::chrono::milliseconds(20);

// What a client's program may write before it is ended: its model reads far less.
constexpr std::uint64_t kCodeOutput = std::uint64_t{1} << 20U;

struct ServeOptions {
  std::vector<std::string> http;
  bool stdio = false;
  bool tokens = false;
  std::string names = "dotted";
  execute::RecordingChoice recording;
  bool code = false;
  bool code_only = false;
  std::shared_ptr<std::string> lowest_tier;
  std::shared_ptr<GrantOptions> grants;
  std::shared_ptr<ApproverOptions> approver;
};

gateway::NameForm form_of(const std::string& name) {
  if (name == "plain") return gateway::NameForm::kPlain;
  return name == "bare" ? gateway::NameForm::kBare : gateway::NameForm::kDotted;
}

// The terminal belongs to whoever started us, perhaps a client with a screen of its own. Without a
// command, it is the client that is asked to ask.
Result<execute::MakeApprover> approver_of(const ApproverOptions& options, OutputHold& hold) {
  if (options.command.empty()) return execute::MakeApprover();
  return to_approver(options, hold);
}

Result<void> check(const ServeOptions& options) {
  const bool has_places = !options.grants->files.empty() || !options.grants->networks.empty();
  if (has_places && !options.code && !options.code_only) {
    return fail(ErrorId::kUsage, "--files and --network are for programs that mcpac runs",
                {.why = "a client of its own reads its files and opens its connections without us",
                 .fix = "with --code its programs have them"});
  }
  if (options.tokens && options.http.empty())
    return fail(ErrorId::kUsage, "--tokens is about clients over HTTP",
                {.fix = "--http 127.0.0.1:0"});
  return {};
}

// One line a door for whoever starts clients; the token is nowhere else. With a client at standard
// output, that is standard error.
Result<void> open_doors(ServeDoors& doors, const ServeOptions& options,
                        const std::optional<std::string>& token) {
  const bool stdio = options.stdio || options.http.empty();
  for (const std::string& text : options.http) {
    auto place = parse_http_place(text);
    if (!place) return pass_on(place);
    auto port = doors.open_http(*place);
    if (!port) return pass_on(port);
    const bool is_v6 = place->address.find(':') != std::string::npos;
    const std::string host = is_v6 ? fmt::format("[{}]", place->address) : place->address;
    Json line{{"http", fmt::format("http://{}:{}/mcp", host, *port)}};
    if (token) line["token"] = *token;
    fmt::print(stdio ? stderr : stdout, "{}\n", to_text(line));
  }
  std::fflush(stdout);
  if (stdio) return doors.open_stdio();
  return {};
}

std::optional<gateway::code_mode::Offer> code_of(const ServeOptions& options) {
  if (!options.code && !options.code_only) return std::nullopt;
  gateway::code_mode::Offer offer{.alone = options.code_only, .limits = {}};
  offer.limits.output = kCodeOutput;
  offer.limits.lowest_tier = to_tier(*options.lowest_tier);
  return offer;
}

void serve(Context& context, const ServeOptions& options) {
  const execute::Interrupt interrupt;  // before any thread
  if (auto fits = check(options); !fits) return context.fail(fits.error());
  auto project = context.project();
  if (!project) return context.fail(project.error());
  auto rules = to_layer(*options.grants);
  if (!rules) return context.fail(rules.error());
  OutputHold hold;
  auto approver = approver_of(*options.approver, hold);
  if (!approver) return context.fail(approver.error());
  const bool starts_servers = options.recording.replay.empty();
  const auto visit = starts_servers ? announce_alone(context) : nullptr;
  const auto warning = [&context](std::string_view text) { context.warn(text); };
  auto gateway = gateway::Gateway::open({.project = std::move(*project),
                                         .folders = context.folders,
                                         .names = form_of(options.names),
                                         .approver = std::move(*approver),
                                         .recording = options.recording,
                                         .warning = warning,
                                         .code = code_of(options)});
  if (!gateway) return context.fail(gateway.error());
  // With tokens of their own policies, nobody comes in by what stands on the command line but by
  // saying so.
  const bool one_time = !options.http.empty() && (!options.tokens || options.grants->are_given());
  std::optional<std::string> token;
  if (one_time) token = gateway::new_token();
  std::optional<std::filesystem::path> token_file;
  if (options.tokens) token_file = gateway::token_file(context.folders);
  ServeDoors doors({.gateway = gateway->get(),
                    .rules = std::move(*rules),
                    .one_time_token = token,
                    .token_file = std::move(token_file),
                    .warning = warning});
  if (auto opened = open_doors(doors, options, token); !opened) return context.fail(opened.error());
  while (!doors.all_left() && !interrupt.received()) std::this_thread::sleep_for(kLook);
  const bool asked_to_end = interrupt.received().has_value();
  if (asked_to_end) doors.drain();
  doors.close(asked_to_end ? "asked-to-end" : "client-left");
  if (auto recorded = (*gateway)->end_recording(); !recorded) context.fail(recorded.error());
}

std::shared_ptr<ServeOptions> add_serve_options(CLI::App* command, Context& context) {
  auto options = std::make_shared<ServeOptions>();
  add_common_options(*command, context);
  options->grants = add_grant_options(*command);
  options->approver = add_approver_options(*command);
  command
      ->add_option("--http", options->http,
                   "listen on a loopback ADDRESS:PORT (0: any that is free) instead of standard "
                   "input; several times for several")
      ->type_name("ADDRESS:PORT")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  command->add_flag("--stdio", options->stdio, "beside --http, serve standard input, too");
  command->add_flag("--tokens", options->tokens,
                    "let in whoever has a token of `mcpac token create`, each under its policy");
  command
      ->add_option("--names", options->names,
                   "how tools are called: dotted (server.tool), plain (server__tool, for clients "
                   "that cannot take dots), bare (tool, before one server)")
      ->check(CLI::IsMember({"dotted", "plain", "bare"}))
      ->capture_default_str();
  command->add_flag("--code", options->code,
                    "code mode: also let clients run C++ programs that call what they are granted");
  command->add_flag("--code-only", options->code_only,
                    "the same, without showing the granted tools themselves");
  options->lowest_tier = add_tier_option(*command);
  command->callback([&context, options] { serve(context, *options); });
  return options;
}

}  // namespace

void add_serve(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand(
      "serve", "let ordinary MCP clients call what they are granted: mcpac serve --grant …");
  const auto options = add_serve_options(command, context);
  add_recording_options(*command, options->recording);
}

void add_replay(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand(
      "replay", "stand in the place of recorded servers, as mcpac serve does before real ones");
  const auto options = add_serve_options(command, context);
  command->add_option("FILE", options->recording.replay, "what --record wrote")->required();
}

}  // namespace mcpac::cli
