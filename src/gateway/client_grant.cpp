// SPDX-License-Identifier: Apache-2.0

#include "gateway/client_grant.h"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

#include "gate/servers.h"
#include "gateway/offers.h"

namespace mcpac::gateway {
namespace {

// Without offers nothing is listed.
ShownLists::Worked worked_of(const ClientGrant::Parts& parts) {
  if (parts.offers == nullptr) return nullptr;
  return [offers = parts.offers, own = parts.own, client = parts.identity](
             const std::string& server, ListKind kind, std::chrono::nanoseconds time) {
    offers->lists().worked(own == nullptr ? server : own->process_of(client, server), kind, time);
  };
}

}  // namespace

ClientGrant::ClientGrant(Parts parts, gate::GateSetup setup)
    : ClientGrant(std::move(parts), *setup.clock, setup) {}

ClientGrant::ClientGrant(Parts parts, const Clock& clock, gate::GateSetup& setup)
    : parts_(std::move(parts)),
      anomalies_(*parts_.log),
      gate_(std::move(setup)),
      parked_(gate_, clock),
      shown_(std::make_shared<ShownLists>(gate_, worked_of(parts_))),
      questions_(std::make_shared<ServerQuestions>(*parts_.log)) {}

ClientGrant::~ClientGrant() {
  end("gateway-ended");
}

std::shared_ptr<McpSession> ClientGrant::talk(std::function<void(Outgoing)> say,
                                              std::function<void()> on_closed,
                                              const char* transport) {
  std::erase_if(sessions_, [](const auto& session) { return session.expired(); });
  // One that cannot be started is told of with each call to it.
  if (parts_.own != nullptr) {
    for (const std::string& server : parts_.catalog->servers()) {
      if (parts_.own->is_own(server)) std::ignore = parts_.own->start(parts_.identity, server);
    }
  }
  const auto opened = std::make_shared<std::weak_ptr<McpSession>>();
  auto session = McpSession::open(
      {.client = parts_.identity.empty() ? parts_.log->run_id() : parts_.identity,
       .gate = &gate_,
       .anomalies = &anomalies_,
       .catalog = parts_.catalog,
       .own = code_.get(),
       .parked = &parked_,
       .offers = parts_.offers,
       .shown = shown_,
       .room = room_,
       .calls = calls_,
       .questions = questions_,
       .amiss =
           [this] {
             return parts_.amiss ? parts_.amiss(parts_.catalog->servers()) : std::string();
           },
       .is_quarantined = [upstream = parts_.upstream](
                             const Permission& tool) { return upstream->quarantines(tool); },
       .process_of =
           parts_.own == nullptr
               ? std::function<std::string(const std::string&)>()
               : [own = parts_.own, client = parts_.identity](
                     const std::string& server) { return own->process_of(client, server); },
       .say = std::move(say),
       .on_closed =
           [own = parts_.own, client = parts_.identity, opened, heard = std::move(on_closed)] {
             const auto closed = opened->lock();
             if (own != nullptr)
               own->let_go(client, closed && closed->is_initialized()
                                       ? OwnServers::Session::kWhole
                                       : OwnServers::Session::kRequest);
             if (heard) heard();
           },
       .trace = {parts_.tracer, parts_.name, parts_.log->run_id(), transport}});
  *opened = session;
  sessions_.insert(session);
  return session;
}

bool ClientGrant::is_in_use() const {
  return calls_in_flight() > 0 || parked_.count() > 0 ||
         std::ranges::any_of(sessions_, [](const auto& weak) {
           const auto session = weak.lock();
           return session && !session->is_closed();
         });
}

std::optional<std::string> ClientGrant::as_known(const std::string& name) const {
  const std::string process = name.substr(0, name.find('.'));
  const std::string server = gate::server_of(process);
  if (server == process) return name;
  if (parts_.own == nullptr || parts_.own->process_of(parts_.identity, server) != process)
    return std::nullopt;
  return server + name.substr(process.size());
}

void ClientGrant::heard_of_drift(std::string_view what, const std::string& name) {
  const auto known = as_known(name);
  if (ended_ || !known) return;
  anomalies_.note(what, *known);
  for (const auto& weak : std::set(sessions_)) {
    if (const auto session = weak.lock()) session->tools_changed();
  }
}

void ClientGrant::heard_of_end(const std::string& process) {
  const auto server = as_known(process);
  if (!ended_ && server && uses(*server))
    anomalies_.note("the connection to a server ended during the run", *server);
}

void ClientGrant::heard(const std::string& process, const std::string& method, const Json& params) {
  const auto server = as_known(process);
  if (ended_ || !server) return;
  for (const auto& weak : std::set(sessions_)) {
    if (const auto session = weak.lock()) session->heard(*server, method, params);
  }
}

void ClientGrant::heard_of_state(const std::string& process, const std::string& text) {
  const auto server = as_known(process);
  if (server && uses(*server))
    heard(process, "notifications/message",
          {{"level", "warning"}, {"logger", "mcpac"}, {"data", text}});
}

bool ClientGrant::uses(const std::string& server) const {
  return parts_.catalog->servers().contains(server);
}

servers::ReachOfServers ClientGrant::reach() const {
  if (!parts_.reach) return {};
  auto reach = parts_.reach(gate_.authority());
  servers::keep_callable(reach, [this](const Permission& tool) { return gate_.stands(tool); });
  return reach;
}

void ClientGrant::hang_up() {
  for (const auto& weak : std::exchange(sessions_, {})) {
    if (const auto session = weak.lock()) session->close();
  }
}

void ClientGrant::end(std::string_view verdict) {
  if (std::exchange(ended_, true)) return;
  control_.reset();
  if (code_) code_->stop();
  hang_up();
  gate_.close();
  questions_->close();
  anomalies_.summarize();
  if (const std::size_t more = code_ ? code_->unrecorded_refusals() : 0; more > 0) {
    std::ignore = parts_.log->append(
        "Anomaly",
        {{"what", "more programs that were refused before they began"}, {"count", more}});
  }
  std::ignore = parts_.log->append("RunEnded", {{"verdict", verdict}});
  std::ignore = parts_.log->close();
}

}  // namespace mcpac::gateway
