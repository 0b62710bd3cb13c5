// SPDX-License-Identifier: Apache-2.0

#include "servers/confine/learn_session.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <span>
#include <string_view>
#include <system_error>
#include <thread>

#include "core/printable.h"
#include "core/socket_folder.h"
#include "sandbox/packet.h"
#include "servers/confine/package_run.h"
#include "servers/confine/server_packages.h"

namespace mcpac::servers {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLearnSocket = "session";
constexpr const char* kWhatFolder = "the folder of a learning session";
constexpr std::string_view kNotAbout = " ";  // a server is never called so

// The real folder of a project and the name of its file there, which is not followed: what an entry
// starts depends on the folder, so a link to the session's file elsewhere is another project.
std::string name_of_file(const project::Project& project) {
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(project.folder, error);
  return ((error ? project.folder : folder) / project.config_file.filename()).string();
}

// The other end is this user's and runs the program that we run.
bool is_another_of_us(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != ::geteuid())
    return false;
  struct stat theirs {};
  struct stat ours {};
  return ::stat(fmt::format("/proc/{}/exe", peer.pid).c_str(), &theirs) == 0 &&
         ::stat("/proc/self/exe", &ours) == 0 && theirs.st_dev == ours.st_dev &&
         theirs.st_ino == ours.st_ino;
}

// Neither end waits for one that says nothing.
void bound_waits(int socket) {
  constexpr timeval kMost{.tv_sec = 5, .tv_usec = 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &kMost, sizeof kMost);
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &kMost, sizeof kMost);
}

Error cannot_open(int error) {
  return {ErrorId::kFileUnwritable,
          fmt::format("cannot open a learning session: {}", std::system_category().message(error)),
          "", "", ""};
}

std::vector<std::string> environment_with(const fs::path& folder) {
  std::vector<std::string> variables = {fmt::format("{}={}", kLearnVariable, folder.string()),
                                        "MCPAC_ALONE=1"};
  for (char** one = environ; one != nullptr && *one != nullptr; ++one) {
    const std::string_view variable = *one;
    if (!variable.starts_with("MCPAC_LEARN=") && !variable.starts_with("MCPAC_ALONE="))
      variables.emplace_back(variable);
  }
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

// While a command in the foreground runs, Ctrl-C is for it, as for system(3), and its end is told
// to us: where SIGCHLD is ignored, as what starts mcpac may have it, the kernel keeps that to
// itself.
class IgnoredInterrupts {
 public:
  IgnoredInterrupts() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGINT, &ignore, &interrupt_);
    ::sigaction(SIGQUIT, &ignore, &quit_);
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    ::sigaction(SIGCHLD, &standard, &child_);
  }
  IgnoredInterrupts(const IgnoredInterrupts&) = delete;
  IgnoredInterrupts& operator=(const IgnoredInterrupts&) = delete;
  ~IgnoredInterrupts() {
    ::sigaction(SIGINT, &interrupt_, nullptr);
    ::sigaction(SIGQUIT, &quit_, nullptr);
    ::sigaction(SIGCHLD, &child_, nullptr);
  }

 private:
  struct sigaction interrupt_ {};
  struct sigaction quit_ {};
  struct sigaction child_ {};
};

int spawn_session(std::vector<std::string>& words, std::vector<std::string> variables, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&actions, 2, 1);
  sigset_t defaults;
  sigset_t none;
  ::sigemptyset(&none);
  ::sigemptyset(&defaults);
  for (const int signal : {SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGHUP})
    ::sigaddset(&defaults, signal);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  const int error = ::posix_spawnp(&pid, words.front().c_str(), &actions, &attributes,
                                   pointers_to(words).data(), pointers_to(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  return error;
}

}  // namespace

struct LearnSession::State {
  State(TemporaryFolder made, const ServerObserver& one) : folder(std::move(made)), observer(one) {}
  TemporaryFolder folder;
  const ServerObserver& observer;
  std::string file;
  std::string server;
  UniqueFd listening;
  UniqueFd stop;
  std::thread answering;

  void answer() const;
  void answer_one(int socket) const;
};

void LearnSession::State::answer_one(int socket) const {
  bound_waits(socket);
  if (!is_another_of_us(socket)) return;
  const auto asked = sandbox::receive_packet(socket);
  if (!asked || asked->bytes != file) {
    static_cast<void>(sandbox::send_packet(socket, kNotAbout, {}));
    return;
  }
  const int entrance = observer.socket();
  static_cast<void>(sandbox::send_packet(socket, server, std::span(&entrance, 1)));
}

void LearnSession::State::answer() const {
  for (;;) {
    pollfd waits[] = {{stop.get(), POLLIN, 0}, {listening.get(), POLLIN, 0}};
    if (::poll(waits, 2, -1) < 0 && errno != EINTR) return;
    if (waits[0].revents != 0) return;
    if (waits[1].revents == 0) continue;
    const UniqueFd socket(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (socket) {
      answer_one(socket.get());
    } else if (errno != EINTR && errno != ECONNABORTED) {
      // Out of descriptors or memory: it still waits, and would be asked for without end.
      constexpr int kPause = 100;
      ::poll(waits, 1, kPause);
    }
  }
}

LearnSession::LearnSession(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<LearnSession>> LearnSession::open(const project::Project& project,
                                                         const project::Folders& folders,
                                                         const std::string& server,
                                                         const ServerObserver& observer) {
  auto folder = TemporaryFolder::create(folders.temporary, "mcpac-learn");
  if (!folder) return pass_on(folder);
  auto state = std::make_unique<State>(std::move(*folder), observer);
  state->file = name_of_file(project);
  state->server = server;
  auto opened = open_socket_folder(state->folder.path(), kWhatFolder);
  if (!opened) return pass_on(opened);
  const auto address = socket_address(*opened, kLearnSocket);
  if (!address) return std::unexpected(cannot_open(ENAMETOOLONG));
  // Non-blocking: a peer that has hung up before it is accepted blocks no accept.
  state->listening = UniqueFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!state->listening) return std::unexpected(cannot_open(errno));
  state->stop = UniqueFd(::eventfd(0, EFD_CLOEXEC));
  constexpr int kWaiting = 16;
  if (!state->stop ||
      ::bind(state->listening.get(), reinterpret_cast<const sockaddr*>(&*address),
             sizeof *address) != 0 ||
      ::listen(state->listening.get(), kWaiting) != 0)
    return std::unexpected(cannot_open(errno));
  state->answering = std::thread([&answers = *state] { answers.answer(); });
  return std::unique_ptr<LearnSession>(new LearnSession(std::move(state)));
}

LearnSession::~LearnSession() {
  constexpr std::uint64_t kOne = 1;
  if (::write(state_->stop.get(), &kOne, sizeof kOne) < 0) errno = 0;
  state_->answering.join();
}

Result<int> LearnSession::run(std::vector<std::string> words) const {
  const IgnoredInterrupts ignored;
  pid_t pid = -1;
  const int error = spawn_session(words, environment_with(state_->folder.path()), pid);
  if (error != 0)
    return fail(ErrorId::kServerStart,
                fmt::format("cannot start {}: {}", printable(words.front()),
                            std::system_category().message(error)),
                {.fix = "name a program behind --"});
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno == EINTR) continue;
    return fail(ErrorId::kServerStart,
                fmt::format("how {} ended is not known: {}", printable(words.front()),
                            std::system_category().message(errno)),
                {.fix = "run the command once more"});
  }
  return status;
}

Result<std::optional<std::string>> join_learn_session(project::Project& project,
                                                      const project::Folders& folders,
                                                      const fs::path& folder) {
  const auto none = [&](std::string why) {
    return fail(ErrorId::kServerStart,
                fmt::format("{} names no learning session, and servers start as their entries say",
                            kLearnVariable),
                {.where = folder.string(),
                 .why = std::move(why),
                 .fix = fmt::format("unset {}", kLearnVariable)});
  };
  std::error_code missing;
  if (!fs::is_directory(folder, missing)) return none("it is over");
  const auto opened = open_socket_folder(folder, kWhatFolder);
  if (!opened) return none(opened.error().what);
  const auto address = socket_address(*opened, kLearnSocket);
  const UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!address || !socket ||
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0)
    return none("nobody answers there");
  bound_waits(socket.get());
  if (!is_another_of_us(socket.get())) return none("another program answers there");
  if (sandbox::send_packet(socket.get(), name_of_file(project), {}) != 0)
    return none("nobody answers there");
  auto answer = sandbox::receive_packet(socket.get());
  if (!answer || answer->bytes.empty()) return none("nobody answers there");
  if (answer->descriptors.size() != 1) return std::optional<std::string>();
  for (auto& server : project.config.servers) {
    if (server.name != answer->bytes) continue;
    auto bare = started_bare(server, folders);
    if (!bare) return pass_on(bare);
    bare->first.observer = ServerObserver::joined(
        sandbox::ObserverEnd(std::move(answer->descriptors.front())), server);
    server = std::move(bare->first);
    return std::optional(server.name);
  }
  return std::optional<std::string>();
}

Result<std::pair<mcp::ServerConfig, std::string>> started_bare(mcp::ServerConfig server,
                                                               const project::Folders& folders) {
  auto run = package_run_of(server);
  if (!run) return pass_on(run);
  server.sandbox.reset();
  server.confiner.reset();
  if (!*run) return std::pair(std::move(server), std::string());
  const auto installed = installed_server(**run, folders);
  if (!installed) return std::pair(std::move(server), std::string());
  std::string said = printable(fmt::format("{} is installed, and started instead of {}",
                                           installed->text(), (*run)->launcher));
  return std::pair(as_installed(std::move(server), **run, *installed), std::move(said));
}

}  // namespace mcpac::servers
