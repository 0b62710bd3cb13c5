#include "policy/authority.h"

#include "policy/authority_state.h"
#include "policy/decide/canonical_urls.h"
#include "policy/decide/decide_places.h"
#include "policy/decide/find_evidence.h"
#include "policy/load.h"

namespace mcpac::policy {
namespace {

Decision too_large(std::string reason) {
  Decision decision;
  decision.reason = std::move(reason);
  decision.too_large = true;
  return decision;
}

constexpr const char* kTooManyToAsk =
    "its paths take too long to look up: send fewer of them in a call";
constexpr const char* kTooManyToRecord =
    "a rule wants the call recorded, and where its paths lead is larger than a record: send fewer "
    "of them in a call";

}  // namespace

Result<Authority> Authority::load(const std::vector<LayerText>& texts,
                                  const Environment& environment) {
  if (environment.tools == nullptr)
    return fail(ErrorId::kInternal, "an authority needs the tools of the lock");
  auto impl = std::make_unique<Impl>();
  impl->environment = environment;
  if (environment.clock != nullptr) impl->start = environment.clock->steady_now();
  if (environment.resolver != nullptr) {
    impl->witness = std::make_unique<PathWitness>(*environment.resolver);
    impl->witness->begin({});
    impl->environment.resolver = impl->witness.get();
  }
  for (const auto& text : texts) {
    auto layer = load_layer(text, impl->environment);
    if (!layer) return pass_on(layer);
    for (const auto& rule : layer->rules)
      impl->weighs_arguments = impl->weighs_arguments || rule.clauses.bytes_out.has_value();
    impl->layers.push_back(std::move(*layer));
  }
  if (impl->witness) impl->loaded_paths = impl->witness->take();
  return Authority(std::move(impl));
}

Authority::Authority(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Authority::Authority(Authority&&) noexcept = default;
Authority& Authority::operator=(Authority&&) noexcept = default;
Authority::~Authority() = default;

std::optional<SchemaViolation> Authority::complete(const Permission& permission,
                                                   const JsonSchema& schema,
                                                   Json& arguments) const {
  return policy::complete(impl_->layers, permission, schema, arguments);
}

Decision Authority::decide(const Permission& permission, const Json& arguments, Explanation* found,
                           std::span<const AskRule> approved) {
  const Times times = impl_->now();
  const CallUnderTest call = impl_->under_test(permission, arguments);
  std::vector<Verdict> verdicts;
  impl_->begin_paths();
  Decision decision = impl_->judge(call, times, approved, verdicts);
  if (found != nullptr) impl_->explain(call, times, verdicts, *found);
  static_cast<void>(impl_->end_paths());
  if (impl_->asked_too_much()) decision = too_large(kTooManyToAsk);
  impl_->add_fix(call, times, decision);
  if (found != nullptr) {
    found->decision = decision;
    impl_->settle_root(permission, arguments, *found);
    decision = found->decision;
  }
  if (decision.allowed()) impl_->reserve(verdicts, times, call.demand, decision);
  return decision;
}

Decision Authority::decide(const Permission& permission, const Json& arguments,
                           std::span<const AskRule> approved, Evidence& evidence, Lifted lifted) {
  const Times times = impl_->now();
  const CallUnderTest call = impl_->under_test(permission, arguments);
  std::vector<Verdict> verdicts;
  impl_->begin_paths();
  Decision decision = impl_->judge(call, times, approved, verdicts);
  if (lifted == Lifted::kUngranted) impl_->lift(call, times, verdicts, decision);
  find_evidence(impl_->layers, verdicts, call, times, evidence);
  auto paths = impl_->end_paths();
  // Also where only the words about a denial asked for more: without them it could not be made
  // again from its record.
  if (impl_->asked_too_much()) {
    evidence = {};
    return too_large(kTooManyToAsk);
  }
  if (!paths.empty() && audit_level(permission) == AuditLevel::kArgs) {
    if (!impl_->environment.is_replay && recorded_size(paths) > kMaxPathFactBytes) {
      evidence = {};
      return too_large(kTooManyToRecord);
    }
    evidence.paths = std::move(paths);
  }
  if (decision.allowed() || decision.lifted) impl_->reserve(verdicts, times, call.demand, decision);
  return decision;
}

AuditLevel Authority::audit_level(const Permission& permission) const {
  return policy::audit_level(impl_->layers, permission);
}

Explanation Authority::explain(const Permission& permission, const Json& arguments) const {
  const Times times = impl_->now();
  const CallUnderTest call = impl_->under_test(permission, arguments);
  std::vector<Verdict> verdicts;
  Explanation found;
  impl_->begin_paths();
  found.decision = impl_->judge(call, times, {}, verdicts);
  impl_->explain(call, times, verdicts, found);
  static_cast<void>(impl_->end_paths());
  if (impl_->asked_too_much()) found.decision = too_large(kTooManyToAsk);
  impl_->add_fix(call, times, found.decision);
  impl_->settle_root(permission, arguments, found);
  return found;
}

void Authority::give_back(std::uint64_t id) {
  impl_->reservations.give_back(impl_->layers, id);
}

bool Authority::settle(std::uint64_t id, std::uint64_t result_bytes) {
  return impl_->reservations.settle(impl_->layers, id, result_bytes);
}

NetworkAnswer Authority::decide_network(std::string_view host, std::uint16_t port) const {
  return policy::decide_network(impl_->layers, host, port);
}

NetworkAnswer Authority::decide_address(std::string_view host, const IpAddress& address,
                                        std::uint16_t port, AddressOf whose) const {
  return policy::decide_address(impl_->layers, host, address, port, whose);
}

}  // namespace mcpac::policy
