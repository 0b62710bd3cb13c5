// SPDX-License-Identifier: Apache-2.0

#include "resident/host.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/rfc3339.h"
#include "resident/nonce.h"
#include "resident/patience.h"
#include "resident/request.h"

namespace mcpac::resident {
namespace {

// One that waits has done nothing yet, and a client may be waiting for its end.
constexpr auto kUntilAWaitingOneEnds = std::chrono::seconds(1);

}  // namespace

void Worker::end() {
  if (kill_at != Workers::Clock::time_point::max()) return;
  const bool has_work = state == State::kRunning;
  if (!has_work) state = State::kEnding;
  kill_at = Workers::Clock::now() +
            patient(has_work ? std::chrono::milliseconds(kUntilARunEnds) : kUntilAWaitingOneEnds);
  static_cast<void>(process.process().signal(SIGTERM));
  static_cast<void>(process.process().signal(SIGCONT));  // it may have been stopped with its client
}

void Workers::use(Plan plan) {
  plan.used = Clock::now();
  const auto known = plans_.find(plan.config_file);
  if (known != plans_.end()) plan.servers = std::move(known->second.servers);
  plans_.insert_or_assign(plan.config_file, std::move(plan));
  while (plans_.size() > kMaxPlans) {
    plans_.erase(
        std::ranges::min_element(plans_, {}, [](const auto& entry) { return entry.second.used; }));
  }
}

void Workers::know_servers(const std::string& config_file, std::set<std::string> servers) {
  const auto known = plans_.find(config_file);
  if (known != plans_.end()) known->second.servers = std::move(servers);
}

const Plan* Workers::plan_of(const std::string& config_file) const {
  const auto known = plans_.find(config_file);
  return known == plans_.end() ? nullptr : &known->second;
}

void Workers::forget_old() {
  const auto now = Clock::now();
  std::erase_if(plans_, [&](const auto& entry) { return now >= entry.second.used + idle_; });
  for (Worker& worker : workers_) {
    if (worker.state == Worker::State::kWaiting && !plans_.contains(worker.config_file))
      worker.end();
    if (now < worker.kill_at) continue;
    static_cast<void>(worker.process.process().signal(SIGKILL));
    worker.kill_at = now + patient(kUntilARunEnds);
  }
}

void Workers::settle(const std::set<std::string>& busy) {
  forget_old();
  if (ending_) return;
  std::set<std::string> failed;
  for (const auto& [config_file, plan] : plans_) {
    if (busy.contains(config_file) || of_project(config_file) != nullptr) continue;
    auto process = WorkerProcess::start(program_, plan, log_);
    if (!process) {
      say_(process.error().to_text());
      failed.insert(config_file);
      continue;
    }
    say_(fmt::format("worker {} prepares for {}", process->process().number(), config_file));
    workers_.push_front({.process = std::move(*process),
                         .key = plan.key,
                         .config_file = config_file,
                         .since = Clock::now()});
  }
  for (const std::string& config_file : failed) plans_.erase(config_file);
}

Worker* Workers::of_project(const std::string& config_file) {
  const auto found = std::ranges::find(workers_, config_file, &Worker::config_file);
  return found == workers_.end() ? nullptr : &*found;
}

void Workers::end_all() {
  ending_ = true;
  plans_.clear();
  for (Worker& worker : workers_) worker.end();
}

void Workers::remove(const Worker& worker) {
  // One that ends by itself while it waits would do so again.
  if (worker.state == Worker::State::kWaiting) plans_.erase(worker.config_file);
  workers_.remove_if([&](const Worker& one) { return &one == &worker; });
}

Workers::Clock::time_point Workers::next() const {
  auto next = Clock::time_point::max();
  for (const auto& [config_file, plan] : plans_) next = std::min(next, plan.used + idle_);
  for (const Worker& worker : workers_) next = std::min(next, worker.kill_at);
  return next;
}

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

namespace {

std::set<std::string> names_in(const Json& body, const char* member) {
  std::set<std::string> names;
  if (const Json* list = find_member(body, member); list != nullptr && list->is_array()) {
    for (const Json& name : *list) {
      if (name.is_string()) names.insert(name.get<std::string>());
    }
  }
  return names;
}

const char* to_string(Worker::State state) {
  switch (state) {
    case Worker::State::kWaiting: return "waits";
    case Worker::State::kRunning: return "runs";
    case Worker::State::kEnding: return "ends";
  }
  return "?";
}

}  // namespace

void ResidentHost::answer(int id, Visitor& visitor, Message message) {
  const std::string wanted = string_member(message.body, "do");
  using State = Visitor::State;
  if (wanted == "run" && visitor.state == State::kNew) return run(id, visitor, message);
  if (wanted == "signal" && visitor.state == State::kServed) return pass_signal(id, message.body);
  if (wanted == "servers" && visitor.state == State::kAlone)
    return workers_.know_servers(visitor.config_file, names_in(message.body, "servers"));
  if (wanted == "show" && visitor.state == State::kNew) {
    static_cast<void>(send_message(visitor.socket.get(), shown()));
    return gone(id);
  }
  if (wanted == "alone" && visitor.state == State::kNew)
    return runs_alone(id, visitor, string_member(message.body, "config"));
  gone(id);
}

void ResidentHost::works_alone(Visitor& visitor, const std::string& why) const {
  visitor.state = Visitor::State::kAlone;
  static_cast<void>(send_message(visitor.socket.get(), {{"alone", why}}));
}

void ResidentHost::run(int id, Visitor& visitor, Message& message) {
  if (ending_) return works_alone(visitor, "the host is ending");
  if (string_member(message.body, "installation") != installation_) {
    works_alone(visitor, "the host is another mcpac than this one");
    if (installation_stamp(options_.folders) != installation_) begin_end("mcpac was exchanged");
    return;
  }
  auto& descriptors = message.descriptors;
  auto request = descriptors.size() != kPassed
                     ? Result<Request>(fail(ErrorId::kUsage, "a part of the request is missing"))
                     : from_memory(descriptors[kRequestAt].get());
  auto key = request ? key_of(*request, descriptors[kFolderAt].get()) : Result<std::string>("");
  if (!request || !key) {
    works_alone(visitor, (!request ? request.error() : key.error()).what);
    return gone(id);
  }
  Worker* worker = workers_.of_project(request->config_file);
  const bool waits = worker != nullptr && worker->state == Worker::State::kWaiting;
  const bool given =
      waits && worker->key == *key &&
      worker->process.give({{"do", "run"}, {"client", visitor.process.number()}}, descriptors);
  if (given) {
    visitor.state = Visitor::State::kServed;
    worker->visitor = id;
    worker->state = Worker::State::kRunning;
    worker->since = Clock::now();
  }
  // The worker looks at who asks before it begins (handshake.h). We do so meanwhile, before we
  // prepare anything from what was asked.
  if (const auto why = why_apart_from_us(visitor.process)) {
    refuse(visitor.process, visitor.socket.get(), *why);
    return gone(id);
  }
  visitor.config_file = request->config_file;
  used_ = Clock::now();
  const int folder = ::fcntl(descriptors[kFolderAt].get(), F_DUPFD_CLOEXEC, 3);
  workers_.use({.key = std::move(*key),
                .config_file = std::move(request->config_file),
                .environment = std::move(request->environment),
                .folder = std::make_shared<const UniqueFd>(UniqueFd(folder)),
                .umask = request->umask,
                .servers = {},
                .used = {}});
  if (!given) return works_alone_after(worker, id, visitor, "no worker waits for this project");
  say(fmt::format("worker {} serves process {}", worker->process.process().number(),
                  visitor.process.number()));
}

void ResidentHost::runs_alone(int id, Visitor& visitor, const std::string& config_file) {
  if (!config_file.starts_with('/')) return gone(id);
  visitor.config_file = config_file;
  works_alone_after(workers_.of_project(config_file), id, visitor, "as it wishes");
}

// Servers of the project that wait would be older than what it runs, and might not bear others of
// their kind beside them; or they were prepared from something else. Nothing is prepared until they
// have ended, and only then the client works alone.
void ResidentHost::works_alone_after(Worker* worker, int id, Visitor& visitor, const char* why) {
  if (worker == nullptr || worker->visitor != 0) return works_alone(visitor, why);
  visitor.state = Visitor::State::kServed;
  worker->visitor = id;
  worker->end();
}

Worker* ResidentHost::worker_of(int id) {
  for (Worker& worker : workers_.list()) {
    if (worker.visitor == id) return &worker;
  }
  return nullptr;
}

void ResidentHost::pass_signal(int id, const Json& body) {
  const Json* number = find_member(body, "signal");
  Worker* worker = worker_of(id);
  if (worker == nullptr || number == nullptr || !number->is_number_unsigned()) return gone(id);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGSTOP, SIGCONT}) {
    if (number->get<int>() == signal) static_cast<void>(worker->process.process().signal(signal));
  }
}

void ResidentHost::hear_worker(Worker& worker) {
  // Until there is nothing more: it may have ended already.
  while (true) {
    const auto received = receive_message(worker.process.channel());
    // A socket whose other end is closed stays readable until its process has ended, which
    // takes as long as its memory takes to be given back.
    if (received.arrival == Arrival::kClosed) worker.process.hang_up();
    if (received.arrival != Arrival::kMessage) return;
    if (received.message.process != worker.process.process().number()) continue;
    if (find_member(received.message.body, "took") != nullptr) worker.took = true;
    if (find_member(received.message.body, "servers") != nullptr)
      workers_.know_servers(worker.config_file, names_in(received.message.body, "servers"));
  }
}

void ResidentHost::reap(Worker& worker) {
  hear_worker(worker);
  const auto ended = worker.process.ended();
  if (!ended) return;
  say(fmt::format("worker {} ended: {}", worker.process.process().number(),
                  *ended < 0 ? fmt::format("signal {}", -*ended) : fmt::format("{}", *ended)));
  const auto found = visitors_.find(worker.visitor);
  if (found != visitors_.end()) {
    const char* how = *ended < 0 ? "signal" : "exit";
    static_cast<void>(
        send_message(found->second.socket.get(),
                     {{"ended", true}, {"took", worker.took}, {how, std::abs(*ended)}}));
    // Where it never began the client works alone now; else it ends, and its connection with it.
    found->second.state = Visitor::State::kAlone;
  }
  workers_.remove(worker);
}

Json ResidentHost::shown() {
  const auto now = Clock::now();
  const auto seconds = [&](Clock::time_point since) {
    return std::chrono::duration_cast<std::chrono::seconds>(now - since).count();
  };
  Json workers = Json::array();
  for (const Worker& worker : workers_.list()) {
    Json shown{{"process", worker.process.process().number()},
               {"project", worker.config_file},
               {"state", to_string(worker.state)},
               {"seconds", seconds(worker.since)},
               {"memory", memory_of(worker.process.process().number())}};
    const Plan* plan = workers_.plan_of(worker.config_file);
    if (plan != nullptr) shown["servers"] = plan->servers;
    const auto client = visitors_.find(worker.visitor);
    if (client != visitors_.end()) shown["client"] = client->second.process.number();
    workers.push_back(std::move(shown));
  }
  Json alone = Json::array();
  for (const auto& [id, visitor] : visitors_) {
    if (visitor.state == Visitor::State::kAlone)
      alone.push_back({{"process", visitor.process.number()}, {"project", visitor.config_file}});
  }
  return {{"process", ::getpid()},           {"started", rfc3339_utc(started_)},
          {"memory", memory_of(::getpid())}, {"idle_seconds", options_.idle.count()},
          {"workers", std::move(workers)},   {"others", std::move(alone)}};
}

}  // namespace mcpac::resident
