#include "resident/client.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "resident/request.h"
#include "resident/wire.h"

namespace mcpac::resident {
namespace {

// What a person or a supervisor says to the command is said to its worker.
sigset_t passed_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  // A job that may not be stopped stays so.
  struct sigaction stop {};
  if (::sigaction(SIGTSTP, nullptr, &stop) == 0 && stop.sa_handler == SIG_DFL)
    sigaddset(&set, SIGTSTP);
  return set;
}

// Signals as a descriptor, while it exists; those that came and were not read go on to whoever
// waits next, with the mask as it was.
class Passed {
 public:
  Passed() : set_(passed_signals()) {
    ::pthread_sigmask(SIG_BLOCK, &set_, &before_);
    descriptor_ = UniqueFd(::signalfd(-1, &set_, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  ~Passed() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  Passed(const Passed&) = delete;
  Passed& operator=(const Passed&) = delete;
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  // 0: none has come.
  [[nodiscard]] int next() const {
    signalfd_siginfo info{};
    const ssize_t n = ::read(descriptor_.get(), &info, sizeof info);
    return n == static_cast<ssize_t>(sizeof info) ? static_cast<int>(info.ssi_signo) : 0;
  }

 private:
  sigset_t set_;
  sigset_t before_{};
  UniqueFd descriptor_;
};

mode_t own_umask() {
  const mode_t mask = ::umask(077);
  ::umask(mask);
  return mask;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    all.emplace_back(*entry);
  return all;
}

void say_signal(const Connection& connection, int signal) {
  static_cast<void>(send_message(
      connection.socket.get(),
      {{"do", "signal"}, {"nonce", connection.nonce}, {"signal", static_cast<unsigned>(signal)}}));
}

// The worker stands still with us, and goes on with us.
void pass(const Connection& connection, int signal) {
  if (signal != SIGTSTP) return say_signal(connection, signal);
  say_signal(connection, SIGSTOP);
  ::raise(SIGSTOP);
  say_signal(connection, SIGCONT);
}

// As a shell sees it when the command itself is ended by the signal.
int end_by(int signal) {
  ::signal(signal, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  ::raise(signal);
  return 128 + signal;
}

std::unexpected<Error> lost() {
  return fail(ErrorId::kRunUnreachable, "the resident host went away while it ran the program",
              {.why = "it was killed, and what it had started with it",
               .fix = "run it again; `mcpac audit list` shows what the run did"});
}

}  // namespace

Visit::Visit(const Errand& errand) {
  // Where one of these is closed, its number is the next descriptor's that anybody opens.
  for (int fd = 0; fd < 3; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0) {
      why_alone_ = "a standard descriptor is closed";
      return;
    }
  }
  auto connection = connect_to_host(door_folder(errand.folders));
  if (!connection) {
    why_alone_ = connection.error().why.empty() ? connection.error().what : connection.error().why;
    return;
  }
  if (!*connection) return;
  connection_ = std::move(*connection);
  ask(errand);
}

void Visit::ask(const Errand& errand) {
  std::error_code error;
  auto memory = to_memory({.arguments = errand.arguments,
                           .environment = own_environment(),
                           .config_file = std::filesystem::absolute(errand.config_file, error),
                           .umask = own_umask()});
  const UniqueFd folder(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!memory || !folder || error) {
    why_alone_ = "this process cannot say what it is to run";
    return connection_.reset();
  }
  const std::array<int, 5> descriptors{memory->get(), folder.get(), 0, 1, 2};
  const bool sent = send_message(connection_->socket.get(),
                                 {{"do", "run"},
                                  {"nonce", connection_->nonce},
                                  {"installation", installation_stamp(errand.folders)}},
                                 descriptors);
  if (!sent) {
    why_alone_ = "the host does not take the request";
    return connection_.reset();
  }
  wait();
}

void Visit::wait() {
  const int passed = wait_for_end();
  // It was said to a worker that never began: now it is said to us.
  if (!outcome_ && passed != 0) ::raise(passed);
}

int Visit::wait_for_end() {
  const Passed signals;
  int passed = 0;
  bool has_begun = false;
  const timeval for_ever{};
  ::setsockopt(connection_->socket.get(), SOL_SOCKET, SO_RCVTIMEO, &for_ever, sizeof for_ever);
  while (true) {
    std::array<pollfd, 2> watched{pollfd{connection_->socket.get(), POLLIN, 0},
                                  pollfd{signals.descriptor(), POLLIN, 0}};
    if (::poll(watched.data(), watched.size(), -1) < 0) continue;
    while (const int signal = signals.next()) {
      pass(*connection_, signal);
      if (signal != SIGTSTP) passed = signal;
    }
    if (watched[0].revents == 0) continue;
    const auto received = receive_message(connection_->socket.get());
    if (received.arrival == Arrival::kNothingYet) continue;
    const Json& body = received.message.body;
    if (received.arrival == Arrival::kMessage && find_member(body, "began") != nullptr) {
      has_begun = true;
      continue;
    }
    if (received.arrival != Arrival::kMessage && has_begun) {
      outcome_ = lost();
    } else if (const Json* code = find_member(body, "exit"); code != nullptr && code->is_number()) {
      outcome_ = code->get<int>();
    } else if (const Json* by = find_member(body, "signal"); by != nullptr && by->is_number()) {
      outcome_ = end_by(by->get<int>());
    } else {
      why_alone_ = string_member(body, "alone", "the host says something unknown");
    }
    return passed;
  }
}

void Visit::used(const std::set<std::string>& servers) const {
  if (!connection_ || outcome_) return;
  static_cast<void>(
      send_message(connection_->socket.get(),
                   {{"do", "servers"}, {"nonce", connection_->nonce}, {"servers", servers}}));
}

Result<std::optional<Json>> ask_host(const std::filesystem::path& folder, const Json& question) {
  auto connection = connect_to_host(folder);
  if (!connection) return pass_on(connection);
  if (!*connection) return std::nullopt;
  Json asked = question;
  asked["nonce"] = (*connection)->nonce;
  const int socket = (*connection)->socket.get();
  auto answer = send_message(socket, asked) ? receive_message(socket) : Received{};
  if (answer.arrival != Arrival::kMessage || find_member(answer.message.body, "alone") != nullptr)
    return fail(ErrorId::kRunUnreachable, "the resident host does not answer",
                {.why = string_member(answer.message.body, "alone")});
  return std::move(answer.message.body);
}

Result<bool> end_host(const std::filesystem::path& folder) {
  auto connection = connect_to_host(folder);
  if (!connection) return pass_on(connection);
  if (!*connection) return false;
  if (!send_message((*connection)->socket.get(), {{"do", "end"}, {"nonce", (*connection)->nonce}}))
    return fail(ErrorId::kRunUnreachable, "the resident host does not answer");
  pollfd ended{(*connection)->host.descriptor(), POLLIN, 0};
  while (::poll(&ended, 1, -1) < 0 && errno == EINTR) {
  }
  return true;
}

}  // namespace mcpac::resident
