// The steps of a decision, in their order: each that refuses says so in the check that is recorded.
#include <optional>
#include <string>
#include <utility>

#include "gate/gate_state.h"
#include "policy/explain/taken_for.h"

namespace mcpac::gate {
namespace {

// Beside arguments and paths a record has texts of ours, of bounded length, and rules of the user.
constexpr std::size_t kRecordBeside = std::size_t{32} << 10U;
static_assert(kMaxRecordedArguments + policy::kMaxPathFactBytes + kRecordBeside <=
              audit::kMaxEventBytes);

// More kinds of denials than a user is shown of one run (history/records/denials.h).
constexpr std::size_t kMostExplained = 16;

}  // namespace

std::optional<CallError> Gate::State::judge(const LockedTool& tool, const Permission& permission,
                                            Json& arguments, Check& check,
                                            Reservation& reservation) {
  if (auto error = still_callable(permission, check)) return error;
  if (!arguments.is_object()) {
    check.decided_by = DecidedBy::kNotObject;
    check.reason = "the arguments are not an object";
    return invalid_arguments({"", "type", "must be an object"}, arguments);
  }
  const auto violation = setup.authority.complete(permission, *tool.input, arguments);
  auto unkept = keep(tool, permission, arguments, check);
  if (violation) {
    check.decided_by = DecidedBy::kSchema;
    check.rule = violation->keyword;
    check.layer = "lock";
    check.reason = violation->pointer + " " + violation->message;
    return invalid_arguments(*violation, arguments);
  }
  if (unkept) return unkept;
  return decide(permission, arguments, check, reservation);
}

std::optional<CallError> Gate::State::still_callable(const Permission& permission,
                                                     Check& check) const {
  if (closed || is_revoked(permission)) {
    check.decided_by = DecidedBy::kRevoked;
    check.reason = "revoked";
    return revoked(check.capability);
  }
  if (setup.upstream->quarantines(permission)) {
    check.decided_by = DecidedBy::kDrift;
    check.layer = "lock";
    check.reason = "the server changed this tool; it is not the one that was approved";
    return drifted(check.capability);
  }
  return std::nullopt;
}

std::optional<CallError> Gate::State::keep(const LockedTool& tool, const Permission& permission,
                                           const Json& arguments, Check& check) const {
  Json clean;
  const auto secrecy = setup.upstream->redact(permission, arguments, clean);
  check.redacted = secrecy == Upstream::Secrecy::kRedacted;
  if (tool.secret_places != nullptr) {
    if (!check.redacted) clean = arguments;
    check.redacted = tool.secret_places->redact(clean) || check.redacted;
  }
  const Json& kept = check.redacted ? clean : arguments;
  check.targets = targets_of(kept);
  if (check.level == policy::AuditLevel::kMeta) return std::nullopt;
  const std::string text = to_text(kept);
  check.arguments_digest = setup.audit->keyed_digest(text);
  if (check.level != policy::AuditLevel::kArgs) return std::nullopt;
  // What may hold a secret not known yet is not written down, nor what was taken out whole.
  if (secrecy == Upstream::Secrecy::kUnknown || !kept.is_object()) return std::nullopt;
  if (text.size() <= kMaxRecordedArguments) {
    check.arguments = kept;
    return std::nullopt;
  }
  check.decided_by = DecidedBy::kTooLarge;
  check.reason =
      "a rule wants the arguments recorded, and they are larger than a record: send less in a call";
  return denied(check.capability, check.reason, setup.declared.texts);
}

std::optional<CallError> Gate::State::decide(const Permission& permission, const Json& arguments,
                                             Check& check, Reservation& reservation) {
  const bool is_declared = setup.declared.permissions.contains(permission);
  if (!is_declared) {
    check.decided_by = DecidedBy::kDeclared;
    check.layer = "declared";
    check.reason = "the program does not declare it";
    if (setup.mode == Mode::kEnforce)
      return denied(check.capability, check.reason, setup.declared.texts);
  } else {
    check.decided_by = DecidedBy::kPolicy;
  }
  policy::Decision decision =
      setup.authority.decide(permission, arguments, {}, check.evidence, lifted());
  const bool is_admitted = decision.effect == policy::Effect::kAllow || decision.lifted;
  if (!is_declared) {
    check.evidence = {};
    check.would_deny = is_admitted;
    reservation = {decision.reservation, decision.counts_result};
    if (is_admitted) return std::nullopt;
    return denied(check.capability, check.reason, setup.declared.texts);
  }
  note(decision, check, reservation);
  check.asks = std::move(decision.asks);
  if (is_admitted) return std::nullopt;
  return denied(check.capability, check.reason, setup.declared.texts);
}

void Gate::State::note(policy::Decision& decision, Check& check, Reservation& reservation) {
  reservation = {decision.reservation, decision.counts_result};
  check.rule = std::move(decision.rule);
  check.layer = std::move(decision.layer);
  check.place = std::move(decision.place);
  check.reason = std::move(decision.reason);
  check.other_rules = decision.other_rules;
  check.would_deny = decision.lifted;
  check.used_up = decision.used_up;
  check.ended = decision.ended;
  if (decision.effect != policy::Effect::kAllow && check.reason.empty())
    check.reason = "not granted";
  if (!decision.too_large) return;
  check.decided_by = DecidedBy::kTooLarge;
  check.arguments.reset();
}

// Where a path leads is asked of the disk once more, and all rules are gone through for it and for
// what would admit the call. So each
// kind of denial is explained once, and of a program that invents kinds only the first: what comes
// after them is counted, and not read.
void Gate::State::explain_denial(const Permission& permission, const Json& arguments,
                                 Check& check) {
  if (!setup.on_denied || check.decided_by != DecidedBy::kPolicy) return;
  if (explained.size() >= kMostExplained) return;
  std::string kind = permission.text();
  for (const auto& part : {check.rule, check.layer, check.reason})
    kind.append(1, '\n').append(part);
  if (!explained.insert(std::move(kind)).second) return;
  auto found = setup.authority.explain(permission, arguments);
  check.taken_for = found.decision.remark.empty() ? policy::taken_for(permission, found)
                                                  : std::move(found.decision.remark);
  // Of a layer that refuses it with permission checks off: what explains it names another.
  if (found.decision.layer != check.layer) return;
  check.would_grant = std::move(found.decision.would_grant);
  check.no_grant = std::move(found.decision.no_grant);
}

}  // namespace mcpac::gate
