// SPDX-License-Identifier: Apache-2.0

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>

#include "sandbox/cgroup_adopt.h"
#include "sandbox/child_impl.h"
#include "sandbox/packet.h"
#include "sandbox/protocol.h"
#include "sandbox/server.h"

namespace mcpac::sandbox {

struct Warden::Impl {
  cgroup::Adopted group;  // given back when the warden has removed its own
  UniqueFd socket;
  pid_t pid = -1;
  std::mutex asking;            // one question at a time, with its answer
  std::atomic<int> roots = -1;  // whether it makes them; -1: not asked yet

  explicit Impl(cgroup::Adopted adopted) : group(std::move(adopted)) {}

  // The warden sees the end of the socket, kills what it has and ends. One that was stopped does
  // not; its end is that of its children.
  ~Impl() {
    socket.reset();
    const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    pollfd end{process.get(), POLLIN, 0};
    constexpr int kPatienceMs = 2'000;
    if (process && ::poll(&end, 1, kPatienceMs) == 0) ::kill(pid, SIGKILL);
    while (pid > 0 && ::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
};

namespace {

std::string error_name(int error) {
  return error_text({.layer = Layer::kNone, .error = error});
}

std::unexpected<Error> warden_gone(int error) {
  return fail(ErrorId::kWardenFailed, "the sandbox's warden does not answer: " + error_name(error),
              {.why = "it was killed, or had no memory; its sandboxes went with it",
               .fix = "run it again; `mcpac doctor` tries the sandbox"});
}

// In a session of its own, so that Ctrl-C reaches the host first; with nothing of our environment.
int start_process(const std::filesystem::path& program, std::vector<std::string> arguments,
                  int socket, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
  ::posix_spawn_file_actions_adddup2(&actions, 0, 1);
  ::posix_spawn_file_actions_adddup2(&actions, socket, 3);
  sigset_t none;
  sigset_t all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> words;
  for (std::string& word : arguments) words.push_back(word.data());
  words.push_back(nullptr);
  char* environment[] = {nullptr};
  const int error =
      ::posix_spawn(&pid, program.c_str(), &actions, &attributes, words.data(), environment);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return error;
}

// Only what the same command would not refuse again.
std::string remedy_for_tier(const Refused& refused, const Spec& spec) {
  const std::string stronger = "`mcpac doctor` says what is missing and what to do about it";
  if (spec.admits.has<WritesFiles>() && !spec.admits.has<Compiles>())
    return "programs write files in tier A only: grant the files read-only (--files DIR), or " +
           stronger;
  if (refused.gives <= spec.lowest_tier) return stronger;
  const std::string tier = to_string(refused.gives);
  if (spec.admits.opens_files() && refused.gives == Tier::kC)
    return stronger + "; in tier C a program runs that was built elsewhere (`mcpac run`)";
  return stronger + "; tier " + tier + " is accepted by --min-tier " + tier +
         ", or once by `mcpac doctor --accept-tier " + tier + "`";
}

std::string remedy_for(const Refused& refused, const Spec& spec) {
  switch (refused.kind) {
    case Refused::Kind::kTierTooLow: return remedy_for_tier(refused, spec);
    case Refused::Kind::kUnavailable:
      return "use a kernel with seccomp filters; `mcpac doctor` shows what this one gives";
    case Refused::Kind::kBadRequest: return {};
    case Refused::Kind::kLayerFailed: break;
  }
  if (refused.failure.layer == Layer::kProgram && refused.failure.error == EACCES) {
    return "the program must be executable by others (chmod o+rx), as the sandbox has an id of its "
           "own";
  }
  if (refused.failure.layer == Layer::kProgram && refused.failure.error == ENOENT) {
    return "the program's interpreter or loader is not in the sandbox: link it statically";
  }
  return {};
}

std::unexpected<Error> as_error(const Refused& refused, const Spec& spec) {
  std::string what = "cannot make the sandbox";
  ErrorId id = ErrorId::kSandboxLayerFailed;
  if (refused.kind == Refused::Kind::kTierTooLow) {
    id = ErrorId::kTierTooLow;
  } else if (refused.kind == Refused::Kind::kUnavailable) {
    id = ErrorId::kSandboxUnavailable;
  } else if (refused.kind == Refused::Kind::kLayerFailed &&
             refused.failure.layer == Layer::kProgram) {
    id = ErrorId::kProgramUnusable;
    what = "cannot run " + spec.program.native() + " in the sandbox";
  }
  if (!refused.text.empty()) what += ": " + refused.text;
  std::string where = "layer " + std::string(to_string(refused.failure.layer));
  if (refused.failure.error != 0) where += ", " + error_text(refused.failure);
  return fail(id, std::move(what),
              {.where = std::move(where),
               .why = "a layer that cannot be built is an error, never a weaker sandbox",
               .fix = remedy_for(refused, spec)});
}

// By descriptor from here on: what was checked is what runs.
Result<UniqueFd> open_program(const std::filesystem::path& path) {
  UniqueFd program(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!program) {
    return fail(ErrorId::kProgramUnusable,
                "cannot open " + path.native() + ": " + error_name(errno),
                {.fix = "name a program that is there, as ./program"});
  }
  return program;
}

bool has_nul(const Spec& spec) {
  const auto bad = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  for (const std::string& text : spec.arguments) {
    if (bad(text)) return true;
  }
  for (const std::string& text : spec.environment) {
    if (bad(text)) return true;
  }
  return false;
}

// True: there is an answer, or its end. A stopped one goes on; one that is stopped again and again
// does not answer.
bool answers(int socket, pid_t warden) {
  constexpr int kLookEveryMs = 1'000;
  constexpr int kMostLooks = 30;
  for (int i = 0; i < kMostLooks; ++i) {
    pollfd answer{socket, POLLIN, 0};
    const int ready = ::poll(&answer, 1, kLookEveryMs);
    if (ready > 0) return true;
    if (ready == 0) ::kill(warden, SIGCONT);
  }
  return false;
}

Result<Packet> ask(std::mutex& asking, int socket, pid_t warden, std::string_view request,
                   std::span<const int> descriptors) {
  const std::scoped_lock alone(asking);
  const int error = send_packet(socket, request, descriptors);
  if (error == EMSGSIZE) {
    return fail(ErrorId::kSandboxLayerFailed,
                "the arguments and mounts of the sandbox are beyond 128 KiB");
  }
  if (error != 0) return warden_gone(error);
  if (!answers(socket, warden)) {
    // A late answer would be taken for that to the next question.
    ::shutdown(socket, SHUT_RDWR);
    return warden_gone(ETIMEDOUT);
  }
  auto packet = receive_packet(socket);
  if (!packet) return warden_gone(packet.error());
  if (packet->bytes.empty()) return warden_gone(ECONNRESET);
  return std::move(*packet);
}

}  // namespace

std::string to_string(Tier tier) {
  switch (tier) {
    case Tier::kA: return "A";
    case Tier::kB: return "B";
    case Tier::kC: return "C";
  }
  return "?";
}

Warden::Warden(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Warden::Warden(Warden&&) noexcept = default;
Warden& Warden::operator=(Warden&&) noexcept = default;
Warden::~Warden() = default;

Result<Warden> Warden::start(const std::filesystem::path& program, Explore explore) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail(ErrorId::kWardenFailed, "cannot make the warden's socket: " + error_name(errno),
                {.fix = "end other programs, or raise the limit of open files (ulimit -n)"});
  }
  auto impl = std::make_unique<Impl>(cgroup::Adopted::try_to());
  impl->socket = UniqueFd(ends[0]);
  const UniqueFd theirs(ends[1]);
  std::vector<std::string> arguments{program.filename().native()};
  if (explore == Explore::kWhenAsked) arguments.emplace_back(kWordWhenAsked);
  if (explore == Explore::kForServers) arguments.emplace_back(kWordForServers);
  if (impl->group.has_moved()) arguments.emplace_back(kWordGivesBack);
  const int error = start_process(program, std::move(arguments), theirs.get(), impl->pid);
  if (error != 0) {
    return fail(ErrorId::kWardenFailed,
                "cannot start " + program.native() + ": " + error_name(error),
                {.fix = "install mcpac whole: mcpac-warden belongs into libexec/mcpac"});
  }
  return Warden(std::move(impl));
}

Result<Child> Warden::spawn(const Spec& spec) {
  auto program = open_program(spec.program);
  if (!program) return pass_on(program);
  if (has_nul(spec))
    return fail(ErrorId::kSandboxLayerFailed, "an argument of the sandbox has a NUL inside");
  std::vector<int> descriptors{program->get()};
  for (const int fd : {spec.standard_input, spec.standard_output, spec.standard_error, spec.channel,
                       spec.observer}) {
    if (fd >= 0) descriptors.push_back(fd);
  }
  const auto start = std::chrono::steady_clock::now();
  auto packet =
      ask(impl_->asking, impl_->socket.get(), impl_->pid, encode_spawn(spec), descriptors);
  if (!packet) return pass_on(packet);
  const auto reply = decode_reply(packet->bytes);
  if (!reply) return warden_gone(EPROTO);
  if (const auto* refused = std::get_if<Refused>(&*reply)) return as_error(*refused, spec);
  const auto* spawned = std::get_if<Spawned>(&*reply);
  if (spawned == nullptr || packet->descriptors.size() != 2) return warden_gone(EPROTO);
  auto child = std::make_unique<Child::Impl>();
  child->tier = spawned->tier;
  child->ends_by_request = spec.admits.has<Serves>() && spawned->tier != Tier::kA;
  child->process = std::move(packet->descriptors[0]);
  child->report = std::move(packet->descriptors[1]);
  child->start = start;
  child->limits = spec.limits;
  return Child(std::move(child));
}

Result<Probe> Warden::probe() {
  auto packet = ask(impl_->asking, impl_->socket.get(), impl_->pid, encode_probe_request(), {});
  if (!packet) return pass_on(packet);
  auto reply = decode_reply(packet->bytes);
  if (!reply || !std::holds_alternative<Probe>(*reply)) return warden_gone(EPROTO);
  return std::get<Probe>(std::move(*reply));
}

Result<bool> Warden::makes_roots() {
  if (const int known = impl_->roots.load(); known >= 0) return known != 0;
  auto packet = ask(impl_->asking, impl_->socket.get(), impl_->pid, encode_root_request(), {});
  if (!packet) return pass_on(packet);
  const auto reply = decode_reply(packet->bytes);
  const auto* root = reply ? std::get_if<RootReply>(&*reply) : nullptr;
  if (root == nullptr) return warden_gone(EPROTO);
  impl_->roots = root->own ? 1 : 0;
  return root->own;
}

}  // namespace mcpac::sandbox
