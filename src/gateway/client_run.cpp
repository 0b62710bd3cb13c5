#include "gateway/client_run.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "gateway/offers.h"

namespace mcpac::gateway {
namespace {

// `offers` may be null: then nothing is listed.
ShownLists::Worked worked_of(Offers* offers) {
  if (offers == nullptr) return nullptr;
  return [offers](const std::string& server, ListKind kind, std::chrono::nanoseconds time) {
    offers->lists().worked(server, kind, time);
  };
}

}  // namespace

ClientRun::ClientRun(Parts parts, gate::GateSetup setup)
    : ClientRun(std::move(parts), *setup.clock, setup) {}

ClientRun::ClientRun(Parts parts, const Clock& clock, gate::GateSetup& setup)
    : parts_(std::move(parts)),
      anomalies_(*parts_.log),
      gate_(std::move(setup)),
      parked_(gate_, clock),
      shown_(std::make_shared<ShownLists>(gate_, worked_of(parts_.offers))),
      questions_(std::make_shared<ServerQuestions>(*parts_.log)) {}

ClientRun::~ClientRun() {
  end("gateway-ended");
}

std::shared_ptr<ClientSession> ClientRun::talk(std::function<void(Outgoing)> say,
                                               std::function<void()> on_closed,
                                               const char* transport) {
  std::erase_if(sessions_, [](const auto& session) { return session.expired(); });
  auto session = ClientSession::open(
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
       .say = std::move(say),
       .on_closed = std::move(on_closed),
       .trace = {parts_.tracer, parts_.name, parts_.log->run_id(), transport}});
  sessions_.insert(session);
  return session;
}

bool ClientRun::is_in_use() const {
  return calls_in_flight() > 0 || parked_.count() > 0 ||
         std::ranges::any_of(sessions_, [](const auto& session) { return !session.expired(); });
}

void ClientRun::heard_of_drift(std::string_view what, const std::string& name) {
  if (ended_) return;
  anomalies_.note(what, name);
  for (const auto& weak : std::set(sessions_)) {
    if (const auto session = weak.lock()) session->tools_changed();
  }
}

void ClientRun::heard_of_end(const std::string& server) {
  if (!ended_ && uses(server))
    anomalies_.note("the connection to a server ended during the run", server);
}

void ClientRun::heard(const std::string& server, const std::string& method, const Json& params) {
  if (ended_) return;
  for (const auto& weak : std::set(sessions_)) {
    if (const auto session = weak.lock()) session->heard(server, method, params);
  }
}

void ClientRun::heard_of_state(const std::string& server, const std::string& text) {
  if (uses(server))
    heard(server, "notifications/message",
          {{"level", "warning"}, {"logger", "mcpac"}, {"data", text}});
}

bool ClientRun::uses(const std::string& server) const {
  return parts_.catalog->servers().contains(server);
}

execute::ReachOfServers ClientRun::reach() const {
  execute::ReachOfServers reach = parts_.reach;
  const auto status = gate_.status();
  for (auto& [server, one] : reach) {
    if (status.everything_revoked) {
      // What its rules hold back stays so; it admits nothing, nor lifts what others deny.
      one.places.tools.clear();
      one.network_denied = "what this client held was taken back";
      continue;
    }
    std::erase_if(one.places.tools,
                  [&](const auto& tool) { return status.revoked.contains(tool.permission); });
  }
  return reach;
}

void ClientRun::hang_up() {
  for (const auto& weak : std::exchange(sessions_, {})) {
    if (const auto session = weak.lock()) session->close();
  }
}

void ClientRun::end(std::string_view verdict) {
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
