#include "resident/host.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "resident/nonce.h"
#include "resident/patience.h"

namespace mcpac::resident {
namespace {

// A client that connected and said nothing yet: the oldest goes when one more comes.
constexpr std::size_t kMaxSilent = 32;
// A client that works alone and is remembered for it; of others the project's use is told by a file
// (project/project_use.h).
constexpr std::size_t kMaxAlone = 64;
// Without a descriptor no client can be admitted, and the door would be heard again at once.
constexpr auto kUntilNextAccept = std::chrono::milliseconds(100);

UniqueFd ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  return UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

// One that stays readable would wake us for ever.
void drain(int signals) {
  signalfd_siginfo info{};
  while (::read(signals, &info, sizeof info) > 0) {
  }
}

}  // namespace

ResidentHost::ResidentHost(Door door, HostOptions options)
    : door_(std::move(door)),
      options_(std::move(options)),
      log_(options_.log),
      installation_(installation_stamp(options_.folders)),
      workers_(options_.folders.whole(), options_.worker_idle, options_.log,
               [this](const std::string& text) { say(text); }) {}

void ResidentHost::serve() {
  const UniqueFd signals = ending_signals();
  ::signal(SIGCHLD, SIG_DFL);  // ignored, the kernel would keep how workers ended to itself
  say(fmt::format("up as process {}", ::getpid()));
  while (!ending_ || !workers_.list().empty()) {
    workers_.settle(busy_projects());
    poll_once(signals.get());
    if (!ending_ && visitors_.empty() && Clock::now() >= used_ + options_.idle)
      begin_end("nobody asked for anything");
  }
  say("down");
}

int ResidentHost::wait_time() const {
  auto next = workers_.next();
  if (!ending_ && visitors_.empty()) next = std::min(next, used_ + options_.idle);
  if (next_accept_ > Clock::now()) next = std::min(next, next_accept_);
  for (const auto& [id, visitor] : visitors_) {
    if (visitor.state == Visitor::State::kNew) next = std::min(next, visitor.deadline);
  }
  if (next == Clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
}

void ResidentHost::poll_once(int signals) {
  const int door = Clock::now() >= next_accept_ ? door_.socket() : -1;  // -1: not watched
  std::vector<pollfd> watched{{signals, POLLIN, 0}, {door, POLLIN, 0}};
  std::vector<Worker*> of_worker;  // two descriptors each: how it ended is asked for last
  for (Worker& worker : workers_.list()) {
    watched.push_back({worker.process.channel(), POLLIN, 0});
    watched.push_back({worker.process.process().descriptor(), POLLIN, 0});
    of_worker.push_back(&worker);
  }
  std::vector<int> of_visitor;
  const std::size_t visitors_at = watched.size();
  for (const auto& [id, visitor] : visitors_) {
    watched.push_back({visitor.socket.get(), POLLIN, 0});
    of_visitor.push_back(id);
  }
  if (::poll(watched.data(), watched.size(), wait_time()) < 0) return;
  if (watched[0].revents != 0) {
    drain(signals);
    begin_end("a signal said so");
  }
  hear_visitors(of_visitor, watched.data() + visitors_at);
  for (std::size_t i = 0; i < of_worker.size(); ++i) {
    if (watched[2 + 2 * i].revents != 0) hear_worker(*of_worker[i]);
    if (watched[3 + 2 * i].revents != 0) reap(*of_worker[i]);
  }
  if (watched[1].revents != 0 && !ending_) accept_one();
}

void ResidentHost::hear_visitors(const std::vector<int>& ids, const pollfd* watched) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto found = visitors_.find(ids[i]);
    if (found == visitors_.end()) continue;
    const bool silent =
        found->second.state == Visitor::State::kNew && Clock::now() >= found->second.deadline;
    if (watched[i].revents != 0)
      hear_visitor(ids[i]);
    else if (silent)
      gone(ids[i]);
  }
}

std::size_t ResidentHost::count(Visitor::State state) const {
  return static_cast<std::size_t>(
      std::ranges::count(visitors_, state, [](const auto& entry) { return entry.second.state; }));
}

// No client keeps others out by connecting silently.
void ResidentHost::make_room() {
  if (count(Visitor::State::kNew) < kMaxSilent) return;
  const auto oldest = std::ranges::find(visitors_, Visitor::State::kNew,
                                        [](const auto& entry) { return entry.second.state; });
  visitors_.erase(oldest);  // numbers rise with time
}

void ResidentHost::refuse(const Process& process, int socket, const std::string& why) {
  log_.refused(fmt::format("process {}: {}", process.number(), why), Clock::now());
  static_cast<void>(send_message(socket, {{"alone", why}}));
}

void ResidentHost::accept_one() {
  UniqueFd socket(::accept4(door_.socket(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket) {
    const bool gave_up = errno == ECONNABORTED || errno == EINTR || errno == EAGAIN;
    if (!gave_up) next_accept_ = Clock::now() + kUntilNextAccept;
    return;
  }
  auto process = Process::peer_of(socket.get());
  if (!process || !tell_senders(socket.get()))
    return log_.refused("a process of another user, or one that has ended", Clock::now());
  // Before it can say or hand us anything; and again when it has spoken.
  if (const auto why = why_apart_from_us(*process)) return refuse(*process, socket.get(), *why);
  make_room();
  Visitor visitor{.socket = std::move(socket),
                  .process = std::move(*process),
                  .nonce = new_nonce(),
                  .deadline = Clock::now() + patient(options_.silence)};
  // The number is said after the process is held: its sender is that process, or the number
  // of that one would not stand beside the message.
  if (!send_message(visitor.socket.get(), {{"mcpac", MCPAC_VERSION}, {"nonce", visitor.nonce}}))
    return;
  visitors_.emplace(next_visitor_++, std::move(visitor));
}

void ResidentHost::hear_visitor(int id) {
  Visitor& visitor = visitors_.at(id);
  auto received = receive_message(visitor.socket.get());
  if (received.arrival == Arrival::kNothingYet) return;
  if (received.arrival != Arrival::kMessage) return gone(id);
  if (const auto why = refuses(visitor, received.message)) {
    refuse(visitor.process, visitor.socket.get(), *why);
    return gone(id);
  }
  answer(id, visitor, std::move(received.message));
  const auto there = visitors_.find(id);
  const bool too_many = there != visitors_.end() && there->second.state == Visitor::State::kAlone &&
                        count(Visitor::State::kAlone) > kMaxAlone;
  if (too_many) gone(id);
}

// Only the process that connected, as it is now, may say anything.
std::optional<std::string> ResidentHost::refuses(const Visitor& visitor,
                                                 const Message& message) const {
  if (message.process != visitor.process.number() || message.user != ::geteuid())
    return "another process speaks";
  if (string_member(message.body, "nonce") != visitor.nonce) return "it does not know the number";
  // Asked once: it may end at any time after it said something. Of a run it is asked later (run()).
  if (visitor.state != Visitor::State::kNew || string_member(message.body, "do") == "run")
    return std::nullopt;
  return why_apart_from_us(visitor.process);
}

void ResidentHost::gone(int id) {
  const auto found = visitors_.find(id);
  if (found == visitors_.end()) return;
  used_ = Clock::now();
  if (found->second.state == Visitor::State::kServed) {
    // Its client died, or gave up: the run ends as if it had been told to.
    if (Worker* worker = worker_of(id)) worker->end();
  }
  visitors_.erase(found);
}

std::set<std::string> ResidentHost::busy_projects() const {
  std::set<std::string> busy;
  for (const auto& [id, visitor] : visitors_) {
    if (!visitor.config_file.empty()) busy.insert(visitor.config_file);
  }
  return busy;
}

void ResidentHost::begin_end(const std::string& why) {
  if (ending_) return;
  ending_ = true;
  say(fmt::format("ends: {}", why));
  door_.close();
  workers_.end_all();
}

}  // namespace mcpac::resident
