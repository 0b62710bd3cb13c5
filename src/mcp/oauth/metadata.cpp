// SPDX-License-Identifier: Apache-2.0

#include "mcp/oauth/metadata.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/ascii.h"
#include "core/printable.h"
#include "mcp/oauth/web.h"

namespace mcpac::mcp::oauth {
namespace {

constexpr std::size_t kMaxWords = 200;
constexpr std::size_t kMaxWord = 2'048;

std::vector<std::string> strings(const Json& document, std::string_view name) {
  std::vector<std::string> out;
  const Json* list = find_member(document, name);
  if (list == nullptr || !list->is_array()) return out;
  for (const Json& one : *list) {
    if (one.is_string() && out.size() < kMaxWords &&
        one.get_ref<const std::string&>().size() < kMaxWord)
      out.push_back(one.get<std::string>());
  }
  return out;
}

bool flag(const Json& document, std::string_view name) {
  const Json* value = find_member(document, name);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

std::string_view path_of(const Url& url) {
  const std::string_view target = url.target;
  return target.substr(0, target.find('?'));
}

std::string_view query_of(const Url& url) {
  const std::string_view target = url.target;
  return target.substr(std::min(target.find('?'), target.size()));
}

std::string_view without_slash(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  return path;
}

std::unexpected<Error> refuse(std::string what, std::string why) {
  return fail(ErrorId::kServerHttp, std::move(what), {.why = std::move(why)});
}

// An endpoint that is there must be one that may be called. RFC 6749, sections 3.1 and 3.2: none
// has a fragment.
Result<std::string> endpoint(const Json& document, std::string_view name) {
  const auto text = string_member(document, name);
  if (text.empty()) return text;
  auto url = safe_url(text);
  if (!url) return pass_on(url);
  if (!is_plain_url(text)) {
    return refuse(
        fmt::format("\"{}\" is not called", printable(text, 200)),
        "an endpoint has no fragment, no characters that a URL has not, and is not longer "
        "than 2048 bytes");
  }
  return text;
}

// One host in two spellings is one host (RFC 3986, section 6.2.2.1).
bool is_same_origin(const Url& one, const Url& other) {
  return one.tls == other.tls && one.port == other.port &&
         std::ranges::equal(one.host, other.host, {}, to_lower, to_lower);
}

// A query that the server's own URL does not have would name something else in the same place.
bool is_about(const Url& resource, const Url& server) {
  const auto prefix = without_slash(path_of(resource));
  const auto path = path_of(server);
  const auto query = query_of(resource);
  return is_same_origin(resource, server) && path.starts_with(prefix) &&
         (path.size() == prefix.size() || path[prefix.size()] == '/') &&
         (query.empty() || query == query_of(server));
}

}  // namespace

// The characters of RFC 3986 without "#": a browser is started with such an address, by programs
// that have taken quotes and braces for their own before.
bool is_plain_url(std::string_view text) {
  constexpr std::string_view kMarks = "-._~:/?[]@!$&'()*+,;=%";
  return text.size() <= kMaxWord && std::ranges::all_of(text, [kMarks](char c) {
           return is_alphanumeric(c) || kMarks.contains(c);
         });
}

bool is_same_issuer(std::string_view one, std::string_view other) {
  if (one == other) return true;
  const auto is_plain = [](std::string_view text) {
    return text.find_first_of("?#") == std::string_view::npos;
  };
  const auto first = parse_url(one);
  const auto second = parse_url(other);
  if (!first || !second || !is_plain(one) || !is_plain(other)) return false;
  const auto path = [](const Url& url) {
    std::string_view text = url.target;
    if (text.ends_with('/')) text.remove_suffix(1);
    return text;
  };
  return is_same_origin(*first, *second) && path(*first) == path(*second);
}

std::string resource_of(const Url& server) {
  return origin_of(server) + std::string(path_of(server));
}

std::string origin_of(const Url& url) {
  return fmt::format("{}://{}", url.tls ? "https" : "http", url.authority());
}

std::vector<std::string> resource_documents(const Url& server) {
  const std::string base = origin_of(server) + "/.well-known/oauth-protected-resource";
  const auto path = without_slash(path_of(server));
  if (path.empty()) return {base};
  return {fmt::format("{}{}", base, path), base};
}

std::vector<std::string> issuer_documents(const Url& issuer) {
  const std::string origin = origin_of(issuer);
  const auto path = without_slash(path_of(issuer));
  std::vector<std::string> out = {
      fmt::format("{}/.well-known/oauth-authorization-server{}", origin, path),
      fmt::format("{}/.well-known/openid-configuration{}", origin, path)};
  if (!path.empty()) {
    out.push_back(fmt::format("{}{}/.well-known/openid-configuration", origin, path));
  }
  return out;
}

Result<ProtectedResource> read_protected_resource(const Json& document, const Url& server,
                                                  std::string_view wanted) {
  ProtectedResource out;
  out.resource = string_member(
      document, "resource",
      find_member(document, "resource") == nullptr ? resource_of(server) : std::string());
  out.authorization_servers = strings(document, "authorization_servers");
  out.scopes = strings(document, "scopes_supported");
  if (!wanted.empty() && out.resource == wanted) return out;
  const auto url = parse_url(out.resource);
  // RFC 8707, section 2: a resource has no fragment. parse_url() would drop it.
  if (!url || out.resource.contains('#') || !is_about(*url, server)) {
    return refuse("the server's metadata are about another resource",
                  fmt::format("they name \"{}\"", printable(out.resource, 200)));
  }
  return out;
}

Result<AuthorizationServer> read_authorization_server(const Json& document,
                                                      std::string_view issuer) {
  AuthorizationServer out;
  out.issuer = string_member(document, "issuer");
  if (!is_same_issuer(out.issuer, issuer)) {
    return refuse("the metadata of the authorization server name another issuer",
                  fmt::format("\"{}\" instead of \"{}\"", printable(out.issuer, 200),
                              printable(issuer, 200)));
  }
  auto authorize = endpoint(document, "authorization_endpoint");
  if (!authorize) return pass_on(authorize);
  auto token = endpoint(document, "token_endpoint");
  if (!token) return pass_on(token);
  auto registration = endpoint(document, "registration_endpoint");
  if (!registration) return pass_on(registration);
  // It is of no use to a login: one that is not safe is none.
  const auto revocation = endpoint(document, "revocation_endpoint");
  const auto device = endpoint(document, "device_authorization_endpoint");
  if (token->empty()) {
    return refuse("the authorization server has no token endpoint",
                  "its metadata name none, or one that is not safe");
  }
  out.authorization_endpoint = std::move(*authorize);
  out.token_endpoint = std::move(*token);
  out.registration_endpoint = std::move(*registration);
  out.revocation_endpoint = revocation.value_or("");
  out.device_endpoint = device.value_or("");
  out.scopes = strings(document, "scopes_supported");
  out.token_auth_methods = strings(document, "token_endpoint_auth_methods_supported");
  const auto challenges = strings(document, "code_challenge_methods_supported");
  out.pkce = std::ranges::find(challenges, "S256") != challenges.end();
  out.sends_issuer = flag(document, "authorization_response_iss_parameter_supported");
  out.knows_client_documents = flag(document, "client_id_metadata_document_supported");
  return out;
}

}  // namespace mcpac::mcp::oauth
