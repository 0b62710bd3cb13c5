// SPDX-License-Identifier: Apache-2.0

// Gateway: the servers of a project, and the runs of the clients admitted to them.
//
// There is one set of servers, started when the first client that may call them is admitted, and
// one event loop on its own thread (ADR 0007) that all doors share. The identity of a client is
// settled before it comes here: let_in() is given the rules that hold for it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include <boost/asio/steady_timer.hpp>

#include "codegen/lock.h"
#include "core/clock.h"
#include "gateway/announcements.h"
#include "gateway/client_registry.h"
#include "gateway/code_mode/preparation.h"
#include "gateway/code_mode/ready_tools.h"
#include "gateway/figures.h"
#include "gateway/offers.h"
#include "gateway/own_servers.h"
#include "gateway/timed_upstream.h"
#include "gateway/tracing/exporter.h"
#include "gateway/tracing/settings.h"
#include "gateway/tracing/traced_upstream.h"
#include "gateway/tracing/tracer.h"
#include "history/recording/run_recording.h"
#include "project/known_lock.h"
#include "project/project.h"
#include "project/project_use.h"
#include "run/asking/approval_store.h"
#include "run/asking/run_approver.h"
#include "run/check/authorities.h"
#include "servers/confine/confine_servers.h"
#include "servers/host.h"

namespace mcpac::gateway {

// TraceSending: a gateway's tracing, from the calls to the collector.
//
// Calls of servers pass through it and have spans; spans go to the collector that the user named.
class TraceSending {
 public:
  struct Setup {
    servers::Host* host = nullptr;    // borrowed
    const Clock* clock = nullptr;     // borrowed
    gate::Upstream* inner = nullptr;  // borrowed
    std::function<std::string(const std::string& server)> transport;
    std::function<void(const std::string&)> warning;  // bounded by its provider
  };
  [[nodiscard]] static Result<std::unique_ptr<TraceSending>> begin(
      const tracing::Settings& settings, const Setup& setup);
  TraceSending(const TraceSending&) = delete;
  TraceSending& operator=(const TraceSending&) = delete;

  [[nodiscard]] gate::Upstream& upstream() { return upstream_; }
  [[nodiscard]] const std::shared_ptr<tracing::Tracer>& tracer() const { return tracer_; }
  // On the loop.
  [[nodiscard]] const tracing::ExportFigures& figures() const { return exporter_->figures(); }
  // Not from the loop: sends the spans that there are, or drops them after five seconds.
  void end();
  // On the loop. What is left is dropped.
  void close() { exporter_->close(); }

 private:
  TraceSending(const Setup& setup, std::shared_ptr<tracing::Exporter> exporter,
               std::shared_ptr<tracing::Tracer> tracer)
      : host_(*setup.host),
        exporter_(std::move(exporter)),
        tracer_(std::move(tracer)),
        upstream_(*setup.inner, tracer_, setup.transport) {}

  servers::Host& host_;
  std::shared_ptr<tracing::Exporter> exporter_;  // on the loop
  std::shared_ptr<tracing::Tracer> tracer_;
  tracing::TracedUpstream upstream_;
};

struct GatewaySetup {
  project::Project project;
  project::Folders folders;
  NameForm names = NameForm::kDotted;
  // The approver of what rules ask; null: the person behind the client.
  run::MakeApprover approver = nullptr;
  history::RecordingChoice recording = {};  // of all clients together
  std::function<void(std::string_view)> warning = [](std::string_view) {};
  // Nothing: no code mode.
  std::optional<code_mode::Offer> code = std::nullopt;
  // Nothing: no tracing.
  std::optional<tracing::Settings> tracing = std::nullopt;
};

class Gateway {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Gateway>> open(GatewaySetup setup);
  // Ends every run, then the servers. Not from the loop.
  ~Gateway();
  Gateway(const Gateway&) = delete;
  Gateway& operator=(const Gateway&) = delete;

  using Principal = gateway::Principal;
  // On the loop. The run of this client: the one that it has, or a new one under these rules, read
  // now. An error: a rule that does not load, a record that cannot be written, a run that ended, or
  // a subject who lost everything under this or another name.
  using Rules = std::function<Result<policy::LayerText>()>;
  [[nodiscard]] Result<std::shared_ptr<ClientGrant>> let_in(const Principal& principal,
                                                            const Rules& rules);
  // The same, of a client that is its own subject.
  [[nodiscard]] Result<std::shared_ptr<ClientGrant>> let_in(const std::string& client,
                                                            const Rules& rules) {
    return let_in(Principal{client, client}, rules);
  }
  // On the loop. What let this client in is over: its runs end, also those under former rules.
  void end_client(const std::string& client, std::string_view verdict) {
    runs_.end_client(client, verdict);
  }
  // On the loop. Its sessions end, with what is in work; it may come again.
  void hang_up(const std::string& client) { runs_.hang_up(client); }
  [[nodiscard]] servers::Host& host() { return *host_; }
  // On the loop. A client that connects from now on gets a run under the rules of now; runs that
  // there are go on for the sessions that have them, and end with the last of these.
  void renew_rules() { runs_.renew(); }
  // On the loop. Calls of all clients that have no answer yet.
  [[nodiscard]] std::size_t calls_in_flight() const { return runs_.calls_in_flight(); }
  // On the loop; what doors know of is left out.
  [[nodiscard]] Figures figures() const;
  // On the loop. No client is admitted after it.
  void end_all(std::string_view verdict);
  // After that, not from the loop: sends the spans that there are, or drops them after five
  // seconds.
  void end_tracing();
  // After that, not from the loop: writes the recording, or says what was not as recorded.
  [[nodiscard]] Result<void> end_recording();

 private:
  Gateway(GatewaySetup setup, codegen::Lock lock);
  [[nodiscard]] Result<void> begin_tracing();
  void begin_preparing();
  [[nodiscard]] Result<std::shared_ptr<ClientGrant>> begin(const Principal& principal,
                                                           policy::LayerText rules);
  [[nodiscard]] gate::GateSetup gate_setup(policy::Authority authority,
                                           const gate::Binding& binding,
                                           const ClientGrant::Parts& parts) const;
  [[nodiscard]] std::unique_ptr<code_mode::CodeMode> code_for(
      ClientGrant& run, std::shared_ptr<const code_mode::GrantedView> view,
      policy::LayerText rules);
  // On the loop, once.
  void tell_of_states();
  // On the loop. What shared servers get: what the rules of any client admit, also of one who
  // comes.
  [[nodiscard]] project::PlacesOfServers places_for_all(
      const servers::ReachOfServers& coming = {}) const;
  // On the loop. What the processes of one client's own get, by its runs and the one that comes.
  [[nodiscard]] project::PlacesOfServers places_for(
      const std::string& identity, const servers::ReachOfServers& coming = {}) const;
  // Both, of what this client uses.
  [[nodiscard]] Json shown_places(const std::string& identity,
                                  const servers::ReachOfServers& coming = {}) const;
  [[nodiscard]] std::function<servers::ReachOfServers(const policy::Authority&)> reach_by(
      std::set<Permission> tools, std::set<std::string> servers) const;
  void begin_own_servers();
  // On the loop. Starts those again that get more now than they have.
  void give_more_places(const project::PlacesOfServers& places);
  // Until the gateway goes.
  void sweep_later();
  void show_as_live(const std::shared_ptr<ClientGrant>& run, const std::string& client,
                    const std::string& granted);

  const SystemClock clock_;
  GatewaySetup setup_;
  const codegen::Lock lock_;
  const project::LockDigests lock_digests_;
  run::PolicyWorld world_;
  run::ApprovalStore approvals_;
  project::ProjectUse use_;  // until its servers are down
  std::unique_ptr<servers::Host> host_;
  std::unique_ptr<Offers> offers_;                // on the loop
  std::unique_ptr<Announcements> announcements_;  // on the loop
  std::set<std::string> told_of_rules_;           // what was said of rules and tools, on the loop
  std::unique_ptr<history::RunRecording> recording_;
  std::unique_ptr<code_mode::ReadyTools> tools_;         // of programs; null: no code mode
  std::unique_ptr<code_mode::Programs> programs_;        // on the loop
  std::unique_ptr<code_mode::Preparation> preparation_;  // null: no code mode
  std::unique_ptr<TimedUpstream> upstream_;              // over those of the host
  std::unique_ptr<TraceSending> traces_;                 // over upstream_; null: no tracing
  std::unique_ptr<OwnServers> own_;                      // on the loop
  ClientRegistry runs_;                                  // on the loop
  std::unique_ptr<servers::ToldRefusals> refusals_;      // of confined servers
  servers::ReachOfServers last_reach_;                   // of the last client of each, on the loop
  bool ending_ = false;                                  // likewise
  std::shared_ptr<boost::asio::steady_timer> sweep_;     // likewise
};

}  // namespace mcpac::gateway
