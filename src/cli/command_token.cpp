// SPDX-License-Identifier: Apache-2.0

// mcpac token: who may come in over HTTP, and under which policy (docs/gateway.md).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/rule_reader.h"
#include "core/printable.h"
#include "core/rfc3339.h"
#include "gateway/tokens.h"
#include "policy/text/format.h"
#include "run/check/authorities.h"

namespace mcpac::cli {
namespace {

constexpr std::int64_t kMaxDays = 3'650;

struct TokenOptions {
  std::string name;
  std::string policy;
  std::string expires;
};

// "90s", "15m", "12h", "30d".
Result<std::chrono::seconds> parse_lifetime(const std::string& text) {
  std::int64_t number = 0;
  const auto* const end = text.data() + text.size();
  const auto [unit, error] = std::from_chars(text.data(), end, number);
  std::int64_t seconds = 0;
  const std::string_view name(unit, static_cast<std::size_t>(end - unit));
  if (name == "s") seconds = 1;
  if (name == "m") seconds = 60;
  if (name == "h") seconds = 3'600;
  if (name == "d") seconds = 86'400;
  const std::int64_t most = kMaxDays * 86'400;
  if (error != std::errc() || seconds == 0 || number < 1 || number > most / seconds) {
    return fail(ErrorId::kUsage,
                fmt::format("--expires wants a time, not '{}'", printable(text, 80)),
                {.why = "a number and its unit, at most ten years",
                 .fix = "--expires 90s, 15m, 12h or 30d"});
  }
  return std::chrono::seconds(number * seconds);
}

gateway::TokenStore store_of(const Context& context, const Clock& clock) {
  return {gateway::token_file(context.folders), clock};
}

// By the project that it is made in, as `serve` there will read them: a holder who is admitted by
// rules that do not load would learn that in the middle of their work.
Result<void> check_rules(const Context& context, policy::PolicyFile rules) {
  if (project::is_absent(context.config_file)) {
    context.warn(
        "there is no mcpac.json here: whether the rules fit its tools is known once mcpac serve "
        "reads them (-C DIR names the project)");
    return {};
  }
  auto reader = RuleReader::open(context);
  if (!reader) return pass_on(reader);
  auto authority = (*reader)->load(std::move(rules));
  if (!authority) return pass_on(authority);
  const auto& tools = (*reader)->world().tools;
  const bool admits = std::ranges::any_of(tools, [&](const auto& tool) {
    return authority->coverage(tool.first, "") != policy::Coverage::kMissing;
  });
  if (!admits)
    context.warn("the rules admit nothing of what mcpac.lock has: the token's holder sees no tool");
  return {};
}

void create(Context& context, const TokenOptions& options) {
  const SystemClock clock;
  std::error_code error;
  const auto policy = std::filesystem::absolute(options.policy, error).lexically_normal();
  auto rules = run::read_rules(policy);
  if (!rules) return context.fail(rules.error());
  if (auto read = policy::format({rules->name, rules->text}); !read)
    return context.fail(read.error());
  if (auto fits = check_rules(context, std::move(*rules)); !fits) return context.fail(fits.error());
  std::optional<std::chrono::system_clock::time_point> expires;
  if (!options.expires.empty()) {
    auto lifetime = parse_lifetime(options.expires);
    if (!lifetime) return context.fail(lifetime.error());
    expires = clock.wall_now() + *lifetime;
  }
  auto token = store_of(context, clock).create(options.name, policy, expires);
  if (!token) return context.fail(token.error());
  if (context.json) return context.print({{"name", options.name}, {"token", *token}});
  fmt::print("{}\n", *token);
  context.say("this is the only time that it is shown");
}

std::string lifetime_of(const std::string& expires, const Clock& clock) {
  if (expires.empty()) return "for ever";
  // Both texts are UTC of one length: they order as the times do.
  const bool is_over = expires <= rfc3339_utc(clock.wall_now());
  return fmt::format("{} {}Z", is_over ? "ended" : "until", expires.substr(0, 19));
}

void list_tokens(Context& context) {
  const SystemClock clock;
  const auto tokens = store_of(context, clock).list();
  if (!tokens) return context.fail(tokens.error());
  Json all = Json::array();
  for (const auto& token : *tokens) all.push_back(gateway::to_json(token));
  if (context.json) return context.print(all);
  for (const Json& token : all) {
    fmt::print("{}  {}  {}\n", string_member(token, "name"),
               printable(string_member(token, "policy")),
               lifetime_of(string_member(token, "expires"), clock));
  }
  if (all.empty()) context.say("there is no token");
}

void revoke(Context& context, const TokenOptions& options) {
  const SystemClock clock;
  if (auto revoked = store_of(context, clock).revoke(options.name); !revoked)
    return context.fail(revoked.error());
  if (context.json) return context.print({{"revoked", options.name}});
  context.say(fmt::format("{} opens nothing any more", options.name));
}

}  // namespace

void add_token(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("token", "who may come in over HTTP (mcpac serve --tokens)");
  command->require_subcommand(1);
  auto options = std::make_shared<TokenOptions>();

  auto* create_command = command->add_subcommand("create", "a token for one client, shown once");
  add_common_options(*create_command, context);
  create_command->add_option("NAME", options->name, "what records call its holder")->required();
  create_command->add_option("--policy", options->policy, "the rules that hold for it")
      ->type_name("FILE")
      ->required();
  create_command->add_option("--expires", options->expires, "when it ends: 90s, 15m, 12h, 30d")
      ->type_name("TIME");
  create_command->callback([&context, options] { create(context, *options); });

  auto* list_command = command->add_subcommand("list", "tokens with their policies");
  add_common_options(*list_command, context);
  list_command->callback([&context] { list_tokens(context); });

  auto* revoke_command = command->add_subcommand("revoke", "from now on it opens nothing");
  add_common_options(*revoke_command, context);
  revoke_command->add_option("NAME", options->name, "its name")->required();
  revoke_command->callback([&context, options] { revoke(context, *options); });
}

}  // namespace mcpac::cli
