// SPDX-License-Identifier: Apache-2.0

#include "gate/network_gate.h"

#include <fmt/format.h>

#include <optional>
#include <tuple>
#include <utility>

#include "core/printable.h"
#include "gate/network_record.h"
#include "policy/places.h"

namespace mcpac::gate {
namespace {

// Limit of addresses that a name server may make us ask about, dial and record for one request.
constexpr std::size_t kMaxAddresses = 16;
constexpr std::size_t kHostInReason = 256;

CallError of_dialling(const Error& error) {
  const bool is_timeout = error.id == ErrorId::kNetworkTimeout;
  const bool is_ours = error.id == ErrorId::kInternal;
  return {is_ours      ? ErrorKind::kInternal
          : is_timeout ? ErrorKind::kTimeout
                       : ErrorKind::kTransport,
          bounded(error.what, 1024),
          {{"id", to_string(error.id)}}};
}

}  // namespace

struct NetworkGate::State : std::enable_shared_from_this<NetworkGate::State> {
  struct Open {
    NetworkRecord record;
    ConnectDone done;  // null once it was answered
    Dialer::Token token = 0;
    std::chrono::steady_clock::time_point started;
    std::size_t asked = 0;
    std::optional<CallError> error;  // that an address brought
  };

  explicit State(NetworkSetup given) : setup(std::move(given)) {}

  void connect(std::uint64_t id, const ConnectRequest& request, ConnectDone done, ProgramEnd end);
  void refuse(const ConnectDone& done, CallError error) {
    setup.on_refused();
    done(std::unexpected(std::move(error)));
  }
  bool may_dial(std::uint64_t id, const policy::IpAddress& address);
  // Records what was decided; an error: it was a refusal, or could not be recorded.
  std::optional<CallError> settle(NetworkRecord& record, const policy::NetworkAnswer& answer);
  void dialled(std::uint64_t id, Result<Dialled> result);
  void finish(const Open& open, std::uint64_t id, std::string_view outcome, Traffic traffic);
  std::size_t close_all(std::string_view outcome);

  NetworkSetup setup;
  std::map<std::uint64_t, Open> connections;
  std::size_t total = 0;
};

std::optional<CallError> NetworkGate::State::settle(NetworkRecord& record,
                                                    const policy::NetworkAnswer& answer) {
  record.allowed = answer.allowed;
  record.rule = answer.said_in;
  record.layer = answer.layer;
  record.reason = answer.reason;
  const bool is_noted = setup.audit->append("NetworkCheck", check_payload(record)).has_value();
  if (!answer.allowed && setup.on_denied) setup.on_denied(as_check(record, answer));
  if (!is_noted) return internal(kNotRecorded);
  if (answer.allowed) return std::nullopt;
  // Which addresses names lead to inside of a network is for its user, not for a program that asks
  // for one name after the other.
  const std::string told = record.address.empty()
                               ? answer.reason
                               : fmt::format("{} leads to an address that is not granted",
                                             bounded(record.host, kHostInReason));
  return denied(policy::kNetworkPermission, told, *setup.declared);
}

void NetworkGate::State::connect(std::uint64_t id, const ConnectRequest& request, ConnectDone done,
                                 ProgramEnd end) {
  NetworkRecord record{.connection = id,
                       .host = request.host,
                       .port = request.port,
                       .tls = request.tls,
                       .address = {},
                       .allowed = false,
                       .rule = {},
                       .layer = {},
                       .reason = {}};
  // Before anything is recorded: a program must not fill the log with what it may.
  if (connections.size() >= setup.limits.open)
    return refuse(done, budget(fmt::format("more than {} connections at once", setup.limits.open),
                               Sent::kUnsaid));
  if (total >= setup.limits.total)
    return refuse(
        done, budget(fmt::format("more than {} connections", setup.limits.total), Sent::kUnsaid));
  auto answer = setup.authority->decide_network(request.host, request.port);
  const auto host = canonical_host(request.host);
  if (answer.allowed && (!host || setup.dialer == nullptr)) {
    answer.allowed = false;
    answer.reason = kNoNetworkHere;
    if (host) answer.reason += kNoneIsMade;
  }
  if (auto error = settle(record, answer)) return refuse(done, std::move(*error));
  ++total;
  record.host = *host;
  auto& open = connections[id];
  open.record = std::move(record);
  open.done = std::move(done);
  open.started = setup.clock->steady_now();
  const auto weak = weak_from_this();
  DialPlan plan;
  plan.host = *host;
  plan.port = request.port;
  plan.tls = request.tls;
  plan.end = std::move(end);
  plan.may_dial = [weak, id](const policy::IpAddress& address) {
    const auto self = weak.lock();
    return self && self->may_dial(id, address);
  };
  plan.done = [weak, id](Result<Dialled> result) {
    if (const auto self = weak.lock()) self->dialled(id, std::move(result));
  };
  plan.ended = [weak, id](ConnectionEnd how, Traffic traffic) {
    const auto self = weak.lock();
    if (!self) return;
    const auto node = self->connections.extract(id);
    if (!node.empty()) self->finish(node.mapped(), id, to_string(how), traffic);
  };
  open.token = setup.dialer->dial(std::move(plan));
}

// The last word before a packet leaves: rules about the address, and the record of them.
bool NetworkGate::State::may_dial(std::uint64_t id, const policy::IpAddress& address) {
  const auto found = connections.find(id);
  if (found == connections.end() || ++found->second.asked > kMaxAddresses) return false;
  Open& open = found->second;
  NetworkRecord record = open.record;
  record.address = policy::to_text(address);
  const auto whose = setup.dialer->is_own(policy::unwrap(address)) ? policy::AddressOf::kThisMachine
                                                                   : policy::AddressOf::kOthers;
  auto error =
      settle(record, setup.authority->decide_address(record.host, address, record.port, whose));
  const bool may = !error;
  if (!open.error) open.error = std::move(error);
  return may;
}

void NetworkGate::State::dialled(std::uint64_t id, Result<Dialled> result) {
  const auto found = connections.find(id);
  if (found == connections.end()) return;
  const auto keep = shared_from_this();
  const ConnectDone done = std::exchange(found->second.done, nullptr);
  if (result) {
    found->second.record.address = result->address;
    return done(Connected{id, std::move(result->program_end)});
  }
  const auto node = connections.extract(found);
  const Open& open = node.mapped();
  const bool is_refused = result.error().id == ErrorId::kCallDenied && open.error;
  CallError error = is_refused ? *open.error : of_dialling(result.error());
  finish(open, id, to_string(result.error().id), {});
  if (is_refused) return refuse(done, std::move(error));
  done(std::unexpected(std::move(error)));
}

// The connection has happened: a log that fails now does not unmake it. The next check will refuse.
void NetworkGate::State::finish(const Open& open, std::uint64_t id, std::string_view outcome,
                                Traffic traffic) {
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(
      setup.clock->steady_now() - open.started);
  std::ignore = setup.audit->append("ConnectionEnded",
                                    ended_payload(id, outcome, open.record.address, traffic, took));
}

std::size_t NetworkGate::State::close_all(std::string_view outcome) {
  const auto keep = shared_from_this();
  auto all = std::exchange(connections, {});
  for (auto& [id, open] : all) {
    finish(open, id, outcome, setup.dialer->close(open.token));
    if (open.done) open.done(std::unexpected(revoked(policy::kNetworkPermission)));
  }
  return all.size();
}

NetworkGate::NetworkGate(NetworkSetup setup) : state_(std::make_shared<State>(std::move(setup))) {}

NetworkGate::~NetworkGate() {
  for (auto& [id, open] : std::exchange(state_->connections, {}))
    state_->setup.dialer->close(open.token);
}

void NetworkGate::connect(std::uint64_t id, const ConnectRequest& request, ConnectDone done,
                          ProgramEnd end) {
  state_->connect(id, request, std::move(done), std::move(end));
}

void NetworkGate::cancel(std::uint64_t id) {
  const auto found = state_->connections.find(id);
  if (found == state_->connections.end() || !found->second.done) return;
  const auto keep = state_;
  const auto node = keep->connections.extract(found);
  keep->finish(node.mapped(), id, "cancelled", keep->setup.dialer->close(node.mapped().token));
  node.mapped().done(std::unexpected(cancelled(Sent::kUnsaid)));
}

std::size_t NetworkGate::close_all(std::string_view outcome) {
  return state_->close_all(outcome);
}

std::size_t NetworkGate::open() const {
  return state_->connections.size();
}

}  // namespace mcpac::gate
