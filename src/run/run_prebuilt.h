// SPDX-License-Identifier: Apache-2.0

// run_prebuilt(): `mcpac run`, a program compiled elsewhere, in the same sandbox at the same gate.
//
// Its source is not known. What it declares stands in its note (analyzer/binary_note.h), and then
// its authority is declared ∩ granted, as with `execute`; without a note it is what was granted.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "run/pipeline.h"

namespace mcpac::run {

struct RunRequest {
  std::filesystem::path program;
  std::vector<std::string> arguments;  // with argv[0]
  policy::LayerText granted;
  Enforcement enforcement = Enforcement::kEnforce;
  RunLimits limits;
  Questions questions = {};
  DeniedUses denied_uses = DeniedUses::kRefuse;  // only of what rules ask
  PrewarmedRun* standby = nullptr;               // as in ExecuteRequest
  history::RecordingChoice recording = {};
  std::optional<Json> given = {};  // as ExecuteRequest::arguments
  std::string lifted_by = {};      // likewise
};

[[nodiscard]] Outcome run_prebuilt(const project::Project& project, const project::Folders& folders,
                                   RunRequest request, const Listener& listener);

}  // namespace mcpac::run
