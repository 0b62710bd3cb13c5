// SPDX-License-Identifier: Apache-2.0

#include "history/recording/run_recording.h"

#include <fmt/format.h>
#include <unistd.h>

#include <system_error>
#include <utility>

#include "codegen/lock.h"
#include "core/file.h"
#include "core/hash.h"
#include "core/printable.h"
#include "core/quantity.h"
#include "history/recording/call_difference.h"
#include "history/recording/recorder.h"
#include "history/recording/replayer.h"

namespace mcpac::history {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kListedCalls = 5;

// What is there already is replaced where it is a recording, and nothing else is.
Result<void> check_target(const fs::path& file) {
  const auto refuse = [&](std::string why) {
    return fail(ErrorId::kUsage, fmt::format("cannot record to {}", file.string()),
                {.where = "--record",
                 .why = std::move(why),
                 .fix = "name a new file in a folder of yours"});
  };
  std::error_code error;
  const auto status = fs::symlink_status(file, error);
  if (fs::exists(status)) {
    if (!fs::is_regular_file(status)) return refuse("it is there, and no regular file");
    const auto size = fs::file_size(file, error);
    auto text = error || size == 0 ? Result<std::string>("") : read_file(file, kMaxRecordingBytes);
    if (!text || (size > 0 && !begins_recording(*text)))
      return refuse("it is there, and no recording: it would be lost");
  }
  if (::access(file.parent_path().c_str(), W_OK | X_OK) != 0)
    return refuse("its folder is not there, or not yours to write");
  return {};
}

std::string lock_digest(const codegen::Lock& lock) {
  return sha256_hex(codegen::to_text(lock));
}

// Another lock with the same tools in it is as good: a server that a project took in since does not
// make its recordings void.
Result<void> check_lock(const Recording& recording, const codegen::Lock& lock, const fs::path& file,
                        const RunRecording::Say& note) {
  if (recording.header.lock == lock_digest(lock)) return {};
  std::string others;
  std::size_t count = 0;
  for (const auto& [name, digest] : recording.header.tools) {
    const auto permission = Permission::parse(name);
    const auto* tool =
        permission ? lock.find_tool(permission->server(), permission->tool()) : nullptr;
    if (tool != nullptr && tool->digest == digest) continue;
    if (++count > kListedCalls) continue;
    others += fmt::format("{}{} ({})", count == 1 ? "" : ", ", printable(name),
                          tool == nullptr ? "not there any more" : "changed");
  }
  if (count > 0) {
    if (count > kListedCalls) others += " and " + counted(count - kListedCalls, "other");
    return fail(ErrorId::kRecordingOtherLock, "the recording was made with other tools",
                {.where = file.string(),
                 .why = fmt::format("mcpac.lock has them otherwise: {}", others),
                 .fix = "record again: --record FILE"});
  }
  note("mcpac.lock changed since the recording; the tools that it calls did not");
  return {};
}

}  // namespace

RunRecording::~RunRecording() = default;

Result<std::unique_ptr<RunRecording>> RunRecording::open(const RecordingChoice& choice,
                                                         const codegen::Lock& lock,
                                                         const Say& note) {
  std::unique_ptr<RunRecording> made(new RunRecording(lock));
  if (!choice.record.empty() && !choice.replay.empty())
    return fail(ErrorId::kUsage, "--record and --replay are not for the same run",
                {.why = "what is replayed is recorded already",
                 .fix = "leave out one of them; `cp` makes another file of a recording"});
  if (!choice.record.empty()) {
    made->file_ = fs::absolute(choice.record);
    if (auto usable = check_target(made->file_); !usable) return pass_on(usable);
  }
  if (!choice.replay.empty()) {
    if (auto opened = made->open_replay(choice.replay, note); !opened) return pass_on(opened);
  }
  return made;
}

Result<void> RunRecording::open_replay(const fs::path& file, const Say& note) {
  auto text = read_file(file, kMaxRecordingBytes);
  if (!text) return pass_on(text);
  auto recording = parse_recording(*text, file.string());
  if (!recording) return pass_on(recording);
  if (auto same = check_lock(*recording, lock_, file, note); !same) return same;
  replayed_digest_ = sha256_hex(*text);
  replayed_ = std::move(*recording);
  return {};
}

Result<Json> RunRecording::arguments_for(std::optional<Json> given) {
  const Cleaned* recorded = nullptr;
  if (replayed_ && replayed_->header.arguments) recorded = &*replayed_->header.arguments;
  if (given && recorded != nullptr) {
    if (auto difference = other_arguments(*recorded, *given))
      return std::unexpected(std::move(*difference));
  }
  const Json nothing = Json::object();
  arguments_ = given ? std::move(*given) : recorded != nullptr ? recorded->value : nothing;
  return *arguments_;
}

void RunRecording::join(servers::Host& host) {
  if (is_recorded()) {
    auto recorder = std::make_unique<Recorder>(host.upstreams(), host.upstreams(), lock_);
    recorder_ = recorder.get();
    host.put_before_servers(std::move(recorder));
  } else if (is_replay()) {
    auto replayer = std::make_unique<Replayer>(host.executor(), std::move(*replayed_), lock_);
    replayer_ = replayer.get();
    host.put_in_place_of_servers(std::move(replayer));
  }
}

Result<void> RunRecording::end(servers::Host& host, const std::string& program, const Say& warn) {
  if (recorder_ != nullptr) return write(host, program);
  if (replayer_ != nullptr) return compare(host, warn);
  return {};
}

Result<void> RunRecording::write(servers::Host& host, const std::string& program) {
  auto recording = host.on_loop([this] { return recorder_->take(arguments_); });
  if (!recording) return pass_on(recording);
  recording->header.mcpac = MCPAC_VERSION;
  recording->header.lock = lock_digest(lock_);
  recording->header.program = program;
  auto text = to_text(*recording);
  if (!text) return pass_on(text);
  return write_file_atomic(file_, *text, 0600);
}

Result<void> RunRecording::compare(servers::Host& host, const Say& warn) {
  auto outcome = host.on_loop([this] { return replayer_->findings(); });
  if (outcome.differences.empty()) return {};
  for (std::size_t i = 1; i < outcome.differences.size(); ++i) {
    const Error& other = outcome.differences[i];
    warn(other.why.empty() ? other.what : fmt::format("{}: {}", other.what, other.why));
  }
  if (outcome.others > 0) warn("and " + counted(outcome.others, "more difference"));
  return std::unexpected(std::move(outcome.differences.front()));
}

}  // namespace mcpac::history
