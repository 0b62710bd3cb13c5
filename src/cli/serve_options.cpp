// SPDX-License-Identifier: Apache-2.0

#include "cli/serve_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include <CLI/CLI.hpp>
#include <boost/asio/ip/address.hpp>

#include "cli/run_options.h"
#include "cli/serve_doors.h"
#include "core/printable.h"
#include "core/shell_quote.h"
#include "mcp/url.h"
#include "run/check/authorities.h"

namespace mcpac::cli {
namespace {

// What a client's program may write before it is ended: its model reads far less.
constexpr std::uint64_t kCodeOutput = std::uint64_t{1} << 20U;

// Clients on other machines have tokens of their own: the printed one is for the user that started
// mcpac.
Result<void> check_places(const ServeOptions& options) {
  for (const std::string& text : options.http) {
    auto place = parse_http_place(text);
    if (!place) return pass_on(place);
    if (place->is_loopback) continue;
    if (!options.tokens && options.issuer.empty())
      return fail(ErrorId::kUsage, fmt::format("--http {} is no loopback address", text),
                  {.why = "other machines are let in with tokens of their own alone",
                   .fix = "--tokens or --oauth-issuer, or --http 127.0.0.1:PORT"});
    if (place->is_everywhere && options.hosts.empty() && options.public_urls.empty())
      return fail(ErrorId::kUsage, fmt::format("--http {} wants the name of this machine", text),
                  {.why = "requests that name somebody else are refused (DNS rebinding)",
                   .fix = "--host NAME"});
  }
  return {};
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
}

bool is_v6(std::string_view host) {
  boost::system::error_code error;
  boost::asio::ip::make_address_v6(host, error);
  return !error;
}

// A name that no client could send is a mistake, which would be seen by its refusals alone.
Result<void> check_host(const std::string& host) {
  const auto never = [&](const char* why, std::string fix) {
    return fail(ErrorId::kUsage,
                fmt::format("--host {} would let in nobody", shell_quoted(printable(host, 200))),
                {.why = why, .fix = std::move(fix)});
  };
  if (host.find('/') != std::string::npos) {
    const bool is_url = mcp::parse_url(host).has_value();
    return never("it is the name of a machine alone; a URL is that of a proxy before it",
                 is_url ? "--public-url " + shell_quoted(host) : "--host NAME");
  }
  if (host.find('*') != std::string::npos)
    return never("names are whole: there are no patterns", "--host NAME, once for each name");
  if (host.empty() || !is_ascii(host))
    return never("clients send names of letters, digits, - and . (others as xn--…)", "--host NAME");
  const bool is_bracketed = host.starts_with('[') && host.ends_with(']');
  const std::string_view inside(host.data() + (is_bracketed ? 1 : 0),
                                host.size() - (is_bracketed ? 2 : 0));
  if (inside.find(':') == std::string_view::npos && !is_bracketed) return {};
  if (is_v6(inside)) return {};
  return never("its port is that of --http; another one is that of a proxy before it",
               fmt::format("--host {}, or --public-url https://{}",
                           shell_quoted(host.substr(0, host.find(':'))), shell_quoted(host)));
}

Result<void> check_public_url(const std::string& text) {
  const auto never = [&](std::string why, const char* fix) {
    return fail(
        ErrorId::kUsage,
        fmt::format("--public-url {} would let in nobody", shell_quoted(printable(text, 200))),
        {.why = std::move(why), .fix = fix});
  };
  constexpr const char* kFix = "--public-url https://NAME, or https://NAME:PORT";
  const auto url = mcp::parse_url(text);
  if (!url) return never(url.error().why, kFix);
  if (url->host.find('*') != std::string::npos)
    return never("names are whole: there are no patterns", kFix);
  if (url->target.find('?') != std::string::npos) return never("a query is no part of it", kFix);
  if (url->tls) return {};
  boost::system::error_code no_address;
  const auto address = boost::asio::ip::make_address(url->host, no_address);
  if (url->host == "localhost" || (!no_address && address.is_loopback())) return {};
  return fail(ErrorId::kUsage,
              fmt::format("--public-url {} is not https", shell_quoted(printable(text, 200))),
              {.why = "tokens would travel unencrypted", .fix = kFix});
}

Result<void> check_names(const ServeOptions& options) {
  if (!options.public_urls.empty() && options.http.empty())
    return fail(ErrorId::kUsage, "--public-url is about clients over HTTP",
                {.fix = "--http ADDRESS:PORT"});
  for (const std::string& host : options.hosts) {
    if (auto fits = check_host(host); !fits) return fits;
  }
  for (const std::string& text : options.public_urls) {
    if (auto fits = check_public_url(text); !fits) return fits;
  }
  return {};
}

}  // namespace

std::vector<std::string> hosts_of(const ServeOptions& options) {
  std::vector<std::string> hosts;
  for (const std::string& host : options.hosts)
    hosts.push_back(is_v6(host) ? fmt::format("[{}]", host) : host);
  return hosts;
}

std::vector<gateway::http::PublicUrl> public_urls_of(const ServeOptions& options) {
  std::vector<gateway::http::PublicUrl> urls;
  for (const std::string& text : options.public_urls) {
    const auto url = mcp::parse_url(text);
    if (!url) continue;
    std::string host = gateway::http::lower(url->host);
    if (is_v6(host)) host = fmt::format("[{}]", host);
    urls.push_back({.tls = url->tls, .host = std::move(host), .port = url->port});
  }
  return urls;
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
    return fail(ErrorId::kUsage, "--tls-cert and --tls-key go together",
                {.fix = "--tls-cert FILE --tls-key FILE"});
  if ((!options.tls_key.empty() || !options.hosts.empty()) && options.http.empty())
    return fail(ErrorId::kUsage, "--tls-cert and --host are about clients over HTTP",
                {.fix = "--http ADDRESS:PORT"});
  const bool is_oauth = !options.issuer.empty();
  if (is_oauth != !options.audience.empty() ||
      (!is_oauth && (!options.keys.empty() || !options.scopes.empty())))
    return fail(ErrorId::kUsage, "--oauth-issuer, --oauth-audience and --scope go together",
                {.fix = "--oauth-issuer URL --oauth-audience URL --scope NAME=FILE"});
  if (is_oauth && options.http.empty())
    return fail(ErrorId::kUsage, "--oauth-issuer is about clients over HTTP",
                {.fix = "--http ADDRESS:PORT"});
  if (auto fits = check_names(options); !fits) return fits;
  return check_places(options);
}

gateway::NameForm form_of(const std::string& name) {
  if (name == "plain") return gateway::NameForm::kPlain;
  return name == "bare" ? gateway::NameForm::kBare : gateway::NameForm::kDotted;
}

std::optional<gateway::code_mode::Offer> code_of(const ServeOptions& options) {
  if (!options.code && !options.code_only) return std::nullopt;
  gateway::code_mode::Offer offer{.alone = options.code_only, .limits = {}};
  offer.limits.output = kCodeOutput;
  offer.limits.lowest_tier = to_tier(*options.lowest_tier);
  return offer;
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
                  fmt::format("--scope wants NAME=FILE, once a name, not '{}'", text),
                  {.fix = "--scope read=read.policy: the policy of tokens with that scope"});
    if (auto rules = run::read_rules(whole); !rules) return pass_on(rules);
  }
  if (auto fits = gateway::oauth::check(settings); !fits) return pass_on(fits);
  return settings;
}

Result<std::optional<gateway::tracing::Settings>> tracing_of(const ServeOptions& options) {
  if (options.otlp.empty()) return std::nullopt;
  return gateway::tracing::read_settings(options.otlp, gateway::tracing::variable_of_process);
}

namespace {

// An option that is given several times, one value each.
void several(CLI::Option* option, const char* type) {
  option->type_name(type)->expected(1)->take_all()->allow_extra_args(false);
}

void add_door_options(CLI::App& command, ServeOptions& options) {
  several(command.add_option(
              "--http", options.http,
              "listen on ADDRESS:PORT (0: any that is free), without TLS a loopback address, "
              "instead of standard input; several times for several"),
          "ADDRESS:PORT");
  command.add_flag("--stdio", options.stdio, "beside --http, serve standard input, too");
  command.add_flag("--tokens", options.tokens,
                   "let in whoever has a token of `mcpac token create`, each under its policy");
  command
      .add_option("--tls-cert", options.tls_certificate,
                  "TLS with this certificate, its chain behind it (PEM)")
      ->type_name("FILE");
  command.add_option("--tls-key", options.tls_key, "and its key, which nobody else may read")
      ->type_name("FILE");
  several(command.add_option(
              "--host", options.hosts,
              "a name by which clients call this machine, beside the address; several times "
              "for several"),
          "NAME");
  several(command.add_option(
              "--public-url", options.public_urls,
              "the URL by which clients come through a proxy before this machine, which may end "
              "their TLS; several times for several"),
          "URL");
}

void add_oauth_options(CLI::App& command, ServeOptions& options) {
  command
      .add_option("--oauth-issuer", options.issuer,
                  "let in whoever has an access token of this issuer, by its scopes")
      ->type_name("URL");
  command
      .add_option("--oauth-audience", options.audience,
                  "the URL by which clients know this server: tokens must be for it")
      ->type_name("URL");
  command
      .add_option("--oauth-jwks", options.keys,
                  "the issuer's keys, instead of those that it publishes")
      ->type_name("FILE");
  several(command.add_option(
              "--scope", options.scopes,
              "what a scope of such a token is worth: a policy; several times for several"),
          "NAME=FILE");
}

void add_operation_options(CLI::App& command, ServeOptions& options) {
  command
      .add_option("--log-format", options.log_format,
                  "of what is said on standard error: text, or json, an object a line")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command
      .add_option("--metrics", options.metrics,
                  "figures for Prometheus at /metrics of a loopback ADDRESS:PORT")
      ->type_name("ADDRESS:PORT");
  command
      .add_option("--otlp", options.otlp,
                  "send traces to this collector over OTLP/HTTP (http://127.0.0.1:4318), or to "
                  "the one of OTEL_EXPORTER_OTLP_ENDPOINT (env)")
      ->type_name("URL|env");
}

void add_view_options(CLI::App& command, ServeOptions& options) {
  command
      .add_option("--names", options.names,
                  "how tools are called: dotted (server.tool), plain (server__tool, for clients "
                  "that cannot take dots), bare (tool, before one server)")
      ->check(CLI::IsMember({"dotted", "plain", "bare"}))
      ->capture_default_str();
  command.add_flag("--code", options.code,
                   "code mode: also let clients run C++ programs that call what they are granted");
  command.add_flag("--code-only", options.code_only,
                   "the same, without showing the granted tools themselves");
  options.lowest_tier = add_tier_option(command);
}

}  // namespace

std::shared_ptr<ServeOptions> add_serve_options(CLI::App& command, Context& context) {
  auto options = std::make_shared<ServeOptions>();
  add_common_options(command, context);
  options->grants = add_grant_options(command);
  options->approver = add_approver_options(command, "the person at the client, by a form");
  add_door_options(command, *options);
  add_oauth_options(command, *options);
  add_operation_options(command, *options);
  add_view_options(command, *options);
  return options;
}

}  // namespace mcpac::cli
