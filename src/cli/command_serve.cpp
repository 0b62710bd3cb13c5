// SPDX-License-Identifier: Apache-2.0

// mcpac serve: doors for ordinary MCP clients (docs/gateway.md).
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include <CLI/CLI.hpp>

#include "cli/approver_options.h"
#include "cli/commands.h"
#include "cli/context.h"
#include "cli/open_files.h"
#include "cli/persons_word.h"
#include "cli/serve_doors.h"
#include "cli/serve_options.h"
#include "cli/settings.h"
#include "cli/through_host.h"
#include "core/interrupt.h"
#include "core/json.h"
#include "core/rfc3339.h"
#include "core/shell_quote.h"
#include "project/files/obeyed_commands.h"
#include "run/check/authorities.h"
#include "run/check/require_granted.h"
#include "sandbox/sandbox.h"
#include "servers/confine/confine_servers.h"
#include "servers/tool_tables.h"

namespace mcpac::cli {
namespace {

// ServeLog: log of `mcpac serve` for its operator, on standard error: lines for people, or one
// JSON object a line ({"time", "level", "message"}) for a collector of logs.
//
// It says nothing of calls: that is the audit log's. Nothing of a token is ever said. From any
// thread.
enum class LogFormat : std::uint8_t { kText, kJson };

class ServeLog {
 public:
  // `context` is borrowed.
  ServeLog(const Context& context, LogFormat format) : context_(context), format_(format) {}
  void info(std::string_view text);
  void warn(std::string_view text);

 private:
  void write(std::string_view level, std::string_view text);

  const Context& context_;
  LogFormat format_;
  std::mutex one_line_;
};

void ServeLog::info(std::string_view text) {
  if (format_ == LogFormat::kJson) return write("info", text);
  const std::scoped_lock lock(one_line_);
  context_.say(text);
}

void ServeLog::warn(std::string_view text) {
  if (format_ == LogFormat::kJson) return write("warning", text);
  const std::scoped_lock lock(one_line_);
  context_.warn(text);
}

void ServeLog::write(std::string_view level, std::string_view text) {
  const Json line{
      {"time", rfc3339_utc(std::chrono::system_clock::now())}, {"level", level}, {"message", text}};
  const std::scoped_lock lock(one_line_);
  fmt::print(stderr, "{}\n", to_text(line));
  std::fflush(stderr);
}

}  // namespace

namespace {

// A coarse look is enough for what happens once.
constexpr auto kLook = std::chrono::milliseconds(20);

// The terminal belongs to the process that started us, perhaps a client with a screen of its own.
// Without a command, it is the client that is asked to ask.
Result<run::MakeApprover> approver_of(const ApproverOptions& options, OutputHold& hold) {
  if (options.command.empty()) return run::MakeApprover();
  return to_approver(options, hold);
}

std::string host_in_url(const HttpPlace& place) {
  const bool is_v6 = place.address.find(':') != std::string::npos;
  return is_v6 ? fmt::format("[{}]", place.address) : place.address;
}

// One line a door for the starter of clients; the token is nowhere else. With a client at standard
// output, that is standard error.
Result<void> open_doors(ServeDoors& doors, const ServeOptions& options,
                        const std::optional<std::string>& token) {
  const bool stdio = options.stdio || options.http.empty();
  for (const std::string& text : options.http) {
    auto place = parse_http_place(text);
    if (!place) return pass_on(place);
    auto port = doors.open_http(*place);
    if (!port) return pass_on(port);
    const std::string host = host_in_url(*place);
    const bool has_name = !options.hosts.empty() && !place->is_loopback;
    Json line{{"http", fmt::format("{}://{}:{}/mcp", options.tls_key.empty() ? "http" : "https",
                                   has_name ? options.hosts.front() : host, *port)}};
    if (!options.public_urls.empty()) line["public"] = options.public_urls;
    // Elsewhere it opens nothing.
    if (token && place->is_loopback) line["token"] = *token;
    fmt::print(stdio ? stderr : stdout, "{}\n", to_text(line));
  }
  if (!options.metrics.empty()) {
    auto place = parse_http_place(options.metrics);
    if (!place) return pass_on(place);
    if (!place->is_loopback)
      return fail(ErrorId::kUsage,
                  fmt::format("--metrics {} is no loopback address", options.metrics),
                  {.why = "figures are for this machine alone", .fix = "--metrics 127.0.0.1:PORT"});
    auto port = doors.open_metrics(*place);
    if (!port) return pass_on(port);
    const Json line{{"metrics", fmt::format("http://{}:{}/metrics", host_in_url(*place), *port)}};
    fmt::print(stdio ? stderr : stdout, "{}\n", to_text(line));
  }
  std::fflush(stdout);
  if (stdio) return doors.open_stdio();
  return {};
}

// A descriptor a connection: with too few of them, fewer connections are admitted, and that is
// said.
gateway::http::HttpLimits limits_of(ServeLog& log, std::size_t doors) {
  gateway::http::HttpLimits limits;
  if (doors == 0) return limits;
  const std::size_t wanted = limits.max_connections;
  limits.max_connections = make_room_for_connections(doors, wanted);
  if (limits.max_connections == wanted) return limits;
  // A guest's share of them stays three quarters.
  limits.max_client_connections = limits.max_connections * 3 / 4;
  log.warn(fmt::format("the limit on open files (ulimit -n) has room for {} connections{}, not {}",
                       limits.max_connections, doors > 1 ? " a door" : "", wanted));
  return limits;
}

// SIGHUP is also how a terminal says that it goes, and with it the process that started us there.
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

// With tokens of their own policies, the rules of the command line admit no client unless that is
// asked for.
std::optional<std::string> one_time_token(ServeLog& log, const ServeOptions& options,
                                          const std::filesystem::path& policy) {
  const bool has_own = options.tokens || !options.issuer.empty();
  const bool is_given = options.grants->are_given();
  if (!has_own && !is_given)
    log.warn(fmt::format(
        "no rule is given: clients see no tool (--grant, --ask or --policy){}",
        project::is_absent(policy)
            ? std::string()
            : fmt::format("; {} {}: --policy {} lets clients have all that it allows",
                          run::kPolicyLayer, run::kOnlyLimits, shell_quoted(policy.string()))));
  if (options.http.empty() || (has_own && !is_given)) return std::nullopt;
  return gateway::new_token();
}

std::optional<std::filesystem::path> token_file_of(const Context& context,
                                                   const ServeOptions& options) {
  if (!options.tokens) return std::nullopt;
  return gateway::token_file(context.folders);
}

std::optional<gateway::http::TlsFiles> tls_of(const ServeOptions& options) {
  if (options.tls_key.empty()) return std::nullopt;
  return gateway::http::TlsFiles{options.tls_certificate, options.tls_key};
}

// Until the last client left (false) or a signal asks for it (true).
bool wait_for_end(const Interrupt& interrupt, ServeLog& log, const ServeOptions& options,
                  ServeDoors& doors) {
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
  return is_to_end();
}

// Said at the start and not by each program alone: no client sees what it could do about it.
void warn_of_tier(const Context& context, sandbox::Tier lowest, ServeLog& log) {
  auto warden = sandbox::Warden::start(context.folders.warden());
  if (!warden || lowest > sandbox::Tier::kA) return;
  if (const auto roots = warden->makes_roots(); !roots || *roots) return;
  log.warn(
      "execute_agent refuses every program: this machine gives less than sandbox tier A; `mcpac "
      "doctor` says what is missing, and how to accept what is there");
}

void serve(Context& context, const ServeOptions& options) {
  const Interrupt interrupt;  // before any thread
  if (auto fits = check(options); !fits) return context.fail(fits.error());
  auto project = context.project();
  if (!project) return context.fail(project.error());
  auto rules = to_layer(*options.grants);
  if (!rules) return context.fail(rules.error());
  auto oauth = oauth_of(options);
  if (!oauth) return context.fail(oauth.error());
  if (const auto code = code_of(options)) {
    if (auto word = word_for_tier(code->limits.lowest_tier); !word)
      return context.fail(word.error());
  }
  OutputHold hold;
  auto approver = approver_of(*options.approver, hold);
  if (!approver) return context.fail(approver.error());
  const bool starts_servers = options.recording.replay.empty();
  const auto visit = starts_servers ? announce_alone(context) : nullptr;
  ServeLog log(context, options.log_format == "json" ? LogFormat::kJson : LogFormat::kText);
  const auto warning = [&log](std::string_view text) { log.warn(text); };
  if (const auto code = code_of(options)) warn_of_tier(context, code->limits.lowest_tier, log);
  // A lock that cannot be read is told of below.
  const auto lock = project::load_lock(*project);
  const auto tools = lock ? servers::tool_schemas(*lock) : policy::ToolSchemas();
  run::warn_of_open_ends(warning, *rules, &tools);
  auto tracing = tracing_of(options);
  if (!tracing) return context.fail(tracing.error());
  if (!options.otlp.empty() && !*tracing)
    log.warn("--otlp does nothing: OTEL_SDK_DISABLED is true");
  project::obey(*project, *rules, words_of(*options.approver));
  if (*oauth) {
    for (const auto& [scope, file] : (*oauth)->scopes)
      project->obeyed.push_back(std::filesystem::absolute(file));
  }
  // Who comes in, and as whom we answer: read again on SIGHUP.
  for (const std::string* file : {&options.keys, &options.tls_certificate, &options.tls_key}) {
    if (!file->empty()) project->obeyed.push_back(std::filesystem::absolute(*file));
  }
  // Which hold what is obeyed now, too.
  const auto code = code_of(options);
  servers::confine_servers(*project, context.folders,
                           code ? code->limits.lowest_tier : accepted_tier(account_home()));
  const auto policy_file = project->policy_file();
  auto gateway = gateway::Gateway::open({.project = std::move(*project),
                                         .folders = context.folders,
                                         .names = form_of(options.names),
                                         .approver = std::move(*approver),
                                         .recording = options.recording,
                                         .warning = warning,
                                         .code = code_of(options),
                                         .tracing = std::move(*tracing)});
  if (!gateway) return context.fail(gateway.error());
  const auto token = one_time_token(log, options, policy_file);
  ServeDoors doors({.gateway = gateway->get(),
                    .rules = std::move(*rules),
                    .one_time_token = token,
                    .token_file = token_file_of(context, options),
                    .warning = warning,
                    .limits = limits_of(log, options.http.size()),
                    .tls = tls_of(options),
                    .hosts = hosts_of(options),
                    .urls = public_urls_of(options),
                    .oauth = std::move(*oauth)});
  if (auto opened = open_doors(doors, options, token); !opened) {
    doors.close("gateway-ended");
    gateway->reset();  // before the doors: what waits on its loop comes back to them
    return context.fail(opened.error());
  }
  const bool asked_to_end = wait_for_end(interrupt, log, options, doors);
  if (asked_to_end) doors.drain();
  doors.close(asked_to_end ? "asked-to-end" : "client-left");
  (*gateway)->end_tracing();
  if (auto recorded = (*gateway)->end_recording(); !recorded) context.fail(recorded.error());
  gateway->reset();
}

}  // namespace

void add_serve(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand(
      "serve", "let ordinary MCP clients call what they are granted: mcpac serve --grant …");
  const auto options = add_serve_options(*command, context);
  command->callback([&context, options] { serve(context, *options); });
  add_recording_options(*command, options->recording);
}

void add_replay(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand(
      "replay", "stand in the place of recorded servers, as mcpac serve does before real ones");
  const auto options = add_serve_options(*command, context);
  command->callback([&context, options] { serve(context, *options); });
  command->add_option("FILE", options->recording.replay, "what --record wrote")->required();
}

}  // namespace mcpac::cli
