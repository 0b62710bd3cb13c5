#include "policy/support_inclusion.h"

#include <fmt/format.h>

#include <stdexcept>

#include "core/json_schema.h"

namespace mcpac::policy::testing {

Authority policy_of(const World& world, const std::string& text) {
  auto authority = world.load(
      {LayerText{.name = "mcpac.policy", .grants = {}, .asks = {}, .denies = {}, .files = {text}}});
  if (!authority) throw std::runtime_error(text + authority.error().to_text());
  return std::move(*authority);
}

std::optional<Effect> effect_of(const World& world, Authority& authority,
                                const Permission& permission, Json arguments) {
  const auto tool = world.tools.find(permission);
  if (tool != world.tools.end()) {
    const auto schema = JsonSchema::compile(tool->second).value();
    static_cast<void>(schema->fill_defaults(arguments));
    if (schema->validate(arguments)) return std::nullopt;
  }
  const Decision decision = authority.decide(permission, arguments);
  authority.give_back(decision.reservation);
  return decision.effect;
}

std::string why_no_witness(const World& world, Authority& wider, Authority& narrower,
                           const Excess& excess) {
  const std::string call =
      fmt::format("{} {}", excess.permission.text(), to_text(excess.arguments));
  const auto more = effect_of(world, narrower, excess.permission, excess.arguments);
  const auto less = effect_of(world, wider, excess.permission, excess.arguments);
  if (!more || !less) return "the schema refuses " + call;
  if (*more != excess.narrower || *less != excess.wider)
    return fmt::format("{}: really {} and {}", call, to_string(*more), to_string(*less));
  if (excess.limit.empty() && *more >= *less) return call + " is no witness";
  return "";
}

}  // namespace mcpac::policy::testing
