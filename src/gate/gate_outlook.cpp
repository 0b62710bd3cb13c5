// Hypothetical queries of the gate (no side effects, no audit): for lists, and for notifications.
#include <utility>

#include "gate/gate_state.h"

namespace mcpac::gate {

const LockedTool* Gate::State::standing_tool(const Permission& permission) const {
  const auto tool = setup.tools->find(permission);
  const bool stands = tool != setup.tools->end() && tool->second.input != nullptr && !closed &&
                      !is_revoked(permission) && !setup.upstream->quarantines(permission) &&
                      setup.declared.permissions.contains(permission);
  return stands ? &tool->second : nullptr;
}

bool Gate::stands(const Permission& permission) const {
  return state_->standing_tool(permission) != nullptr;
}

bool Gate::could_allow(const Permission& permission, const policy::CallInSource& call,
                       Work& work) const {
  const LockedTool* tool = state_->standing_tool(permission);
  if (tool == nullptr) return false;
  policy::CallInSource made = call;
  // What is all known is looked at as it would be sent.
  const bool is_whole = made.unknown.empty() && !made.open;
  if (is_whole && state_->setup.authority.complete(permission, *tool->input, made.known))
    return false;
  return state_->setup.authority.outlook(permission, made, work) != policy::Outlook::kDenied;
}

bool Gate::could_allow(const Permission& permission, std::string_view where, Work& work) const {
  return stands(permission) &&
         state_->setup.authority.coverage(permission, where, work) != policy::Coverage::kMissing;
}

bool Gate::allows_now(const Permission& permission, Json arguments) const {
  const LockedTool* tool = state_->standing_tool(permission);
  if (tool == nullptr) return false;
  const auto& authority = state_->setup.authority;
  if (authority.complete(permission, *tool->input, arguments)) return false;
  return authority.explain(permission, arguments).decision.effect == policy::Effect::kAllow;
}

std::optional<Json> Gate::as_sent(const Permission& permission, Json arguments) const {
  const LockedTool* tool = state_->standing_tool(permission);
  if (tool == nullptr || state_->setup.authority.complete(permission, *tool->input, arguments))
    return std::nullopt;
  return arguments;
}

}  // namespace mcpac::gate
