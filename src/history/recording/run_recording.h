// SPDX-License-Identifier: Apache-2.0

// RunRecording: --record and --replay of one run, or of one gateway with all its clients.
//
// With neither it does nothing. Opened before anything starts, so that a file that cannot be used
// stops the run and not its end. A recording is written when all is over, whole or not at all, for
// its owner alone (0600).
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "codegen/lock.h"
#include "history/recording/recording.h"
#include "history/recording/recording_choice.h"
#include "servers/host.h"

namespace mcpac::history {

class Recorder;
class Replayer;

class RunRecording {
 public:
  using Say = std::function<void(std::string_view)>;
  // `lock` is borrowed. kRecordingInvalid, kRecordingOtherLock, kUsage; `note` hears of what does
  // not matter.
  [[nodiscard]] static Result<std::unique_ptr<RunRecording>> open(const RecordingChoice& choice,
                                                                  const codegen::Lock& lock,
                                                                  const Say& note);
  ~RunRecording();
  RunRecording(const RunRecording&) = delete;
  RunRecording& operator=(const RunRecording&) = delete;

  // What the program gets of what its user gave (none: nothing was said): at replay what is
  // recorded, unless the user gave what fits it. kRecordingDiffers, with the places. Once, before
  // the run.
  [[nodiscard]] Result<Json> arguments_for(std::optional<Json> given);
  // From here on calls take the way through the recorder, or never come to a server. Before the
  // first of them, and not from the loop.
  void join(servers::Host& host);
  [[nodiscard]] bool is_replay() const { return replayed_.has_value(); }
  [[nodiscard]] bool is_recorded() const { return !file_.empty(); }
  // SHA-256 of the recording that is played; empty: none is. For the audit log.
  [[nodiscard]] const std::string& replayed_digest() const { return replayed_digest_; }
  // All calls are over: writes what was recorded, or says what was not as recorded (the first
  // difference is the error, `warn` hears of the others). `program`: its digest, or nothing. Not
  // from the loop.
  [[nodiscard]] Result<void> end(servers::Host& host, const std::string& program, const Say& warn);

 private:
  explicit RunRecording(const codegen::Lock& lock) : lock_(lock) {}
  [[nodiscard]] Result<void> open_replay(const std::filesystem::path& file, const Say& note);
  [[nodiscard]] Result<void> write(servers::Host& host, const std::string& program);
  [[nodiscard]] Result<void> compare(servers::Host& host, const Say& warn);

  const codegen::Lock& lock_;
  std::filesystem::path file_;     // to be written
  std::optional<Json> arguments_;  // of the program, if it is one
  std::optional<Recording> replayed_;
  std::string replayed_digest_;
  Recorder* recorder_ = nullptr;  // the host's, where it joined one
  Replayer* replayer_ = nullptr;
};

}  // namespace mcpac::history
