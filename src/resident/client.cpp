// SPDX-License-Identifier: Apache-2.0

#include "resident/client.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>

#include "project/project_place.h"
#include "resident/handshake.h"
#include "resident/passed_signals.h"
#include "resident/patience.h"
#include "resident/request.h"
#include "resident/wire.h"

namespace mcpac::resident {
namespace {

using Clock = std::chrono::steady_clock;

// A worker that waits takes over in milliseconds; one that must go first, with servers that do not
// hear, is killed after a second (host.cpp).
constexpr std::chrono::milliseconds kUntilItBegins{5'000};
// A command that works alone anyway is held up by no host that hangs: what it has to say is only a
// courtesy (project/project_use.h).
constexpr std::chrono::milliseconds kForCourtesy{2'000};

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

int milliseconds_until(Clock::time_point when) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(when - Clock::now()).count();
  return static_cast<int>(std::max<std::int64_t>(left, 0));
}

}  // namespace

Visit::Visit(const Errand& errand) {
  // Where one of these is closed, its number is that of the next descriptor opened.
  for (int fd = 0; fd < 3; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0) {
      why_alone_ = "a standard descriptor is closed";
      return;
    }
  }
  const bool alone = errand.wish == Errand::Wish::kAlone;
  auto connection =
      connect_to_host(door_folder(errand.folders), alone ? kForCourtesy : kUntilItAnswers);
  if (!connection) {
    why_alone_ = connection.error().why.empty() ? connection.error().what : connection.error().why;
    return;
  }
  if (!*connection) return;
  connection_ = std::move(*connection);
  const bool said = alone ? announce(errand) : ask(errand);
  if (!said) {
    why_alone_ = "the host does not take the request";
    connection_.reset();
    return;
  }
  // What was said to a worker that never began is said to us.
  const int signal = wait_for_end(alone ? kForCourtesy : kUntilItBegins);
  if (!outcome_ && signal != 0) ::raise(signal);
}

std::unexpected<Error> Visit::lost_in_a_run() {
  return fail(ErrorId::kRunUnreachable, "the resident host went away while it ran the program",
              {.why = "it was killed, and what it had started with it",
               .fix = "run it again; `mcpac audit list` shows what the run did"});
}

bool Visit::announce(const Errand& errand) {
  return send_message(connection_->socket.get(),
                      {{"do", "alone"},
                       {"nonce", connection_->nonce},
                       {"config", project::place_of_project(errand.config_file).native()}});
}

bool Visit::ask(const Errand& errand) {
  auto memory = to_memory({.arguments = errand.arguments,
                           .environment = own_environment(),
                           .config_file = project::place_of_project(errand.config_file),
                           .umask = own_umask()});
  const UniqueFd folder(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  auto pair = make_socket_pair();
  if (!memory || !folder || !pair) return false;
  channel_ = std::move(pair->ours);
  const std::array<int, kPassed> descriptors{memory->get(), folder.get(), pair->theirs.get()};
  return send_message(connection_->socket.get(),
                      {{"do", "run"},
                       {"nonce", connection_->nonce},
                       {"installation", installation_stamp(errand.folders)}},
                      descriptors);
}

// The host keeps the connection: it prepares nothing here until we have ended.
int Visit::work_alone(std::string why, int signal) {
  why_alone_ = std::move(why);
  channel_.reset();  // a worker that waits for our word ends without it
  return signal;
}

int Visit::wait_for_end(std::chrono::milliseconds until_it_begins) {
  const PassedSignals signals;
  const auto deadline = Clock::now() + patient(until_it_begins);
  int passed = 0;
  while (true) {
    // A descriptor of -1 is passed over.
    std::array<pollfd, 3> watched{pollfd{connection_->socket.get(), POLLIN, 0},
                                  pollfd{has_begun_ ? -1 : channel_.get(), POLLIN, 0},
                                  pollfd{signals.descriptor(), POLLIN, 0}};
    if (::poll(watched.data(), watched.size(), has_begun_ ? -1 : milliseconds_until(deadline)) < 0)
      continue;
    while (const int signal = signals.next()) {
      if (has_begun_) {
        pass(*connection_, signal);
        if (signal != SIGTSTP) passed = signal;
      } else if (signal == SIGTSTP) {
        ::raise(SIGSTOP);
      } else {
        return work_alone("a signal came before a worker began", signal);
      }
    }
    if (watched[0].revents != 0 && hear_host()) return passed;
    if (has_begun_) continue;
    if (watched[1].revents != 0) begin();
    if (!has_begun_ && Clock::now() >= deadline) return work_alone("no worker began in time", 0);
  }
}

// Nothing that the worker does from here on is undone: it runs, or it has ended.
void Visit::begin() {
  const auto number = hear_ready(channel_.get());
  if (number) has_begun_ = say_go(channel_.get(), *number);
  channel_.reset();  // where it gave up, the host says how it ended
}

// True: that was its last word.
bool Visit::hear_host() {
  const auto received = receive_message(connection_->socket.get());
  if (received.arrival == Arrival::kNothingYet) return false;
  const Json& body = received.message.body;
  const bool worker_ended = find_member(body, "ended") != nullptr;
  const Json* took = find_member(body, "took");
  const Json* code = find_member(body, "exit");
  const Json* by = find_member(body, "signal");
  if (!has_begun_ || received.arrival == Arrival::kMessage) {
    // The host has seen the end of a worker that never took our word: nothing has happened.
    const bool never_began =
        worker_ended && took != nullptr && took->is_boolean() && !took->get<bool>();
    if (!has_begun_ || never_began) {
      const char* usual = worker_ended ? "the worker was prepared for something else, or gave up"
                                       : "the host went away";
      work_alone(string_member(body, "alone", usual), 0);
      return true;
    }
  }
  if (code != nullptr && code->is_number()) {
    outcome_ = code->get<int>();
  } else if (by != nullptr && by->is_number()) {
    outcome_ = end_by(by->get<int>());
  } else {
    outcome_ = lost_in_a_run();
  }
  return true;
}

void Visit::used(const std::set<std::string>& servers) const {
  if (!connection_ || outcome_) return;
  static_cast<void>(
      send_message(connection_->socket.get(),
                   {{"do", "servers"}, {"nonce", connection_->nonce}, {"servers", servers}}));
}

}  // namespace mcpac::resident
