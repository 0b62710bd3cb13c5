// SPDX-License-Identifier: Apache-2.0

// GateControl: a gate behind a RunControl. What `mcpac runs` shows of it, and what revoking does.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "gate/gate.h"
#include "run/live/run_control.h"

namespace mcpac::run {

struct LiveFacts {
  std::string program;
  std::string started;               // RFC 3339
  std::vector<std::string> granted;  // the rules of all layers
  gate::Mode mode = gate::Mode::kEnforce;
  std::string lifted_by = {};  // who gave the word for a switch that weakens; or empty
  // Places that rules give its confined servers now (servers/confine/server_places.h); null: none
  // has any.
  std::function<Json()> server_places = nullptr;
};

// `gate` is borrowed and outlives the controls. `kill` ends the run.
[[nodiscard]] RunControls controls_of(gate::Gate& gate, LiveFacts facts,
                                      std::function<void()> kill);

}  // namespace mcpac::run
