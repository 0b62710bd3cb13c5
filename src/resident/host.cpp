#include "resident/host.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "core/printable.h"
#include "core/rfc3339.h"

namespace mcpac::resident {
namespace {

constexpr std::size_t kMaxVisitors = 64;
// A client says at once what it wants.
constexpr auto kMaxSilence = std::chrono::seconds(10);

std::string new_nonce() {
  std::string text;
  std::array<unsigned char, 16> bytes{};
  ::randombytes_buf(bytes.data(), bytes.size());
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

UniqueFd ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  return UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

}  // namespace

ResidentHost::ResidentHost(Door door, HostOptions options)
    : door_(std::move(door)),
      options_(std::move(options)),
      installation_(installation_stamp(options_.folders)),
      workers_(options_.folders.libexec.parent_path().parent_path() / "bin" / "mcpac",
               options_.worker_idle, options_.log, [this](const std::string& text) { say(text); }) {
}

void ResidentHost::say(const std::string& text) const {
  const std::string line =
      fmt::format("{} {}\n", rfc3339_utc(std::chrono::system_clock::now()), printable(text, 1'000));
  // A log that cannot be written stops nobody's run.
  if (::write(options_.log, line.data(), line.size()) < 0) return;
}

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
  for (const auto& [id, visitor] : visitors_) {
    if (visitor.state == Visitor::State::kNew) next = std::min(next, visitor.deadline);
  }
  if (next == Clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
}

void ResidentHost::poll_once(int signals) {
  std::vector<pollfd> watched{{signals, POLLIN, 0}, {door_.socket(), POLLIN, 0}};
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
  if (::poll(watched.data(), watched.size(), wait_time()) < 0 && errno != EINTR) return;
  if (watched[0].revents != 0) begin_end("a signal said so");
  for (std::size_t i = 0; i < of_visitor.size(); ++i) {
    const auto found = visitors_.find(of_visitor[i]);
    if (found == visitors_.end()) continue;
    const bool silent =
        found->second.state == Visitor::State::kNew && Clock::now() >= found->second.deadline;
    if (watched[visitors_at + i].revents != 0)
      hear_visitor(of_visitor[i]);
    else if (silent)
      gone(of_visitor[i]);
  }
  for (std::size_t i = 0; i < of_worker.size(); ++i) {
    if (watched[2 + 2 * i].revents != 0) hear_worker(*of_worker[i]);
    if (watched[3 + 2 * i].revents != 0) reap(*of_worker[i]);
  }
  if (watched[1].revents != 0 && !ending_) accept_one();
}

void ResidentHost::accept_one() {
  UniqueFd socket(::accept4(door_.socket(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket || visitors_.size() >= kMaxVisitors) return;
  auto process = Process::peer_of(socket.get());
  if (!process || !tell_senders(socket.get())) return say("refused: a process of another user");
  Visitor visitor{.socket = std::move(socket),
                  .process = std::move(*process),
                  .nonce = new_nonce(),
                  .deadline = Clock::now() + kMaxSilence};
  // The number is said after the process is held: who sends it back is that process, or the number
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
  const auto why = refuses(visitor, received.message);
  if (why) {
    say(fmt::format("refused: process {}: {}", visitor.process.number(), *why));
    works_alone(visitor, *why);
    return gone(id);
  }
  answer(id, visitor, std::move(received.message));
}

// Only the process that connected, as it is now, may say anything.
std::optional<std::string> ResidentHost::refuses(const Visitor& visitor,
                                                 const Message& message) const {
  if (message.process != visitor.process.number() || message.user != ::geteuid())
    return "another process speaks";
  if (string_member(message.body, "nonce") != visitor.nonce) return "it does not know the number";
  // Asked once: it may end at any time after it said something.
  if (visitor.state != Visitor::State::kNew) return std::nullopt;
  const auto self = Process::of(::getpid());
  const auto ours = self ? standing_of(*self) : std::nullopt;
  const auto theirs = standing_of(visitor.process);
  if (!ours || !theirs) return "the kernel does not say what confines it";
  if (const auto other = difference(*ours, *theirs))
    return fmt::format("other conditions: {}", *other);
  return std::nullopt;
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
