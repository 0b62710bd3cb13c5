// SPDX-License-Identifier: Apache-2.0

// CodeMode: the tools of code mode for one client: search, describe, analyse, execute.
//
// A program runs with what it declares, of what the client was granted: its own gate holds it to
// its declaration, and hands each call on to the client's gate (client_upstream.h, ADR 0031).
// Lives on the loop; programs are analysed, compiled and attended to on threads of their own.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "codegen/lock.h"
#include "core/json_schema.h"
#include "gate/gate.h"
#include "gateway/code_mode/granted_view.h"
#include "gateway/code_mode/own_tools.h"
#include "gateway/code_mode/programs.h"
#include "gateway/code_mode/ready_tools.h"
#include "gateway/tracing/tracer.h"
#include "history/records/run_record.h"
#include "run/pipeline.h"
#include "servers/host.h"

namespace mcpac::gateway::code_mode {

// The part of it that a gateway offers.
struct Offer {
  bool alone = false;     // instead of the granted tools, and not beside them
  run::RunLimits limits;  // of one program; a client may ask for less
};

// Outlives the programs of its client; all borrowed but the view and the rules.
struct Setup {
  servers::Host* host = nullptr;
  Programs* programs = nullptr;
  ReadyTools* tools = nullptr;
  gate::Gate* gate = nullptr;               // the client's
  const gate::Upstream* servers = nullptr;  // behind that
  const codegen::Lock* lock = nullptr;      // all tools
  const project::Folders* folders = nullptr;
  const Clock* clock = nullptr;
  std::shared_ptr<const GrantedView> view;
  policy::LayerText rules;  // the client's own layer
  std::string client_run;   // its id in the audit log
  Offer offer{};
  bool is_replay = false;                             // a recording answers instead of the servers
  std::shared_ptr<tracing::Tracer> tracer = nullptr;  // null: no tracing
  std::shared_ptr<history::RefusalBound> refusals = std::make_shared<history::RefusalBound>();
  bool is_revoked = false;  // everything was taken back: no program is started any more
};

class CodeMode final : public OwnTools {
 public:
  explicit CodeMode(Setup setup);
  // Its programs are told to end; the owner of Programs waits for that.
  ~CodeMode() override;

  [[nodiscard]] const Json& definitions() const override { return definitions_; }
  [[nodiscard]] bool has(const std::string& name) const override { return inputs_.contains(name); }
  [[nodiscard]] bool are_alone() const override { return shared_->offer.alone; }
  [[nodiscard]] const std::string& instructions() const override {
    return shared_->view->instructions();
  }
  void call(const std::string& name, const Json& arguments,
            const std::shared_ptr<CallOfClient>& call) override;
  [[nodiscard]] std::size_t in_flight() const override;
  // Programs that were refused before they began, and that have no record of their own.
  [[nodiscard]] std::size_t unrecorded_refusals() const {
    return shared_->refusals->only_counted();
  }
  // Ends the programs of this client.
  void stop();
  // The client lost `permission` (empty: everything). Its gate refuses the calls; what programs
  // reach by themselves ends with them.
  void heard_of_revocation(const std::string& permission);

 private:
  void analyze(const Json& arguments, const std::shared_ptr<CallOfClient>& call);
  void execute(const Json& arguments, const std::shared_ptr<CallOfClient>& call);
  void start(const std::shared_ptr<CallOfClient>& call, Programs::Work work);

  // Of programs at work, too.
  std::shared_ptr<const Setup> shared_;
  Json definitions_;
  std::map<std::string, std::shared_ptr<const JsonSchema>, std::less<>> inputs_;
};

}  // namespace mcpac::gateway::code_mode
