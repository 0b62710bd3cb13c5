// SPDX-License-Identifier: Apache-2.0

#include "run/live/run_control.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "core/abandoned.h"
#include "core/socket_folder.h"
#include "ipc/stream_channel.h"
#include "run/live/live_runs.h"

namespace mcpac::run {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kMaxPeers = 8;
constexpr std::size_t kMaxRequest = std::size_t{16} << 10U;
constexpr int kMaxRequests = 64;  // of one peer
constexpr auto kPeerTime = std::chrono::seconds(5);
// Short for a person, and ten turns of the loop a second are nothing to it.
constexpr auto kPause = std::chrono::milliseconds(100);

std::unexpected<Error> unusable(int error) {
  return fail(ErrorId::kFileUnwritable, "this run cannot be listed, revoked or killed: " +
                                            std::system_category().message(error));
}

// Bound beside its name and renamed when it listens: no client finds a socket that refuses it.
Result<UniqueFd> listen_as(const UniqueFd& folder, const std::string& run_id) {
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // With our mark: killed in between, the next run sweeps it.
  const std::string name = fmt::format("{}.{}.new", run_id, own_mark());
  const auto address = socket_address(folder, name);
  if (!socket || !address) return unusable(socket ? ENAMETOOLONG : errno);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0 ||
      ::fchmodat(folder.get(), name.c_str(), 0600, 0) != 0 ||
      ::listen(socket.get(), static_cast<int>(kMaxPeers)) != 0 ||
      ::renameat(folder.get(), name.c_str(), folder.get(), (run_id + ".sock").c_str()) != 0) {
    const int error = errno;
    ::unlinkat(folder.get(), name.c_str(), 0);
    return unusable(error);
  }
  return socket;
}

bool is_same_user(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         peer.uid == ::geteuid();
}

std::string error_line(const Error& error) {
  return to_text(Json{{"error", error.what}, {"id", to_string(error.id)}});
}

}  // namespace

class RunControl::Peer : public std::enable_shared_from_this<Peer> {
 public:
  Peer(RunControl& control, UniqueFd socket, std::uint64_t number)
      : control_(control),
        number_(number),
        channel_(ipc::StreamChannel::over_socket(
            control.executor_, std::move(socket),
            {.max_line = kMaxRequest, .max_queued = 2 * kMaxControlLine})),
        timer_(control.executor_) {}

  void start() {
    const auto weak = weak_from_this();
    channel_->start({.on_line =
                         [weak](std::string_view line) {
                           if (const auto self = weak.lock()) self->take(line);
                         },
                     .on_closed =
                         [weak](const ipc::CloseReason&) {
                           if (const auto self = weak.lock()) self->leave();
                         }});
    timer_.expires_after(kPeerTime);
    timer_.async_wait([weak](const boost::system::error_code& error) {
      const auto self = weak.lock();
      if (!error && self) self->leave();
    });
  }

  void leave() {
    const auto keep = shared_from_this();
    channel_->close();
    timer_.cancel();
    control_.peers_.erase(keep);
  }

  [[nodiscard]] bool has_asked() const { return requests_ > 0; }
  [[nodiscard]] std::uint64_t number() const { return number_; }  // in the order of arrival

 private:
  void take(std::string_view line) {
    if (++requests_ > kMaxRequests) return leave();
    const auto status = channel_->send(control_.answer(line));
    if (status == ipc::SendStatus::kFull || status == ipc::SendStatus::kClosed) leave();
  }

  RunControl& control_;
  std::uint64_t number_;
  std::shared_ptr<ipc::StreamChannel> channel_;
  asio::steady_timer timer_;
  int requests_ = 0;
};

RunControl::RunControl(const asio::any_io_executor& executor, UniqueFd folder, std::string run_id,
                       RunControls controls)
    : executor_(executor),
      folder_(std::move(folder)),
      run_id_(std::move(run_id)),
      controls_(std::move(controls)),
      acceptor_(executor),
      pause_(executor) {}

Result<std::unique_ptr<RunControl>> RunControl::open(const asio::any_io_executor& executor,
                                                     const std::filesystem::path& folder,
                                                     std::string run_id, RunControls controls) {
  auto opened = open_runs_folder(folder);
  if (!opened) return pass_on(opened);
  auto socket = listen_as(*opened, run_id);
  if (!socket) return pass_on(socket);
  std::unique_ptr<RunControl> control(
      new RunControl(executor, std::move(*opened), std::move(run_id), std::move(controls)));
  boost::system::error_code error;
  control->acceptor_.assign(asio::local::stream_protocol(), socket->get(), error);
  if (error) {
    return fail(ErrorId::kFileUnwritable, "the run cannot be watched: its socket cannot be heard",
                {.why = error.message()});
  }
  static_cast<void>(socket->release());
  control->accept();
  return control;
}

RunControl::~RunControl() {
  *alive_ = false;
  ::unlinkat(folder_.get(), (run_id_ + ".sock").c_str(), 0);
}

void RunControl::accept() {
  acceptor_.async_accept(
      [this, alive = alive_](const boost::system::error_code& error, auto socket) {
        if (!*alive || error == asio::error::operation_aborted) return;
        if (error) return accept_later();
        boost::system::error_code failed;
        UniqueFd peer(socket.release(failed));
        if (!failed && is_same_user(peer.get())) {
          make_room();
          const auto served = std::make_shared<Peer>(*this, std::move(peer), ++peers_so_far_);
          peers_.insert(served);
          served->start();
        }
        accept();
      });
}

// A new connection has a request; the one silent for longest may only want to be in the way.
void RunControl::make_room() {
  if (peers_.size() < kMaxPeers) return;
  const auto sooner = [](const auto& one, const auto& other) {
    return std::pair(one->has_asked(), one->number()) <
           std::pair(other->has_asked(), other->number());
  };
  const auto first = *std::ranges::min_element(peers_, sooner);
  first->leave();
}

// Without a descriptor for it (EMFILE) a connection stays in the queue, and accepting again at once
// would fail again at once, for as long as there is none.
void RunControl::accept_later() {
  pause_.expires_after(kPause);
  pause_.async_wait([this, alive = alive_](const boost::system::error_code& error) {
    if (*alive && !error) accept();
  });
}

std::string RunControl::answer(std::string_view line) const {
  auto request = parse_json(line, "a request", {.max_bytes = kMaxRequest, .max_depth = 4});
  if (!request) return error_line(request.error());
  auto result = carry_out(*request);
  if (!result) return error_line(result.error());
  (*result)["run"] = run_id_;
  std::string text = to_text(*result);
  if (text.size() <= kMaxControlLine - 1) return text;
  return error_line({ErrorId::kRunUnreachable, "the answer is too long to be sent", "", "", ""});
}

Result<Json> RunControl::carry_out(const Json& request) const {
  const std::string what = string_member(request, "do");
  if (what == "show") return controls_.show();
  if (what == "revoke") return controls_.revoke(string_member(request, "permission"));
  if (what == "kill") return controls_.kill();
  return fail(ErrorId::kUsage, "a live run can do show, revoke and kill");
}

}  // namespace mcpac::run
