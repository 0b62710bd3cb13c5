// SPDX-License-Identifier: Apache-2.0

#include "mcp/login_of.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include <boost/beast/core/string.hpp>

#include "core/hash.h"
#include "mcp/url.h"

namespace mcpac::mcp {
namespace {

Result<oauth::Settings> expanded(const ServerConfig& config, SecretValues& secrets) {
  oauth::Settings settings = config.auth;
  const auto place = fmt::format("mcpServers.{}.auth", config.name);
  for (std::string* text : {&settings.issuer, &settings.client_id, &settings.client_secret,
                            &settings.private_key, &settings.client_document, &settings.resource}) {
    auto value = secrets.expand(*text, place);
    if (!value) return pass_on(value);
    *text = std::move(*value);
  }
  const auto& document = settings.client_document;
  if (!document.empty() && !document.starts_with("https://")) {
    return fail(ErrorId::kConfigInvalid, "\"clientMetadataUrl\" is an https URL",
                {.where = place + ".clientMetadataUrl"});
  }
  return settings;
}

}  // namespace

Result<std::shared_ptr<oauth::Authorizer>> make_authorizer(
    boost::asio::any_io_executor executor, const ServerConfig& config,
    const std::shared_ptr<SecretValues>& secrets, oauth::ShowLogin show) {
  const bool has_own = std::ranges::any_of(config.headers, [](const auto& header) {
    return boost::beast::iequals(header.first, "authorization");
  });
  if (has_own) return nullptr;
  auto text = secrets->expand(config.url, fmt::format("mcpServers.{}.url", config.name));
  if (!text) return pass_on(text);
  auto url = parse_url(*text);
  if (!url) return pass_on(url);
  // A token would be readable on the way.
  if (!url->tls && !oauth::is_loopback(*url)) return nullptr;
  auto settings = expanded(config, *secrets);
  if (!settings) return pass_on(settings);
  oauth::AuthorizerOptions options{.server = config.name,
                                   .url = std::move(*url),
                                   .identity = config.url,
                                   .place = sha256_hex(*text),
                                   .settings = std::move(*settings),
                                   .folder = config.tokens,
                                   .show = std::move(show)};
  options.keep_secret = [secrets, name = config.name](const std::string& secret) {
    secrets->keep(secret, fmt::format("${{login:{}}}", name));
  };
  return oauth::Authorizer::make(std::move(executor), std::move(options));
}

}  // namespace mcpac::mcp
