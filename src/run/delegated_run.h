// DelegatedRun: existing parts of a run in the name of an MCP client (src/gateway).
//
// The client's servers, its loop and its gate are there; the run has none of its own. Its gate lets
// through what the program declares and the client could ever be allowed, and hands it on: by the
// client's rules, limits and approvals each call is decided there (ADR 0031).
#pragma once

#include <string>

#include "codegen/lock.h"
#include "gate/upstream.h"
#include "history/records/run_record.h"
#include "policy/authority.h"
#include "servers/host.h"
#include "toolchain/child/stage.h"

namespace mcpac::run {

// All borrowed for the run.
struct DelegatedRun {
  servers::Host& host;                 // the loop; no server is started for the run
  gate::Upstream& upstream;            // decides calls as the client's
  const codegen::Lock& lock;           // the tools that the program may know
  const policy::ToolSchemas& schemas;  // of all tools that the client's rules may name
  StopSignal stop;                     // instead of signals
  std::string run_id;
  std::string client_run;
  bool is_replay = false;                     // a recording answers instead of the servers
  history::RefusalBound* refusals = nullptr;  // of the client
};

}  // namespace mcpac::run
