// SPDX-License-Identifier: Apache-2.0

// Listener: events of a run for its caller, and the one question before it.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "run/check/check.h"
#include "toolchain/child/stage.h"

namespace mcpac::run {

struct StageTime {
  std::string name;  // "prepare", "analyse", "check", "compile", "servers", "run"
  std::chrono::microseconds time{0};
};

// Callbacks while the run goes on, on the thread that called execute().
struct Listener {
  std::function<void(const StageTime&)> stage = [](const StageTime&) {};
  std::function<void(std::string_view)> warning = [](std::string_view) {};
  std::function<void(std::string_view)> note = [](std::string_view) {};
  // Something begins that takes seconds, and is done once a machine or a lock.
  std::function<void(std::string_view)> wait = [](std::string_view) {};
  std::function<void(std::string_view)> standard_output = [](std::string_view) {};
  std::function<void(std::string_view)> standard_error = [](std::string_view) {};
  // mcpac::log of the program: level and text.
  std::function<void(std::string_view, std::string_view)> log = [](std::string_view,
                                                                   std::string_view) {};
  // Where these three write to, when they may block, and what holds them back there (ChildIo).
  int output_sink = -1;
  int error_sink = -1;
  int log_sink = -1;
  toolchain::OutputGate* gate = nullptr;
  // Something is missing: may the run have it? Only asked when a person can answer.
  // `stop` becomes readable on Ctrl-C: then the answer is no. Null: no person is there.
  std::function<bool(const CheckResult&, StopSignal stop)> may_grant = nullptr;
};

}  // namespace mcpac::run
