// SPDX-License-Identifier: Apache-2.0

#include "gateway/tracing/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "core/ascii.h"
#include "core/percent_code.h"
#include "core/printable.h"
#include "core/trimmed.h"
#include "mcp/oauth/web.h"

namespace mcpac::gateway::tracing {
namespace {

constexpr std::string_view kPath = "/v1/traces";
constexpr std::size_t kMaxHeaders = 32;

// As the standard has it: the more special of two variables.
std::string of_traces(const Variables& variables, std::string_view what) {
  auto own = variables(fmt::format("OTEL_EXPORTER_OTLP_TRACES_{}", what).c_str());
  return own.empty() ? variables(fmt::format("OTEL_EXPORTER_OTLP_{}", what).c_str()) : own;
}

Result<mcp::Url> read_url(const std::string& text, std::string_view from) {
  auto url = mcp::parse_url(text);
  if (!url)
    return fail(ErrorId::kUsage, fmt::format("{} wants a URL: {}", from, url.error().what),
                {.fix = "--otlp http://127.0.0.1:4318"});
  return url;
}

// A place without a path is a collector, and its traces are where OTLP/HTTP has them.
Result<mcp::Url> place_of(const std::string& option) {
  auto url = read_url(option, "--otlp");
  if (url && url->target == "/") url->target = kPath;
  return url;
}

Result<mcp::Url> place_in(const Variables& variables) {
  const std::string protocol = of_traces(variables, "PROTOCOL");
  if (protocol == "grpc")
    return fail(ErrorId::kUsage, "OTEL_EXPORTER_OTLP_PROTOCOL=grpc is not spoken here",
                {.fix = "--otlp URL with the collector's port for HTTP, mostly 4318"});
  constexpr const char* kTraces = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
  constexpr const char* kAll = "OTEL_EXPORTER_OTLP_ENDPOINT";
  if (const std::string own = variables(kTraces); !own.empty()) return read_url(own, kTraces);
  const std::string base = variables(kAll);
  if (base.empty())
    return fail(ErrorId::kUsage, fmt::format("--otlp env, and {} is not set", kAll),
                {.fix = "--otlp URL"});
  auto url = read_url(base, kAll);
  if (!url) return url;
  if (url->target.ends_with('/')) url->target.pop_back();
  url->target += kPath;
  return url;
}

bool is_header_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return is_alphanumeric(c) || std::string_view("!#$%&'*+-.^_`|~").contains(c);
  });
}

// Those by which the request says what it is are ours.
bool is_ours(std::string_view name) {
  constexpr std::array<std::string_view, 8> kOurs = {
      "host",   "content-type", "content-length",   "content-encoding", "connection",
      "expect", "te",           "transfer-encoding"};
  return std::ranges::find(kOurs, lowered(std::string(name))) != kOurs.end();
}

bool is_header_value(std::string_view value) {
  return std::ranges::all_of(value, [](char c) { return c == '\t' || (c >= ' ' && c <= '~'); });
}

// NAME=VALUE,NAME=VALUE, values with percent-encoding (OTLP exporter, "Specifying headers"). What
// is wrong is not repeated: it may be a secret.
Result<std::vector<std::pair<std::string, std::string>>> read_headers(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> headers;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const auto one = trimmed(text.substr(0, comma));
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
    if (one.empty()) continue;
    const auto equals = one.find('=');
    const auto name = trimmed(one.substr(0, equals));
    const auto value = equals == std::string_view::npos
                           ? std::nullopt
                           : strictly_percent_decoded(trimmed(one.substr(equals + 1)));
    if (!value || !is_header_name(name) || is_ours(name) || !is_header_value(*value) ||
        headers.size() >= kMaxHeaders)
      return fail(ErrorId::kUsage, "OTEL_EXPORTER_OTLP_HEADERS is no list of headers",
                  {.fix = "NAME=VALUE,NAME=VALUE, with percent-encoding in values"});
    headers.emplace_back(name, *value);
  }
  return headers;
}

Result<Sampler> read_sampler(const Variables& variables) {
  const std::string name = variables("OTEL_TRACES_SAMPLER");
  if (name.empty()) return Sampler();
  return Sampler::parse(name, variables("OTEL_TRACES_SAMPLER_ARG"));
}

}  // namespace

std::string variable_of_process(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Result<std::optional<Settings>> read_settings(const std::string& option,
                                              const Variables& variables) {
  if (lowered(variables("OTEL_SDK_DISABLED")) == "true") return std::nullopt;
  auto url = option == "env" ? place_in(variables) : place_of(option);
  if (!url) return pass_on(url);
  auto headers = read_headers(of_traces(variables, "HEADERS"));
  if (!headers) return pass_on(headers);
  if (!headers->empty() && !url->tls && !mcp::oauth::is_loopback(*url))
    return fail(ErrorId::kUsage,
                fmt::format("OTEL_EXPORTER_OTLP_HEADERS would go to {} without TLS",
                            printable(url->authority(), 200)),
                {.why = "what stands there is mostly a token", .fix = "an https URL"});
  auto sampler = read_sampler(variables);
  if (!sampler) return pass_on(sampler);
  Settings settings{.url = std::move(*url), .headers = std::move(*headers), .sampler = *sampler};
  if (const std::string name = variables("OTEL_SERVICE_NAME"); !name.empty())
    settings.service_name = printable(name, 200);
  return settings;
}

}  // namespace mcpac::gateway::tracing
