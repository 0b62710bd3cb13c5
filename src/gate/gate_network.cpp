// The gate's way of a connection; what is decided and recorded of it is in network_gate.h.
#include <utility>

#include "gate/gate_state.h"
#include "policy/places.h"

namespace mcpac::gate {
namespace {

// As revocations name it; the text is ours, and well formed.
const Permission& network_permission() {
  static const Permission permission = Permission::parse(policy::kNetworkPermission).value();
  return permission;
}

}  // namespace

bool Gate::State::means_network(const std::function<bool(const Permission&)>& matches) {
  return matches(network_permission());
}

NetworkSetup Gate::State::network_setup() {
  return {.authority = &setup.authority,
          .dialer = setup.dialer,
          .audit = setup.audit,
          .clock = setup.clock,
          .declared = &setup.declared.texts,
          .limits = setup.network,
          .on_denied = setup.on_denied,
          .on_refused = [this] { count_refusal(); }};
}

Gate::CallId Gate::State::connect(const ConnectRequest& request, ConnectDone done) {
  const CallId id = ++last_id;
  const auto keep = shared_from_this();
  if (closed || is_revoked(network_permission())) {
    // What was taken back is refused as often as it is asked for; the end of it is count_refusal().
    if (!closed) count_refusal();
    done(std::unexpected(revoked(policy::kNetworkPermission)));
    return id;
  }
  network->connect(id, request, std::move(done));
  return id;
}

}  // namespace mcpac::gate
