// mcpac serve: doors for ordinary MCP clients (docs/gateway.md).
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>
#include <utility>

#include <CLI/CLI.hpp>

#include "cli/approver_options.h"
#include "cli/commands.h"
#include "cli/grant_options.h"
#include "cli/open_files.h"
#include "cli/run_options.h"
#include "cli/serve_doors.h"
#include "cli/serve_log.h"
#include "cli/through_host.h"
#include "execute/check/authorities.h"
#include "execute/child/interrupt.h"

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
  std::string tls_certificate;
  std::string tls_key;
  std::vector<std::string> hosts;
  std::string issuer;
  std::string audience;
  std::string keys;
  std::vector<std::string> scopes;
  std::string metrics;
  std::string log_format = "text";
  std::string otlp;
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

// Who comes from another machine has a token of their own: the one that is printed is for whoever
// started mcpac.
Result<void> check_places(const ServeOptions& options) {
  for (const std::string& text : options.http) {
    auto place = parse_http_place(text);
    if (!place) return pass_on(place);
    if (place->is_loopback) continue;
    if (!options.tokens && options.issuer.empty())
      return fail(ErrorId::kUsage, fmt::format("--http {} is no loopback address", text),
                  {.why = "other machines are let in with tokens of their own alone",
                   .fix = "--tokens or --oauth-issuer, or --http 127.0.0.1:PORT"});
    if (place->is_everywhere && options.hosts.empty())
      return fail(ErrorId::kUsage, fmt::format("--http {} wants the name of this machine", text),
                  {.why = "requests that name somebody else are refused (DNS rebinding)",
                   .fix = "--host NAME"});
  }
  return {};
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
  if (options.tls_certificate.empty() != options.tls_key.empty())
    return fail(ErrorId::kUsage, "--tls-cert and --tls-key go together");
  if ((!options.tls_key.empty() || !options.hosts.empty()) && options.http.empty())
    return fail(ErrorId::kUsage, "--tls-cert and --host are about clients over HTTP",
                {.fix = "--http ADDRESS:PORT"});
  const bool is_oauth = !options.issuer.empty();
  if (is_oauth != !options.audience.empty() ||
      (!is_oauth && (!options.keys.empty() || !options.scopes.empty())))
    return fail(ErrorId::kUsage, "--oauth-issuer, --oauth-audience and --scope go together");
  if (is_oauth && options.http.empty())
    return fail(ErrorId::kUsage, "--oauth-issuer is about clients over HTTP",
                {.fix = "--http ADDRESS:PORT"});
  return check_places(options);
}

Result<std::optional<gateway::oauth::OauthSettings>> oauth_of(const ServeOptions& options) {
  if (options.issuer.empty()) return std::nullopt;
  gateway::oauth::OauthSettings settings{
      .issuer = options.issuer, .audience = options.audience, .keys = options.keys, .scopes = {}};
  for (const std::string& text : options.scopes) {
    const auto equals = text.find('=');
    const std::string file = equals == std::string::npos ? "" : text.substr(equals + 1);
    std::error_code ignored;
    const auto whole = std::filesystem::absolute(file, ignored);
    if (file.empty() || !settings.scopes.emplace(text.substr(0, equals), whole).second)
      return fail(ErrorId::kUsage,
                  fmt::format("--scope wants NAME=FILE, once a name, not '{}'", text));
    if (auto rules = execute::read_rules(whole); !rules) return pass_on(rules);
  }
  if (auto fits = gateway::oauth::check(settings); !fits) return pass_on(fits);
  return settings;
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
    const bool has_name = !options.hosts.empty() && !place->is_loopback;
    Json line{{"http", fmt::format("{}://{}:{}/mcp", options.tls_key.empty() ? "http" : "https",
                                   has_name ? options.hosts.front() : host, *port)}};
    // Elsewhere it opens nothing.
    if (token && place->is_loopback) line["token"] = *token;
    fmt::print(stdio ? stderr : stdout, "{}\n", to_text(line));
  }
  if (!options.metrics.empty()) {
    auto place = parse_http_place(options.metrics);
    if (!place) return pass_on(place);
    auto port = doors.open_metrics(*place);
    if (!port) return pass_on(port);
    const bool is_v6 = place->address.find(':') != std::string::npos;
    const std::string host = is_v6 ? fmt::format("[{}]", place->address) : place->address;
    const Json line{{"metrics", fmt::format("http://{}:{}/metrics", host, *port)}};
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

Result<std::optional<gateway::tracing::Settings>> tracing_of(const ServeOptions& options,
                                                             ServeLog& log) {
  if (options.otlp.empty()) return std::nullopt;
  auto settings =
      gateway::tracing::read_settings(options.otlp, gateway::tracing::variable_of_process);
  if (settings && !*settings) log.warn("--otlp does nothing: OTEL_SDK_DISABLED is true");
  return settings;
}

// A descriptor a connection: with too few of them, fewer connections are let in, and that is said.
void fit_connections(ServeLog& log, std::size_t doors, gateway::http::HttpLimits& limits) {
  if (doors == 0) return;
  const std::size_t wanted = limits.max_connections;
  limits.max_connections = make_room_for_connections(doors, wanted);
  if (limits.max_connections == wanted) return;
  // A guest's share of them stays three quarters.
  limits.max_guest_connections = limits.max_connections * 3 / 4;
  log.warn(fmt::format("the limit on open files (ulimit -n) has room for {} connections{}, not {}",
                       limits.max_connections, doors > 1 ? " a door" : "", wanted));
}

// SIGHUP is also how a terminal says that it goes, and with it whoever started us there.
bool has_terminal() {
  return static_cast<bool>(UniqueFd(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)));
}

void reload(ServeLog& log, const ServeOptions& options, ServeDoors& doors) {
  auto rules = to_layer(*options.grants);
  const auto done = rules ? doors.reload(std::move(*rules)) : Result<void>(pass_on(rules));
  if (done)
    log.info("reloaded: rules and certificate, for new connections");
  else
    log.warn(fmt::format("nothing was reloaded: {}", done.error().to_text()));
}

void serve(Context& context, const ServeOptions& options) {
  const execute::Interrupt interrupt;  // before any thread
  if (auto fits = check(options); !fits) return context.fail(fits.error());
  auto project = context.project();
  if (!project) return context.fail(project.error());
  auto rules = to_layer(*options.grants);
  if (!rules) return context.fail(rules.error());
  auto oauth = oauth_of(options);
  if (!oauth) return context.fail(oauth.error());
  OutputHold hold;
  auto approver = approver_of(*options.approver, hold);
  if (!approver) return context.fail(approver.error());
  const bool starts_servers = options.recording.replay.empty();
  const auto visit = starts_servers ? announce_alone(context) : nullptr;
  ServeLog log(context, options.log_format == "json" ? LogFormat::kJson : LogFormat::kText);
  const auto warning = [&log](std::string_view text) { log.warn(text); };
  auto tracing = tracing_of(options, log);
  if (!tracing) return context.fail(tracing.error());
  auto gateway = gateway::Gateway::open({.project = std::move(*project),
                                         .folders = context.folders,
                                         .names = form_of(options.names),
                                         .approver = std::move(*approver),
                                         .recording = options.recording,
                                         .warning = warning,
                                         .code = code_of(options),
                                         .tracing = std::move(*tracing)});
  if (!gateway) return context.fail(gateway.error());
  // With tokens of their own policies, nobody comes in by what stands on the command line but by
  // saying so.
  const bool has_own = options.tokens || !options.issuer.empty();
  const bool one_time = !options.http.empty() && (!has_own || options.grants->are_given());
  std::optional<std::string> token;
  if (one_time) token = gateway::new_token();
  std::optional<std::filesystem::path> token_file;
  if (options.tokens) token_file = gateway::token_file(context.folders);
  std::optional<gateway::http::TlsFiles> tls;
  if (!options.tls_key.empty())
    tls = gateway::http::TlsFiles{options.tls_certificate, options.tls_key};
  gateway::http::HttpLimits limits;
  fit_connections(log, options.http.size(), limits);
  ServeDoors doors({.gateway = gateway->get(),
                    .rules = std::move(*rules),
                    .one_time_token = token,
                    .token_file = std::move(token_file),
                    .warning = warning,
                    .limits = limits,
                    .tls = std::move(tls),
                    .hosts = options.hosts,
                    .oauth = std::move(*oauth)});
  if (auto opened = open_doors(doors, options, token); !opened) {
    doors.close("gateway-ended");
    gateway->reset();  // before the doors: what waits on its loop comes back to them
    return context.fail(opened.error());
  }
  const bool had_terminal = has_terminal();
  bool reloads = false;  // at SIGHUP, instead of ending
  // A SIGHUP that came while the last was seen to is for the next look.
  const auto is_to_end = [&] {
    return (reloads ? interrupt.received_but_hangup() : interrupt.received()).has_value();
  };
  while (!doors.all_left()) {
    reloads = !options.http.empty() && (!had_terminal || has_terminal());
    if (reloads && interrupt.take(SIGHUP)) reload(log, options, doors);
    if (is_to_end()) break;
    std::this_thread::sleep_for(kLook);
  }
  const bool asked_to_end = is_to_end();
  if (asked_to_end) doors.drain();
  doors.close(asked_to_end ? "asked-to-end" : "client-left");
  (*gateway)->end_tracing();
  if (auto recorded = (*gateway)->end_recording(); !recorded) context.fail(recorded.error());
  gateway->reset();
}

std::shared_ptr<ServeOptions> add_serve_options(CLI::App* command, Context& context) {
  auto options = std::make_shared<ServeOptions>();
  add_common_options(*command, context);
  options->grants = add_grant_options(*command);
  options->approver = add_approver_options(*command);
  command
      ->add_option("--http", options->http,
                   "listen on ADDRESS:PORT (0: any that is free), without TLS a loopback address, "
                   "instead of standard input; several times for several")
      ->type_name("ADDRESS:PORT")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  command->add_flag("--stdio", options->stdio, "beside --http, serve standard input, too");
  command->add_flag("--tokens", options->tokens,
                    "let in whoever has a token of `mcpac token create`, each under its policy");
  command
      ->add_option("--tls-cert", options->tls_certificate,
                   "TLS with this certificate, its chain behind it (PEM)")
      ->type_name("FILE");
  command->add_option("--tls-key", options->tls_key, "and its key, which nobody else may read")
      ->type_name("FILE");
  command
      ->add_option("--host", options->hosts,
                   "a name by which clients call this machine, beside the address; several times "
                   "for several")
      ->type_name("NAME")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  command
      ->add_option("--oauth-issuer", options->issuer,
                   "let in whoever has an access token of this issuer, by its scopes")
      ->type_name("URL");
  command
      ->add_option("--oauth-audience", options->audience,
                   "the URL by which clients know this server: tokens must be for it")
      ->type_name("URL");
  command
      ->add_option("--oauth-jwks", options->keys,
                   "the issuer's keys, instead of those that it publishes")
      ->type_name("FILE");
  command
      ->add_option("--scope", options->scopes,
                   "what a scope of such a token is worth: a policy; several times for several")
      ->type_name("NAME=FILE")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  command
      ->add_option("--log-format", options->log_format,
                   "of what is said on standard error: text, or json, an object a line")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command
      ->add_option("--metrics", options->metrics,
                   "figures for Prometheus at /metrics of a loopback ADDRESS:PORT")
      ->type_name("ADDRESS:PORT");
  command
      ->add_option("--otlp", options->otlp,
                   "send traces to this collector over OTLP/HTTP (http://127.0.0.1:4318), or to "
                   "the one of OTEL_EXPORTER_OTLP_ENDPOINT (env)")
      ->type_name("URL|env");
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
