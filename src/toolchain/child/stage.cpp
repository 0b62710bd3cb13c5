// SPDX-License-Identifier: Apache-2.0

#include "toolchain/child/stage.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/overlay.h"
#include "core/error.h"
#include "core/file.h"
#include "sandbox/sandbox.h"
#include "toolchain/child/backtrace.h"
#include "toolchain/child/scratch_file.h"

namespace mcpac::toolchain {
namespace {

// A tool of the pipeline where no root can be made for it (tier B): it works at the host's paths.
//
// Its mounts have other names inside, and clang compares paths. So clang and the analyzer get an
// overlay of their file system (analyzer/overlay.h), and a linker the host's paths.
struct WithoutRoot {
  sandbox::Spec spec;
  std::shared_ptr<const TemporaryFolder> overlay;  // to be kept while it runs; may be null
};

// The same process with each mount at its own path. A spec whose mounts have their own paths
// already is as it was.
[[nodiscard]] Result<WithoutRoot> without_root(sandbox::Spec spec);

namespace fs = std::filesystem;
using analyzer::Overlay;
using sandbox::Mount;

constexpr char kFile[] = "overlay.json";

bool is_at_its_path(const Mount& mount) {
  return mount.inside.lexically_normal() == mount.host.lexically_normal();
}

// /lib is a link to /usr/lib on most systems, so both paths lead to the mount.
bool leads_to_itself(const Mount& mount) {
  std::error_code error;
  return fs::equivalent(mount.host, mount.inside, error);
}

std::string at_host(const Overlay& overlay, const std::string& word) {
  return word.starts_with('/') ? overlay.on_host(word).native() : word;
}

// Clang writes its output past its overlay, and reads a header that it makes code of past it, too.
// The name of the overlay stands in a header that is made with it, so it is the same for all.
void tell_clang(const Overlay& overlay, std::vector<std::string>& words) {
  const auto output = std::ranges::find(words, "-o");
  if (output != words.end() && output + 1 != words.end()) output[1] = at_host(overlay, output[1]);
  // Of a temporary file beside it each "%" in its path would be another letter.
  words.insert(words.begin() + 2, "-fno-temp-file");
  if (std::ranges::find(words, "precompiled-header") != words.end()) {
    words.back() = at_host(overlay, words.back());
    return;
  }
  words.insert(words.begin() + 2, {Overlay::kFlag, kFile});
}

Result<WithoutRoot> without_root(sandbox::Spec spec) {
  if (std::ranges::all_of(spec.mounts, is_at_its_path))
    return WithoutRoot{std::move(spec), nullptr};
  auto folder = TemporaryFolder::create(user_temporary_folder(), "mcpac-overlay-");
  if (!folder) return pass_on(folder);
  Overlay overlay;
  for (Mount& mount : spec.mounts) {
    overlay.map(mount.inside, mount.host);
    if (!is_at_its_path(mount) && leads_to_itself(mount)) mount.host = mount.inside;
    mount.inside = mount.host;
  }
  if (auto written = write_scratch(folder->path() / kFile, overlay.to_text(), 0444); !written)
    return pass_on(written);
  spec.mounts.push_back({folder->path(), folder->path(), Mount::Access::kRead});
  const fs::path inside_work = std::exchange(spec.work_directory, folder->path());
  auto& words = spec.arguments;
  if (words.size() > 1 && words[1] == "-cc1") {
    tell_clang(overlay, words);
  } else if (spec.program.filename() == "mcpac-analyzer") {
    words.insert(words.begin() + 1, {Overlay::kFlag, kFile});
  } else {
    // As of clang's: lld makes its output beside the path that it is told.
    const fs::path work = spec.work_directory = overlay.on_host(inside_work);
    for (std::string& word : words) {
      const fs::path host = at_host(overlay, word);
      word = host.parent_path() == work ? host.filename().native() : host.native();
    }
  }
  return WithoutRoot{std::move(spec), std::make_shared<const TemporaryFolder>(std::move(*folder))};
}

}  // namespace

namespace {

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(ErrorId::kInternal, "cannot make a pipe");
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

void set_nonblocking(int fd) {
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

// A pipe that is writable takes at least this much without blocking (POSIX, PIPE_BUF).
constexpr std::size_t kSinkRoom = 4096;
// Of what is said beside, between two looks at the clock.
constexpr int kMostLines = 64;

bool is_writable(int fd) {
  pollfd sink{fd, POLLOUT, 0};
  return fd < 0 || ::poll(&sink, 1, 0) != 0;
}

// Where something goes: what stands before it, and who takes it there.
class Way {
 public:
  Way(OutputGate* gate, int sink) : gate_(sink < 0 ? nullptr : gate), sink_(sink) {}

  // Event to wait for: something to read or, when something is there that may not go on its way or
  // is not taken, the end of that.
  [[nodiscard]] pollfd waiting(int source) const {
    pollfd there{source, POLLIN, 0};
    const bool is_there = sink_ >= 0 && source >= 0 && ::poll(&there, 1, 0) > 0;
    if (is_there && gate_ != nullptr && !gate_->is_open()) return {gate_->descriptor(), POLLIN, 0};
    if (is_there && !is_writable(sink_)) return {sink_, POLLOUT, 0};
    return {source, POLLIN, 0};
  }
  // Does `work`, which writes at most kSinkRoom, if that does not block; else it returns true.
  template <class Work>
  bool pass(Work work) const {
    if (!is_writable(sink_)) return true;
    if (gate_ != nullptr && !gate_->enter()) return true;
    const bool result = work();
    if (gate_ != nullptr) gate_->leave();
    return result;
  }

 private:
  OutputGate* gate_;
  int sink_;
};

// Passes on what is there; closes the descriptor at its end. False: the receiver has had enough.
bool drain(UniqueFd& from, const std::function<bool(std::string_view)>& into, int sink) {
  std::array<char, 65536> buffer;
  const std::size_t most = sink < 0 ? buffer.size() : kSinkRoom;
  const ssize_t n = ::read(from.get(), buffer.data(), most);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  if (n <= 0) {
    from.reset();
    return true;
  }
  return into(std::string_view(buffer.data(), static_cast<std::size_t>(n)));
}

// Writes the messages beside, while they are taken, and some time for the rest.
void pass_lines(const Way& way, const std::function<bool()>& pass_on) {
  bool more = true;
  for (int i = 0; i < kMostLines && more; ++i) {
    more = false;
    way.pass([&] { return more = pass_on(); });
  }
}

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Milliseconds until `deadline` for poll(), never less than 0. poll() knows no longer times than
// some weeks, and no clock: its caller looks at that.
int milliseconds_until(Clock::time_point deadline, milliseconds longest) {
  const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
  return static_cast<int>(std::clamp(left, milliseconds(0), longest).count());
}

void feed(UniqueFd& to, std::string_view& input) {
  const ssize_t n = ::write(to.get(), input.data(), input.size());
  if (n > 0) input.remove_prefix(static_cast<std::size_t>(n));
  const bool failed = n < 0 && errno != EINTR && errno != EAGAIN;
  if (failed || input.empty()) to.reset();
}

}  // namespace

Result<PipedChild> start_child(sandbox::Warden& warden, sandbox::Spec spec) {
  auto roots = warden.makes_roots();
  if (!roots) return pass_on(roots);
  std::shared_ptr<const TemporaryFolder> overlay;
  if (!*roots) {
    auto placed = without_root(std::move(spec));
    if (!placed) return pass_on(placed);
    spec = std::move(placed->spec);
    overlay = std::move(placed->overlay);
  }
  auto in = make_pipe();
  auto out = make_pipe();
  auto err = make_pipe();
  if (!in || !out || !err) return fail(ErrorId::kInternal, "cannot make a pipe");
  spec.standard_input = in->read_end.get();
  spec.standard_output = out->write_end.get();
  spec.standard_error = err->write_end.get();
  auto child = warden.spawn(spec);
  if (!child) return pass_on(child);
  for (const int fd : {in->write_end.get(), out->read_end.get(), err->read_end.get()})
    set_nonblocking(fd);
  return PipedChild{std::move(*child),        spec.limits.wall,         std::move(in->write_end),
                    std::move(out->read_end), std::move(err->read_end), std::move(overlay)};
}

Result<sandbox::Verdict> attend(PipedChild piped, ChildIo io, StopSignal stop,
                                milliseconds longest_wait) {
  auto& [child, wall, in, out, err, overlay] = piped;
  child.restart_clock();
  if (io.input.empty()) in.reset();
  const auto deadline = wall.count() > 0 ? std::optional(Clock::now() + wall) : std::nullopt;
  const Way to_output(io.gate, io.output_sink);
  const Way to_error(io.gate, io.error_sink);
  const Way beside(io.gate, io.beside.sink);
  bool ended = false;
  while (!ended || out || err) {
    // Also when there is always something to do.
    if (deadline && Clock::now() >= *deadline) {
      child.kill(sandbox::Verdict::Kind::kTimedOut);
      break;
    }
    // poll() passes over negative descriptors: whatever is closed simply drops out.
    std::array<pollfd, 6> watched{pollfd{in.get(), POLLOUT, 0},
                                  to_output.waiting(out.get()),
                                  to_error.waiting(err.get()),
                                  pollfd{stop.descriptor, POLLIN, 0},
                                  pollfd{ended ? -1 : child.end_descriptor(), POLLIN, 0},
                                  beside.waiting(io.beside.descriptor)};
    const int ready = ::poll(watched.data(), watched.size(),
                             deadline ? milliseconds_until(*deadline, longest_wait) : -1);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    // A supervisor that cannot look any more ends what it cannot attend to.
    bool go_on = ready > 0 && watched[3].revents == 0;
    if (watched[0].revents != 0) feed(in, io.input);
    if (watched[1].revents != 0)
      go_on =
          to_output.pass([&] { return drain(out, io.standard_output, io.output_sink); }) && go_on;
    if (watched[2].revents != 0)
      go_on = to_error.pass([&] { return drain(err, io.standard_error, io.error_sink); }) && go_on;
    if (watched[5].revents != 0) pass_lines(beside, io.beside.pass_on);
    ended = ended || watched[4].revents != 0;
    if (!go_on) {
      child.kill(sandbox::Verdict::Kind::kKilled);
      break;
    }
  }
  return child.wait();
}

bool wait_for_reader(int sink, StopSignal stop, Clock::time_point until) {
  if (sink < 0) return true;
  while (true) {
    std::array<pollfd, 2> watched{pollfd{sink, POLLOUT, 0}, pollfd{stop.descriptor, POLLIN, 0}};
    const int ready =
        ::poll(watched.data(), watched.size(), milliseconds_until(until, std::chrono::hours(1)));
    if (ready > 0 && watched[0].revents != 0) return true;
    if (ready > 0 || Clock::now() >= until) return false;
  }
}

Result<ToolOutput> run_tool(sandbox::Warden& warden, sandbox::Spec spec, std::string_view input,
                            std::size_t max_output, StopSignal stop) {
  auto child = start_child(warden, std::move(spec));
  if (!child) return pass_on(child);
  return run_tool(std::move(*child), input, max_output, stop);
}

Result<ToolOutput> run_tool(PipedChild tool, std::string_view input, std::size_t max_output,
                            StopSignal stop) {
  ToolOutput result;
  const auto collect = [&result, max_output](std::string& into) {
    return [&result, &into, max_output](std::string_view piece) {
      const std::size_t room = max_output - std::min(max_output, into.size());
      into.append(piece.substr(0, room));
      result.cut = result.cut || piece.size() > room;
      return true;
    };
  };
  auto verdict = attend(std::move(tool),
                        {.input = input,
                         .standard_output = collect(result.standard_output),
                         .standard_error = collect(result.standard_error)},
                        stop);
  if (!verdict) return pass_on(verdict);
  result.verdict = std::move(*verdict);
  return result;
}

sandbox::Limits compiler_limits() {
  sandbox::Limits limits;
  limits.wall = std::chrono::seconds(20);
  limits.cpu = std::chrono::seconds(16);
  limits.memory = std::uint64_t{4} << 30U;  // address space: libLLVM alone maps some hundred MiB
  limits.file_size = std::uint64_t{256} << 20U;
  limits.processes = 16;
  limits.open_files = 256;
  return limits;
}

namespace {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;

std::string near_its_limit(const sandbox::Verdict& verdict) {
  if (!verdict.limit) return {};
  if (verdict.limit->name == "memory") {
    return fmt::format("; it had used {} of the {} MiB of memory that it may",
                       verdict.limit->used / kMebibyte, verdict.limit->allowed / kMebibyte);
  }
  if (verdict.limit->name == "file-size")
    return fmt::format("; it may write {} bytes into a file", verdict.limit->allowed);
  if (verdict.limit->name == "stack") {
    return fmt::format("; stack overflow: {} MiB stack, of which it used {}",
                       verdict.limit->allowed / kMebibyte,
                       verdict.limit->used > verdict.limit->allowed + kMebibyte
                           ? fmt::format("{} MiB", verdict.limit->used / kMebibyte)
                           : "all");
  }
  if (verdict.limit->name == "processes") {
    return fmt::format("; it had {} of the {} threads that it may have", verdict.limit->used,
                       verdict.limit->allowed);
  }
  return {};
}

std::string over_memory(const sandbox::Verdict& verdict) {
  const auto limit = verdict.limit.value_or(sandbox::Verdict::LimitHit{});
  return fmt::format("was ended at its memory limit of {} MiB: it had used {} MiB",
                     limit.allowed / kMebibyte, limit.used / kMebibyte);
}

}  // namespace

std::string remedy_of(const sandbox::Verdict& verdict) {
  const std::string limit = verdict.limit ? verdict.limit->name : "";
  if (limit == "stack")
    return "recursion that ends earlier, or a loop; large arrays belong into a std::vector";
  if (limit == "processes") return "fewer threads at a time: join those that are done";
  if (limit == "memory") return "less at a time, or --memory SIZE";
  return {};
}

std::string describe(const sandbox::Verdict& verdict) {
  using Kind = sandbox::Verdict::Kind;
  const double seconds = static_cast<double>(verdict.wall.count()) / 1e6;
  switch (verdict.kind) {
    case Kind::kExited:
      return fmt::format("ended with exit code {}{}", verdict.code, near_its_limit(verdict));
    case Kind::kSignalled:
      return fmt::format("was ended by signal {} ({}){}{}{}", verdict.code,
                         ::strsignal(verdict.code), verdict.note.empty() ? "" : " ", verdict.note,
                         near_its_limit(verdict));
    case Kind::kViolated: return describe_violation(verdict, {});
    case Kind::kTimedOut: return fmt::format("was stopped after {:.1f} s of wall time", seconds);
    case Kind::kCpuLimit: return fmt::format("used up its processor time after {:.1f} s", seconds);
    case Kind::kMemoryLimit: return over_memory(verdict);
    case Kind::kKilled: return "was stopped";
  }
  return "ended";
}

}  // namespace mcpac::toolchain
