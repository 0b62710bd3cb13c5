// SPDX-License-Identifier: Apache-2.0

#include "mcp/auth_config.h"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "core/printable.h"
#include "mcp/oauth/token_request.h"
#include "mcp/oauth/web.h"

namespace mcpac::mcp {
namespace {

using oauth::Grant;
using oauth::Settings;

constexpr std::array<std::string_view, 11> kKnown = {
    "grant",  "issuer",       "clientId",     "clientSecret",      "privateKey", "keyId",
    "scopes", "redirectPort", "redirectHost", "clientMetadataUrl", "resource"};

Result<void> put(std::string& target, Result<std::string> value) {
  if (!value) return pass_on(value);
  target = std::move(*value);
  return {};
}

Result<void> read_grant(const ConfigMember& member, Grant& grant) {
  auto text = member.string();
  if (!text) return pass_on(text);
  if (*text == "authorization_code") {
    grant = Grant::kPerson;
  } else if (*text == "client_credentials") {
    grant = Grant::kClientCredentials;
  } else if (*text == "device_code" || *text == oauth::kDeviceGrant) {
    grant = Grant::kDeviceCode;
  } else {
    return member.refuse(
        fmt::format("\"{}\" is no grant", *text), "",
        R"(known are "authorization_code", "device_code" and "client_credentials")");
  }
  return {};
}

Result<void> read_port(const ConfigMember& member, std::uint16_t& port) {
  const OrderedJson& value = member.value();
  if (!value.is_number_unsigned() ||
      value.get<std::uint64_t>() > std::numeric_limits<std::uint16_t>::max()) {
    return member.refuse("a port is a number from 0 to 65535");
  }
  port = value.get<std::uint16_t>();
  return {};
}

Result<void> read_scopes(const ConfigMember& member, std::vector<std::string>& scopes) {
  auto words = member.strings();
  if (!words) return pass_on(words);
  for (const auto& word : *words) {
    if (word.empty() || word.find_first_of(" \"\\") != std::string::npos) {
      return member.refuse(fmt::format("\"{}\" is no scope", word), "one word is one scope");
    }
  }
  scopes = std::move(*words);
  return {};
}

// What a reference stands for is looked at when it is needed, as every URL of a server is.
Result<void> read_issuer(const ConfigMember& member, std::string& issuer) {
  auto text = member.string();
  if (!text) return pass_on(text);
  const bool is_plain = text->find_first_of("?#") == std::string::npos && oauth::safe_url(*text);
  if (!is_plain && !text->contains("${")) {
    return member.refuse(fmt::format("\"{}\" is no authorization server", *text),
                         "it is an https URL without a query (RFC 8414, section 2)");
  }
  issuer = std::move(*text);
  return {};
}

Result<void> read_host(const ConfigMember& member, std::string& host) {
  auto text = member.string();
  if (!text) return pass_on(text);
  if (*text != "127.0.0.1" && *text != "localhost") {
    return member.refuse(fmt::format("\"{}\" is not this machine", printable(*text, 60)),
                         "the answer of a login page comes to a port of this machine alone",
                         R"("127.0.0.1" or "localhost")");
  }
  host = std::move(*text);
  return {};
}

Result<void> read_resource(const ConfigMember& member, Settings& settings) {
  if (member.value().is_boolean() && !member.value().get<bool>()) {
    settings.names_resource = false;
    return {};
  }
  auto text = member.string();
  const bool is_uri = text && !text->empty() && text->size() <= 2'048 &&
                      (text->find(':') != std::string::npos || text->contains("${")) &&
                      text->find_first_of("# \t\r\n") == std::string::npos;
  if (!is_uri) {
    return member.refuse("\"resource\" is the URI that tokens are for, or false",
                         "false: no authorization server is told (RFC 8707 is not for all)");
  }
  settings.resource = std::move(*text);
  return {};
}

Result<void> read_one(const ConfigMember& member, Settings& settings) {
  const std::string_view name = member.name();
  if (name == "grant") return read_grant(member, settings.grant);
  if (name == "issuer") return read_issuer(member, settings.issuer);
  if (name == "clientId") return put(settings.client_id, member.string());
  if (name == "clientSecret") return put(settings.client_secret, member.string());
  if (name == "privateKey") return put(settings.private_key, member.string());
  if (name == "keyId") return put(settings.key_id, member.string());
  if (name == "clientMetadataUrl") return put(settings.client_document, member.string());
  if (name == "scopes") return read_scopes(member, settings.scopes);
  if (name == "redirectHost") return read_host(member, settings.redirect_host);
  if (name == "resource") return read_resource(member, settings);
  if (name == "redirectPort") return read_port(member, settings.redirect_port);
  return member.refuse(fmt::format("\"{}\" is no member of \"auth\"", name), "",
                       did_you_mean(name, kKnown));
}

Result<void> check(const ConfigMember& member, const Settings& settings) {
  if (settings.has_secret() && settings.client_id.empty()) {
    return member.refuse("a secret or key belongs to a client", "", R"(add "clientId")");
  }
  if (settings.has_secret() && settings.issuer.empty()) {
    return member.refuse("a secret or key belongs to one authorization server",
                         "else the MCP server could name any, which would get it",
                         R"(add "issuer": "https://…", where that client is registered)");
  }
  if (!settings.client_secret.empty() && !settings.private_key.empty()) {
    return member.refuse("a client has a secret or a key, not both");
  }
  if (settings.grant == Grant::kClientCredentials && !settings.has_secret()) {
    return member.refuse("client_credentials need credentials", "",
                         R"(add "issuer", "clientId", and "clientSecret" or "privateKey")");
  }
  const std::string& document = settings.client_document;
  if (!document.empty() && !document.starts_with("https://") && !document.starts_with("${")) {
    return member.refuse("\"clientMetadataUrl\" is an https URL");
  }
  return {};
}

}  // namespace

Result<Settings> read_auth(const ConfigMember& member) {
  const OrderedJson& object = member.value();
  if (!object.is_object()) return member.refuse("\"auth\" must be an object");
  Settings settings;
  const std::string place = member.place();
  for (const auto& [key, value] : object.items()) {
    if (auto read = read_one(ConfigMember(key, value, place), settings); !read) {
      return pass_on(read);
    }
  }
  if (auto checked = check(member, settings); !checked) return pass_on(checked);
  return settings;
}

OrderedJson to_json(const Settings& settings) {
  OrderedJson out = OrderedJson::object();
  const auto text = [&out](const char* name, const std::string& value) {
    if (!value.empty()) out[name] = value;
  };
  if (settings.grant == Grant::kClientCredentials) out["grant"] = "client_credentials";
  if (settings.grant == Grant::kDeviceCode) out["grant"] = "device_code";
  text("issuer", settings.issuer);
  text("clientId", settings.client_id);
  text("clientSecret", settings.client_secret);
  text("privateKey", settings.private_key);
  text("keyId", settings.key_id);
  text("clientMetadataUrl", settings.client_document);
  if (!settings.scopes.empty()) out["scopes"] = settings.scopes;
  if (settings.redirect_port != 0) out["redirectPort"] = settings.redirect_port;
  text("redirectHost", settings.redirect_host);
  text("resource", settings.resource);
  if (!settings.names_resource) out["resource"] = false;
  return out;
}

}  // namespace mcpac::mcp
