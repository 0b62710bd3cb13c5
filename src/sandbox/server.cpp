// SPDX-License-Identifier: Apache-2.0

#include "sandbox/server.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <map>
#include <optional>
#include <tuple>

#include "sandbox/cgroup_adopt.h"
#include "sandbox/cgroups.h"
#include "sandbox/held_memory.h"
#include "sandbox/inherited.h"
#include "sandbox/launch.h"
#include "sandbox/listener.h"
#include "sandbox/namespaces.h"
#include "sandbox/packet.h"
#include "sandbox/prepare.h"
#include "sandbox/process.h"
#include "sandbox/protocol.h"
#include "sandbox/rlimits.h"
#include "sandbox/running.h"

namespace mcpac::sandbox {
namespace {

// Descriptors of the warden stay below kProgramDescriptor: three a child, one of its group, one for
// the map of its id, and what a spawn needs.
constexpr std::size_t kMostChildren = 192;

// Longest time that a forbidden call stays unnoticed that was interrupted before it could be seen,
// and memory that no limit counts.
constexpr std::chrono::milliseconds kLookEvery{100};

// Readable when a child of ours has ended or stands still. Only read() takes it from there.
UniqueFd child_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  return UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

void take_signal(int signals) {
  signalfd_siginfo taken{};
  if (::read(signals, &taken, sizeof taken) < 0) errno = 0;  // one stands for any number of them
}

// Its end, and not that it stands still for its watch.
void end_at_once(pid_t child) {
  ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
  }
}

class Server {
 public:
  Server(int socket, Purpose purpose) : socket_(socket), signals_(child_signals()) {
    if (purpose == Purpose::kServers && presume()) {
      make_ready_for_servers();
    } else {
      explore();
    }
  }
  void run();

 private:
  bool serve_one();
  void answer(const Reply& reply, std::span<const int> descriptors = {});
  void spawn(SpawnRequest& request, std::vector<UniqueFd>& descriptors);
  // Answers, or says why it did not start; then it is as if it had not been tried.
  [[nodiscard]] std::optional<Refused> try_to_spawn(Spec& spec, const Given& given);
  [[nodiscard]] std::optional<Refused> start(Plan& plan);
  bool presume();
  void explore();
  void make_ready_for_servers();
  void end_violators(std::span<const pollfd> ready);
  void hear_guard(Running& child);
  void end_missed_violators();
  void end_who_holds_too_much();
  void end_who_waits_for_files();
  // Whether there is anything that only a look from time to time finds.
  [[nodiscard]] bool watches() const;
  [[nodiscard]] bool is_time_to_look();
  void wait_for_children();
  [[nodiscard]] uid_t unused_id() const;
  [[nodiscard]] int id_map(uid_t user);

  int socket_;
  UniqueFd signals_;
  Stock stock_;
  bool explored_ = false;  // the machine; until then it is presumed
  cgroup::Groups groups_;
  std::chrono::steady_clock::time_point looked_;
  std::vector<Running> running_;
  std::map<uid_t, UniqueFd> id_maps_;  // made at first use, then kept
  std::vector<pid_t> ended_;           // children without a later wait (make_id_map)
};

void Server::run() {
  for (;;) {
    std::vector<pollfd> waiting{{socket_, POLLIN, 0}, {signals_.get(), POLLIN, 0}};
    for (const Running& child : running_) {
      const bool ending = child.violation.happened != 0 || child.guard_ended;
      const int from = child.guard ? child.guard->socket() : child.listener.get();
      waiting.push_back({ending ? -1 : from, POLLIN, 0});
    }
    const int ready = ::poll(waiting.data(), waiting.size(),
                             watches() ? static_cast<int>(kLookEvery.count()) : -1);
    if (ready == 0) end_missed_violators();
    if (is_time_to_look()) {
      end_who_holds_too_much();
      end_who_waits_for_files();
    }
    if (ready <= 0) continue;
    end_violators(std::span(waiting).subspan(2));
    if (waiting[1].revents != 0) wait_for_children();
    if (waiting.front().revents != 0 && !serve_one()) break;
  }
  for (Running& child : running_) end_process(child.process.get(), child.ends_by_request);
  // Of all together: the host waits for the warden no longer than kPatienceMs (warden.cpp).
  constexpr std::chrono::milliseconds kForAll{1'500};
  const auto deadline = std::chrono::steady_clock::now() + kForAll;
  for (Running& child : running_) {
    has_ended_or_is_killed(child.process.get(), child.ends_by_request, deadline);
    reap(child, 0);
  }
}

// False when the host has gone.
bool Server::serve_one() {
  auto packet = receive_packet(socket_);
  if (!packet || packet->bytes.empty()) return false;
  auto request = decode_request(packet->bytes);
  if (!request) {
    answer(Refused{Refused::Kind::kBadRequest,
                   {.layer = Layer::kRequest, .error = EPROTO},
                   "malformed request"});
  } else if (auto* wanted = std::get_if<SpawnRequest>(&*request)) {
    spawn(*wanted, packet->descriptors);
  } else if (std::holds_alternative<RootRequest>(*request)) {
    explore();
    answer(RootReply{stock_.machine.namespaces});
  } else {
    explore();
    answer(describe_machine(stock_.machine, groups_));
  }
  return true;
}

void Server::answer(const Reply& reply, std::span<const int> descriptors) {
  // A host that cannot take the answer is gone; the loop will notice.
  if (send_packet(socket_, encode(reply), descriptors) != 0) return;
}

uid_t Server::unused_id() const {
  uid_t id = own_ids_of(::getpid());
  while (std::ranges::any_of(running_, [&](const Running& child) { return child.own_id == id; }))
    ++id;
  return id;
}

int Server::id_map(uid_t user) {
  UniqueFd& map = id_maps_[user];
  if (!map) {
    IdMap made = make_id_map(user);
    map = std::move(made.map);
    if (made.ended > 0) ended_.push_back(made.ended);
  }
  return map.get();
}

bool Server::presume() {
  auto machine = presumed_machine();
  if (machine) stock_.machine = *machine;
  return machine.has_value();
}

void Server::explore() {
  if (explored_) return;
  stock_.machine = explore_machine();
  explored_ = true;
}

// Beside what the host does until it asks.
void Server::make_ready_for_servers() {
  if (stock_.machine.identity == Identity::kOwnId) std::ignore = id_map(unused_id());
  prepare_filter_of_servers(stock_);
}

void Server::spawn(SpawnRequest& request, std::vector<UniqueFd>& descriptors) {
  Given given;
  std::size_t next = 0;
  const auto take = [&](bool has) {
    return has && next < descriptors.size() ? descriptors[next++].get() : -1;
  };
  given.program = take(true);
  given.standard_input = take(request.has_input);
  given.standard_output = take(request.has_output);
  given.standard_error = take(request.has_error);
  given.channel = take(request.has_channel);
  given.observer = take(request.has_observer);
  const std::size_t expected = 1U + (request.has_input ? 1U : 0U) + (request.has_output ? 1U : 0U) +
                               (request.has_error ? 1U : 0U) + (request.has_channel ? 1U : 0U) +
                               (request.has_observer ? 1U : 0U);
  if (descriptors.size() != expected) {
    return answer(Refused{Refused::Kind::kBadRequest,
                          {.layer = Layer::kRequest, .error = EPROTO},
                          "descriptors missing"});
  }
  if (running_.size() >= kMostChildren) {
    return answer(Refused{Refused::Kind::kLayerFailed,
                          {.layer = Layer::kProcess, .error = EAGAIN},
                          "192 children run already"});
  }
  if (!request.spec.admits.has<Serves>()) explore();
  auto refused = try_to_spawn(request.spec, given);
  // What was presumed may be missing, and then it is said which.
  if (refused && !explored_ && refused->kind != Refused::Kind::kBadRequest &&
      refused->failure.layer != Layer::kProgram) {
    explore();
    refused = try_to_spawn(request.spec, given);
  }
  if (refused) answer(*refused);
}

std::optional<Refused> Server::try_to_spawn(Spec& spec, const Given& given) {
  auto plan = prepare(stock_, spec, given, unused_id());
  if (!plan) return plan.error();
  if (plan->own_root && plan->identity == Identity::kOwnId && !plan->mounts.empty()) {
    plan->id_map = id_map(plan->user);
  }
  return start(*plan);
}

std::optional<Refused> Server::start(Plan& plan) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return Refused{Refused::Kind::kLayerFailed, {.layer = Layer::kProcess, .error = errno}, {}};
  }
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  auto group = groups_.next(plan.limits);
  if (!group) {
    return Refused{Refused::Kind::kLayerFailed,
                   {.layer = Layer::kLimits, .error = group.error()},
                   "cannot make its control group"};
  }
  if (*group) plan.group = (*group)->folder();
  Launched launched = launch(plan);
  if (launched.failure.layer != Layer::kNone) {
    const std::uint16_t item = launched.failure.item;
    std::string text =
        item < plan.mounts.size() ? "mount " + plan.mounts[item].host : std::string();
    return Refused{Refused::Kind::kLayerFailed, launched.failure, std::move(text)};
  }
  std::optional<NameGuard> guard;
  if (!plan.kept_names.empty()) {
    auto made = NameGuard::start(plan, launched.pid, launched.listener.get());
    if (!made) {
      end_at_once(launched.pid);
      return Refused{Refused::Kind::kLayerFailed,
                     {.layer = Layer::kSeccomp, .error = made.error()},
                     "cannot keep names that tools obey: grant files read-write with "
                     "--changeset"};
    }
    guard.emplace(std::move(*made));
  }
  const int passed[] = {launched.process.get(), reader.get()};
  answer(Spawned{plan.tier}, passed);
  const bool serves = plan.admits.has<Serves>();
  Running child{.pid = launched.pid,
                .process = std::move(launched.process),
                .report = std::move(writer),
                .listener = std::move(launched.listener),
                .guard = std::move(guard),
                .own_id = plan.user,
                .stack_bytes = stack_bytes(plan),
                .most_processes = plan.limits.processes,
                .looks_at_threads = plan.limits.processes > 0 && !plan.count_processes && !*group,
                .most_memory = serves && *group ? 0 : most_held_memory(plan),
                .files_in_memory = files_in_memory(plan),
                .has_others = serves,
                .ends_by_request = plan.ends_by_request(),
                .group = std::move(*group)};
  child.watch.begin(
      child.pid, child.stack_bytes,
      (plan.namespace_flags & CLONE_NEWPID) != 0 ? Watch::Stops::kWithheld : Watch::Stops::kPassed);
  running_.push_back(std::move(child));
  return std::nullopt;
}

// Killed in every case, whether it could be read or not; the listener stays open until the child is
// gone.
void Server::end_violators(std::span<const pollfd> ready) {
  for (std::size_t i = 0; i < ready.size(); ++i) {
    Running& child = running_[i];
    if (child.guard) {
      if (ready[i].revents != 0) hear_guard(child);
    } else if ((ready[i].revents & POLLIN) != 0) {
      child.violation = receive_violation(child.listener.get());
      send_signal(child.process.get(), SIGKILL);
    } else if (ready[i].revents != 0) {
      child.listener.reset();  // no thread is left to listen to
    }
  }
}

// A guard that ends takes its program with it; one that ended because its program did, harms none.
void Server::hear_guard(Running& child) {
  const GuardWord word = child.guard->hear();
  switch (word.kind) {
    case GuardWord::Kind::kForbidden:
      child.violation = read_violation(child.listener.get(), word.call);
      send_signal(child.process.get(), SIGKILL);
      return;
    case GuardWord::Kind::kDescriptor: return child.guard->answer_descriptor(word);
    case GuardWord::Kind::kRefused:
      if (child.kept.refusals++ == 0) child.kept.path = word.path;
      return;
    case GuardWord::Kind::kReady:
    case GuardWord::Kind::kEnded: break;
  }
  child.guard.reset();
  child.guard_ended = true;
  send_signal(child.process.get(), SIGKILL);
}

bool Server::watches() const {
  return std::ranges::any_of(running_, [](const Running& child) {
    const bool listens = child.listener && !child.guard && !child.guard_ended;
    return child.violation.happened == 0 &&
           (listens || child.guard || child.most_memory > 0 || child.looks_at_threads);
  });
}

// Whatever else happens meanwhile: a busy program does not prevent the look.
bool Server::is_time_to_look() {
  const auto now = std::chrono::steady_clock::now();
  if (now - looked_ < kLookEvery) return false;
  looked_ = now;
  return true;
}

void Server::end_who_holds_too_much() {
  for (Running& child : running_) {
    const bool is_ended =
        child.held_memory > 0 || child.held_threads > 0 || child.violation.happened != 0;
    if (is_ended || (child.most_memory == 0 && !child.looks_at_threads)) continue;
    Held held = held_by(child.pid, child.files_in_memory);
    if (child.has_others && child.most_memory > 0)
      held.memory = held_by_all_below(child.pid, child.most_memory);
    if (child.has_others && child.looks_at_threads) held.threads = threads_of_all_below(child.pid);
    if (child.most_memory > 0 && held.memory > child.most_memory) {
      child.held_memory = held.memory;
    } else if (child.looks_at_threads && held.threads > child.most_processes) {
      child.held_threads = held.threads;
    } else {
      continue;
    }
    end_process(child.process.get(), child.ends_by_request);
  }
}

void Server::end_who_waits_for_files() {
  for (Running& child : running_) {
    if (!child.guard || child.kept.out_of_patience != 0 || !child.guard->is_out_of_patience())
      continue;
    child.kept.out_of_patience = 1;
    send_signal(child.process.get(), SIGKILL);
  }
}

void Server::end_missed_violators() {
  for (Running& child : running_) {
    if (!child.listener || child.guard || child.guard_ended || child.violation.happened != 0)
      continue;
    const auto missed = missed_violation(child.listener.get());
    if (!missed) continue;
    child.violation = *missed;
    send_signal(child.process.get(), SIGKILL);
  }
}

void Server::wait_for_children() {
  take_signal(signals_.get());
  for (Running& child : running_) reap(child, WNOHANG);
  std::erase_if(running_, [](const Running& child) { return child.pid < 0; });
  std::erase_if(ended_, [](pid_t child) { return ::waitpid(child, nullptr, WNOHANG) != 0; });
}

// The program's descriptor lies at 1000, so the warden itself must be able to have that.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int serve(int socket, HostGroup group, Purpose purpose) {
  ::signal(SIGPIPE, SIG_IGN);
  ::close_range(static_cast<unsigned>(socket) + 1, ~0U, 0);
  raise_descriptor_limit();
  shed_inherited_state();
  const pid_t host = ::getppid();
  Server(socket, purpose).run();
  if (group == HostGroup::kMoved && ::getppid() != host)
    const auto given_back = cgroup::Adopted::of_dead_host();
  return 0;
}

}  // namespace mcpac::sandbox
