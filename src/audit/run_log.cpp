// SPDX-License-Identifier: Apache-2.0

// The writing side: one file, one descriptor, one write(2) an event.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <tuple>

#include "audit/limits.h"
#include "audit/log.h"
#include "audit/run_index.h"
#include "audit/write_support.h"
#include "core/ascii.h"
#include "core/file.h"
#include "core/rfc3339.h"

namespace mcpac::audit {
bool is_run_id(std::string_view text) {
  return !text.empty() && text.size() <= 64 &&
         std::ranges::all_of(text, [](char c) { return is_letter(c) || is_digit(c) || c == '-'; });
}

namespace {

// The event as to_json() has it, with its number, as text and without the closing brace. Only the
// payload holds texts that JSON would escape: kinds are ours, ids and times have no such letters.
struct Body {
  std::string_view id;
  std::string_view kind;
  std::string_view payload;
  std::string_view run_id;
  std::uint64_t seq = 0;
  std::string_view time;
};
std::string to_text(const Body& body) {
  constexpr std::size_t kBeside = 256;  // of the payload, without what closes the line
  std::string out;
  out.reserve(body.payload.size() + kBeside + kClosingBytes);
  out.append(R"({"event_id":")").append(body.id);
  out.append(R"(","kind":")").append(body.kind);
  out.append(R"(","payload":)").append(body.payload);
  out.append(R"(,"run_id":")").append(body.run_id);
  out.append(R"(","seq":)").append(std::to_string(body.seq));
  out.append(R"(,"time":")").append(body.time).append(1, '"');
  return out;
}

// The event is a level around it.
constexpr std::size_t kMaxPayloadDepth = kLineLimits.max_depth - 1;

std::unexpected<Error> too_deep(const std::filesystem::path& path) {
  return unwritable(path,
                    fmt::format("the event nests deeper than {} levels", kLineLimits.max_depth));
}

bool is_kind(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

}  // namespace

struct RunLog::State {
  State(UniqueFd the_fd, std::filesystem::path the_path, std::string the_run_id, SigningKey the_key,
        const Clock& the_clock, CheckpointEvery the_every, std::size_t the_most)
      : fd(std::move(the_fd)),
        path(std::move(the_path)),
        run_id(std::move(the_run_id)),
        key(std::move(the_key)),
        argument_key(key.argument_key(run_id)),
        clock(the_clock),
        every(the_every),
        at_most(the_most),
        head(chain_start("run", run_id)) {}

  // All three with the mutex held.
  [[nodiscard]] Result<std::string> record(std::string_view kind, std::string_view payload,
                                           bool is_signed);
  [[nodiscard]] Result<void> write_line(std::string_view line);
  [[nodiscard]] Result<void> checkpoint(bool closes);
  [[nodiscard]] std::uint64_t unsigned_records() const { return records - signed_records; }
  void keep_signing(const std::stop_token& stop);
  // Without the mutex. The index comes before the file (run_index.h).
  [[nodiscard]] Result<void> sync_index();
  [[nodiscard]] Result<void> sync_file() const;

  const UniqueFd fd;
  const std::filesystem::path path;
  const std::string run_id;
  const SigningKey key;
  const Digest argument_key;
  const Clock& clock;
  const CheckpointEvery every;
  const std::size_t at_most;

  std::mutex mutex;
  std::condition_variable_any due;
  UuidV7Sequence ids;
  Digest head;                       // the hash of the last record
  std::uint64_t records = 0;         // in the file
  std::uint64_t signed_records = 0;  // of them, up to the last checkpoint
  std::size_t size = 0;              // of the whole lines: where a failed write is cut off
  bool promised = false;             // the index names the run
  bool index_synced = false;         // and that is on the disk; read and written by the sync alone
  bool broken = false;               // a half line could not be taken back: nothing may follow it
  bool closed = false;
  std::jthread signer;
};

Result<std::unique_ptr<RunLog>> RunLog::create(const std::filesystem::path& folder,
                                               std::string run_id, const Clock& clock,
                                               CheckpointEvery every, std::size_t at_most) {
  if (!is_run_id(run_id)) {
    return fail(ErrorId::kAuditUnwritable, "a run id is 1 to 64 letters, digits or '-'");
  }
  if (auto ready = prepare_folder(folder); !ready) return pass_on(ready);
  auto key = SigningKey::load(key_folder(folder));
  if (!key) return pass_on(key);
  auto path = folder / (run_id + std::string(kFileEnding));
  // O_EXCL: a run never continues a file that it did not begin, nor follows a link laid in its
  // place.
  UniqueFd fd(
      ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0600));
  if (!fd) return unwritable(path, errno);
  // Held as long as the run lives, and gone with it however it ends: how others tell a run that
  // still writes from one that was killed.
  while (::flock(fd.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return unwritable(path, errno);
  }
  auto state = std::make_unique<State>(std::move(fd), std::move(path), std::move(run_id),
                                       std::move(*key), clock, every, at_most);
  return std::unique_ptr<RunLog>(new RunLog(std::move(state)));
}

RunLog::RunLog(std::unique_ptr<State> state) : state_(std::move(state)) {
  state_->signer = std::jthread(
      [state = state_.get()](const std::stop_token& stop) { state->keep_signing(stop); });
}

RunLog::~RunLog() {
  std::ignore = end(false);
}

bool RunLog::is_almost_full() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->size + kMaxEventBytes + kRoomForTheEnd > state_->at_most;
}

const std::string& RunLog::run_id() const {
  return state_->run_id;
}

Digest RunLog::argument_key() const {
  return state_->argument_key;
}

std::string RunLog::keyed_digest(std::string_view bytes) const {
  return hex(blake2b(bytes, &state_->argument_key));
}

Result<std::string> RunLog::append(std::string_view kind, Json payload) {
  // Before it is written, which goes as deep as the value does.
  if (is_deeper_than(payload, kMaxPayloadDepth)) return too_deep(state_->path);
  return append_text(kind, mcpac::to_text(payload));
}

Result<std::string> RunLog::append_text(std::string_view kind, std::string payload) {
  const std::scoped_lock lock(state_->mutex);
  if (state_->closed) return unwritable(state_->path, "the run's log is closed");
  auto id = state_->record(kind, payload, false);
  if (state_->unsigned_records() >= state_->every.records) state_->due.notify_one();
  return id;
}

Result<void> RunLog::close() {
  return end(true);
}

Result<void> RunLog::end(bool is_whole) {
  state_->signer.request_stop();
  if (state_->signer.joinable()) state_->signer.join();
  const std::scoped_lock lock(state_->mutex);
  if (std::exchange(state_->closed, true)) return {};
  if (state_->records == 0 && !state_->promised) {
    ::unlink(state_->path.c_str());  // nothing was recorded: there was no run
    return {};
  }
  // A run that the index names and whose first record found no room keeps its file: without it the
  // log would look as if a run had been taken away. It is unfinished, as one that was killed.
  if (auto done = state_->checkpoint(is_whole); !done) return done;
  if (auto done = state_->sync_index(); !done) return done;
  if (auto done = state_->sync_file(); !done) return done;
  if (!is_whole) return {};
  return RunIndex(state_->path.parent_path(), state_->key, state_->clock)
      .ended(state_->run_id, state_->head, state_->records);
}

Result<std::string> RunLog::State::record(std::string_view kind, std::string_view payload,
                                          bool is_signed) {
  if (broken)
    return unwritable(path, "an earlier event was cut in half and could not be taken back");
  if (!is_kind(kind)) return unwritable(path, "an event without a kind");
  if (is_deeper_than(payload, kMaxPayloadDepth)) return too_deep(path);
  std::string id = ids.next(clock);
  std::string body = to_text(Body{.id = id,
                                  .kind = kind,
                                  .payload = payload,
                                  .run_id = run_id,
                                  .seq = records,
                                  .time = rfc3339_utc(clock.wall_now())});
  if (body.size() + kClosingBytes > kMaxEventBytes) {
    return unwritable(path, fmt::format("an event of {} bytes is over the limit of {}",
                                        body.size() + kClosingBytes, kMaxEventBytes));
  }
  const Digest hash = chain_next(head, body);
  const std::string line =
      closed_line(std::move(body), hash,
                  is_signed ? std::optional(key.sign(kCheckpointDomain, hash)) : std::nullopt);
  const bool ends =
      is_signed || kind == "CallFinished" || kind == "ConnectionEnded" || kind == "RunEnded";
  if (size + line.size() > at_most - (ends ? 0 : kRoomForTheEnd))
    return unwritable(path, "the record of this run is as long as one may be: begin another run");
  if (records == 0) {
    auto began = RunIndex(path.parent_path(), key, clock).began(run_id, hash);
    if (!began) return pass_on(began);
    promised = true;
  }
  auto written = write_line(line);
  if (!written) {
    // The index has promised another first record than the next try would write.
    broken = broken || records == 0;
    return pass_on(written);
  }
  head = hash;
  if (++records == 1) due.notify_one();  // the index is to be synced
  return id;
}

Result<void> RunLog::State::write_line(std::string_view line) {
  ssize_t n = 0;
  do {
    n = ::write(fd.get(), line.data(), line.size());
  } while (n < 0 && errno == EINTR);
  if (n == static_cast<ssize_t>(line.size())) {
    size += line.size();
    return {};
  }
  const std::string why_not = n < 0 ? reason_of(errno) : "there was room for a part of it only";
  // Also after an error that wrote nothing: cutting where the file should end costs nothing.
  broken = ::ftruncate(fd.get(), static_cast<off_t>(size)) != 0;
  return unwritable(path, why_not);
}

Result<void> RunLog::State::checkpoint(bool closes) {
  const Json payload = {{"closes", closes}, {"key", key_name(key.public_key())}};
  if (auto id = record(kCheckpointKind, mcpac::to_text(payload), true); !id) return pass_on(id);
  signed_records = records;
  return {};
}

Result<void> RunLog::State::sync_index() {
  if (index_synced) return {};
  auto synced = RunIndex(path.parent_path(), key, clock).sync();
  index_synced = synced.has_value();
  return synced;
}

Result<void> RunLog::State::sync_file() const {
  if (::fdatasync(fd.get()) != 0) return unwritable(path, errno);
  return {};
}

// Beside the run, so that no call waits for the disk: the signature is made with the mutex held
// (some 30 µs), files are synced without it. The index as soon as it names the run: of most runs
// that is done before they end, and their end waits for their own file alone.
void RunLog::State::keep_signing(const std::stop_token& stop) {
  {
    std::unique_lock lock(mutex);
    due.wait(lock, stop, [&] { return records > 0; });
    if (stop.stop_requested()) return;  // close() syncs and signs the rest
  }
  std::ignore = sync_index();
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex);
      due.wait_for(lock, stop, every.time, [&] { return unsigned_records() >= every.records; });
      if (stop.stop_requested()) return;
      if (unsigned_records() == 0) continue;
      // A log that cannot be written now refuses the next call by itself.
      if (!checkpoint(false)) continue;
    }
    // Where the index cannot be synced the file is not, either: the other way round is what a power
    // cut must not leave.
    if (sync_index()) std::ignore = sync_file();
  }
}

}  // namespace mcpac::audit
