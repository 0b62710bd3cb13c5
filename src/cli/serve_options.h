// SPDX-License-Identifier: Apache-2.0

// Command-line options of `mcpac serve` and `mcpac replay`, and their meaning.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/approver_options.h"
#include "cli/context.h"
#include "cli/grant_options.h"
#include "core/error.h"
#include "gateway/gateway.h"
#include "gateway/http/head.h"
#include "gateway/oauth/resource_server.h"
#include "gateway/tracing/settings.h"
#include "history/recording/recording_choice.h"

namespace CLI {
class App;
}

namespace mcpac::cli {

struct ServeOptions {
  std::vector<std::string> http;
  bool stdio = false;
  bool tokens = false;
  std::string names = "dotted";
  history::RecordingChoice recording;
  bool code = false;
  bool code_only = false;
  std::shared_ptr<std::string> lowest_tier;
  std::string tls_certificate;
  std::string tls_key;
  std::vector<std::string> hosts;
  std::vector<std::string> public_urls;
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

[[nodiscard]] std::shared_ptr<ServeOptions> add_serve_options(CLI::App& command, Context& context);

// kUsage for options that mean nothing together, or less than they seem to.
[[nodiscard]] Result<void> check(const ServeOptions& options);

// Of options that pass. By which clients call the doors themselves, and by which they come through
// a proxy.
[[nodiscard]] std::vector<std::string> hosts_of(const ServeOptions& options);
[[nodiscard]] std::vector<gateway::http::PublicUrl> public_urls_of(const ServeOptions& options);

[[nodiscard]] gateway::NameForm form_of(const std::string& name);
// Nothing: clients may not run programs.
[[nodiscard]] std::optional<gateway::code_mode::Offer> code_of(const ServeOptions& options);
// Reads the policies of the scopes once, so that one that does not load is said at the start.
[[nodiscard]] Result<std::optional<gateway::oauth::OauthSettings>> oauth_of(
    const ServeOptions& options);
// Nothing without --otlp, and where the environment says that nothing is traced.
[[nodiscard]] Result<std::optional<gateway::tracing::Settings>> tracing_of(
    const ServeOptions& options);

}  // namespace mcpac::cli
