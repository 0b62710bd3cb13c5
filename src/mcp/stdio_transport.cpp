// SPDX-License-Identifier: Apache-2.0

#include "mcp/stdio_transport.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>

#include <algorithm>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>

#include "core/printable.h"
#include "mcp/environment.h"
#include "mcp/proxy.h"

namespace mcpac::mcp {
namespace {

constexpr std::size_t kMaxStderrLine = std::size_t{16} << 10U;
constexpr std::size_t kKeptLines = 10;
// Where it is shown, other lines are ours: none of a server's may pass for one of them.
constexpr std::string_view kSetIn = "    ";
constexpr std::size_t kReadSize = std::size_t{8} << 10U;

}  // namespace

StderrReader::StderrReader(const boost::asio::any_io_executor& executor, UniqueFd read_end,
                           std::shared_ptr<const SecretValues> secrets,
                           std::function<void(std::string_view)> on_line)
    : read_end_(executor, read_end.release()),
      secrets_(std::move(secrets)),
      on_line_(std::move(on_line)),
      splitter_(kMaxStderrLine) {}

void StderrReader::start(std::function<void()> on_end) {
  on_end_ = std::move(on_end);
  read_more();
}

void StderrReader::stop() {
  ended_ = true;
  boost::system::error_code ignored;
  read_end_.close(ignored);
}

void StderrReader::read_more() {
  const auto room = splitter_.prepare(kReadSize);
  read_end_.async_read_some(
      boost::asio::buffer(room.data(), room.size()),
      [weak = weak_from_this()](const boost::system::error_code& error, std::size_t size) {
        const auto self = weak.lock();
        if (!self || self->ended_) return;
        if (!error) {
          self->splitter_.commit(size);
          self->take_lines();
          if (!self->ended_) self->read_more();
          return;
        }
        const auto rest = self->splitter_.take_rest();
        if (!rest.empty() && !self->skipping_) self->take_line(rest);
        self->ended_ = true;
        if (self->on_end_) self->on_end_();
      });
}

void StderrReader::take_lines() {
  while (!ended_) {
    if (const auto line = splitter_.next()) {
      if (!std::exchange(skipping_, false)) take_line(*line);
    } else if (splitter_.over_long()) {
      // The rest of the line is dropped: shown as pieces, it could split a secret that a search for
      // the whole would have found. Redacted before it is cut, for the same reason.
      const auto rest = splitter_.take_rest();
      if (!std::exchange(skipping_, true)) take_line(rest);
    } else {
      return;
    }
  }
}

void StderrReader::take_line(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::string text = printable_prose(secrets_->redact(line), kMaxStderrLine);
  ++lines_;
  if (text.empty()) return;
  if (on_line_) on_line_(text);
  last_.push_back(std::move(text));
  if (last_.size() > kKeptLines) last_.pop_front();
}

std::string StderrReader::last_lines() const {
  std::string out;
  for (const auto& line : last_) {
    if (!out.empty()) out += '\n';
    out += kSetIn;
    out += printable_prose(line, 500);
  }
  return out;
}

void InputQueue::add(std::uint64_t line, std::int64_t request, std::size_t bytes, Client client) {
  if (client) bytes_of_[*client] += bytes;
  requests_.push_back({line, request, bytes, std::move(client)});
}

void InputQueue::uncount(const Request& request) {
  if (!request.client) return;
  const auto own = bytes_of_.find(*request.client);
  own->second -= request.bytes;
  if (own->second == 0) bytes_of_.erase(own);
}

void InputQueue::sent(std::uint64_t line) {
  while (!requests_.empty() && requests_.front().line <= line) {
    uncount(requests_.front());
    requests_.pop_front();
  }
}

std::optional<std::uint64_t> InputQueue::line_of(std::int64_t request) const {
  const auto found = std::ranges::lower_bound(requests_, request, {}, &Request::id);
  if (found == requests_.end() || found->id != request) return std::nullopt;
  return found->line;
}

void InputQueue::remove(std::int64_t request) {
  const auto found = std::ranges::lower_bound(requests_, request, {}, &Request::id);
  if (found == requests_.end() || found->id != request) return;
  uncount(*found);
  requests_.erase(found);
}

bool InputQueue::has_room(const Client& client, std::size_t bytes, std::size_t free) const {
  const auto own = client ? bytes_of_.find(*client) : bytes_of_.end();
  return own == bytes_of_.end() || own->second + bytes <= free;
}

namespace asio = boost::asio;
namespace {

// Between the first sign that a server ended and the error that says so: time for its exit status
// and its last lines, which may still be on their way or be held open by a grandchild.
constexpr std::chrono::milliseconds kLastWords{500};

// Calls of several clients that come together go on together; not so many that their server waits
// while the rest of them is read.
constexpr ipc::ChannelLimits kOfServer{.gathers = 8};

// A server that is no further behind is about to read: whose requests wait is not looked at.
constexpr std::size_t kSoonRead = std::size_t{128} << 10U;

// What it had, to explain why it ended.
std::string confined_advice(const ConfinedSpawn& confined) {
  const auto listed = [](const std::vector<std::string>& list, const char* none) {
    return list.empty() ? std::string(none) : fmt::format("{}", fmt::join(list, ", "));
  };
  return fmt::format(
      "{}with {} and {}: what else it needs of the disk goes into \"sandbox\": "
      "{{\"files\": […]}} of its entry, of the network into \"network\": [\"HOST:PORT\"] there",
      kConfinedAdvice, listed(confined.places, "no files"), listed(confined.network, "no network"));
}

}  // namespace

Result<StdioTarget> make_stdio_target(const ServerConfig& config, SecretValues& secrets) {
  const auto place = [&config](std::string_view member) {
    return fmt::format("mcpServers.{}.{}", config.name, member);
  };
  StdioTarget target{.server = config.name, .spawn = {}, .shutdown_grace = config.shutdown_grace};
  auto command = secrets.expand(config.command, place("command"));
  if (!command) return pass_on(command);
  target.spawn.arguments.push_back(*command);
  for (const auto& argument : config.arguments) {
    auto expanded = secrets.expand(argument, place("args"));
    if (!expanded) return pass_on(expanded);
    target.spawn.arguments.push_back(std::move(*expanded));
  }
  std::map<std::string, std::string> environment;
  for (const auto& [name, value] : config.environment) {
    auto expanded = secrets.expand(value, place("env." + name));
    if (!expanded) return pass_on(expanded);
    environment.emplace(name, std::move(*expanded));
  }
  auto folder = secrets.expand(config.working_directory, place("cwd"));
  if (!folder) return pass_on(folder);
  target.spawn.working_directory = std::move(*folder);
  target.spawn.environment = make_environment(
      environment, config.sandbox ? VariablesFor::kConfined : VariablesFor::kOrdinary);
  if (config.sandbox) {
    ConfinedSpawn confined{
        .confiner = config.confiner, .server = config.name, .memory = config.sandbox->memory};
    for (const auto& text : config.sandbox->files) {
      auto expanded = secrets.expand(text, place("sandbox.files"));
      if (!expanded) return pass_on(expanded);
      confined.places.push_back(std::move(*expanded));
    }
    for (const auto& text : config.sandbox->network) {
      auto expanded = secrets.expand(text, place("sandbox.network"));
      if (!expanded) return pass_on(expanded);
      confined.network.push_back(std::move(*expanded));
    }
    target.spawn.confined = std::move(confined);
  }
  know_proxies(secrets);
  target.spawn.keeper = config.keeper.string();
  target.spawn.observer = config.observer;
  auto program = find_program(*command, target.spawn.environment);
  if (!program) return pass_on(program);
  target.spawn.program = std::move(*program);
  return target;
}

asio::awaitable<Result<std::shared_ptr<StdioTransport>>> StdioTransport::start_server(
    asio::any_io_executor executor, StdioTarget target,
    std::shared_ptr<const SecretValues> secrets) {
  auto child = co_await ChildProcess::spawn_aside(executor, target.spawn);
  if (!child) co_return pass_on(child);
  co_return std::shared_ptr<StdioTransport>(new StdioTransport(
      std::move(executor), std::move(target), std::move(*child), std::move(secrets)));
}

StdioTransport::StdioTransport(asio::any_io_executor executor, StdioTarget target,
                               std::shared_ptr<ChildProcess> child,
                               std::shared_ptr<const SecretValues> secrets)
    : executor_(std::move(executor)),
      target_(std::move(target)),
      child_(std::move(child)),
      channel_(ipc::StreamChannel::over_pair(executor_, std::move(child_->stdout_end),
                                             std::move(child_->stdin_end), kOfServer)),
      stderr_(std::make_shared<StderrReader>(executor_, std::move(child_->stderr_end),
                                             std::move(secrets), target_.on_stderr)),
      last_words_(executor_),
      rest_(executor_) {}

StdioTransport::~StdioTransport() {
  kill();
}

void StdioTransport::start(TransportEvents events) {
  events_ = std::make_shared<const TransportEvents>(std::move(events));
  const auto weak = weak_from_this();
  channel_->start({.on_line =
                       [weak](std::string_view line) {
                         const auto self = weak.lock();
                         if (!self || self->closed_) return;
                         if (!self->unread_.is_empty())
                           self->unread_.sent(self->channel_->sent_lines());
                         self->receive(line);
                       },
                   .on_closed =
                       [weak](const ipc::CloseReason& reason) {
                         if (const auto self = weak.lock()) self->stdout_ended(reason);
                       },
                   .on_write_failed =
                       [weak] {
                         if (const auto self = weak.lock()) self->stdin_ended();
                       }});
  stderr_->start([weak] {
    if (const auto self = weak.lock()) self->something_ended();
  });
  child_->on_exit([weak] {
    if (const auto self = weak.lock()) self->something_ended();
  });
}

void StdioTransport::receive(std::string_view line) {
  const auto live = events_;
  ++lines_;
  const auto begun = ReadThrottle::Clock::now();
  live->on_message(line, std::nullopt);
  const auto ended = ReadThrottle::Clock::now();
  pace_.took(begun, ended);
  const auto rest = pace_.rest(ended);
  // Of one that has ended all is read that it left.
  if (closed_ || rest.count() == 0 || child_->has_exited()) return;
  channel_->pause_reading();
  rest_.expires_after(rest);
  rest_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (self && !error && !self->closed_) self->channel_->resume_reading();
  });
}

void StdioTransport::send(Outgoing message) {
  if (closed_) return;
  if (message.is_answer()) return send_answer(std::move(message));
  if (!unread_.is_empty()) unread_.sent(channel_->sent_lines());
  if (message.request_id && !is_within_share(message))
    return refuse(*message.request_id,
                  "more of this client's calls waits to be sent than its share: the server does "
                  "not read its input; wait for answers, or cancel calls");
  const std::size_t bytes = message.line.size() + 1;
  const auto status = message.request_id ? channel_->send_between_lines(std::move(message.line))
                                         : channel_->send(std::move(message.line));
  if (status == ipc::SendStatus::kQueued) {
    if (message.request_id && channel_->queued_bytes() > kSoonRead)
      unread_.add(channel_->accepted_lines(), *message.request_id, bytes,
                  std::move(message.client));
    return;
  }
  if (status == ipc::SendStatus::kClosed) return stdin_ended();
  if (status == ipc::SendStatus::kFull && message.request_id)
    refuse(*message.request_id, "too much waits to be sent: the server does not read its input");
}

bool StdioTransport::is_within_share(const Outgoing& request) {
  const std::size_t queued = channel_->queued_bytes();
  if (queued <= kSoonRead) return true;
  const std::size_t free = kOfServer.max_queued - std::min(queued, kOfServer.max_queued);
  return unread_.has_room(request.client, request.line.size() + 1, free);
}

// Posted, so that no callback comes out of send() itself.
void StdioTransport::refuse(std::int64_t request_id, std::string why) {
  asio::post(executor_, [weak = weak_from_this(), request_id, why = std::move(why)]() mutable {
    const auto self = weak.lock();
    if (!self || self->closed_) return;
    const auto live = self->events_;
    live->on_request_failed(request_id, Error{.id = ErrorId::kServerLimit,
                                              .what = std::move(why),
                                              .where = "server " + self->target_.server,
                                              .why = "",
                                              .fix = "",
                                              .sent = Sent::kNo});
  });
}

bool StdioTransport::abandon(std::int64_t request_id) {
  unread_.sent(channel_->sent_lines());
  const auto line = unread_.line_of(request_id);
  if (!line || !channel_->take_out(*line)) return true;
  unread_.remove(request_id);
  return false;
}

void StdioTransport::send_answer(Outgoing answer) {
  if (!broken_.empty()) return;
  while (!unsent_.empty() && unsent_.front().number <= channel_->sent_lines()) {
    answers_.remove(unsent_.front().bytes);
    unsent_.pop_front();
  }
  std::string line = std::move(answer.line);
  std::size_t bytes = line.size();
  bool has_room = answers_.add(bytes);
  if (!has_room && !answer.shorter.empty()) {
    line = std::move(answer.shorter);
    bytes = line.size();
    has_room = answers_.add(bytes);
  }
  if (!has_room) {
    broken_ = AnswersUnderWay::too_many();
    // Posted, so that no callback comes out of send() itself.
    return asio::post(executor_, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->something_ended();
    });
  }
  const auto status = channel_->send(std::move(line));
  if (status == ipc::SendStatus::kQueued)
    return unsent_.push_back({channel_->accepted_lines(), bytes});
  answers_.remove(bytes);
  if (status == ipc::SendStatus::kClosed) stdin_ended();
}

// Mostly the server is dying, and its end will say more; if it lives on, it is of no use.
void StdioTransport::stdin_ended() {
  if (closed_) return;
  stdin_broken_ = true;
  wait_for_last_words();
}

void StdioTransport::stdout_ended(const ipc::CloseReason& reason) {
  stdout_ended_ = true;
  if (reason.cause == ipc::CloseCause::kOverLong) broken_ = reason.detail;
  something_ended();
}

void StdioTransport::something_ended() {
  if (closed_) return;
  if (child_->has_exited()) {
    rest_.cancel();
    channel_->resume_reading();
  }
  const bool over = stdout_ended_ && stderr_->has_ended() && child_->has_exited();
  if (over || !broken_.empty()) return report();
  // The end of stderr alone means nothing: some servers close it.
  if (stdout_ended_ || child_->has_exited()) wait_for_last_words();
}

void StdioTransport::wait_for_last_words() {
  if (waiting_for_last_words_) return;
  waiting_for_last_words_ = true;
  last_words_.expires_after(kLastWords);
  last_words_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (self && !error && !self->closed_) self->report();
  });
}

void StdioTransport::report() {
  const auto self = shared_from_this();
  const auto events = events_;
  Error error = death();
  kill();
  if (events) events->on_closed(std::move(error));
}

Error StdioTransport::death() const {
  Error error{.id = ErrorId::kServerDied,
              .what = "",
              .where = "server " + target_.server,
              .why = stderr_->last_lines(),
              .fix = ""};
  if (!broken_.empty()) {
    error.id = ErrorId::kServerLimit;
    error.what = fmt::format("server {}: {}", target_.server, broken_);
  } else if (child_->has_exited()) {
    error.what = fmt::format("server {} ended: {}", target_.server, child_->exit_text());
  } else if (stdin_broken_) {
    error.what = fmt::format("server {} closed its input without ending", target_.server);
  } else {
    error.what = fmt::format("server {} closed its output without ending", target_.server);
  }
  error.fix = network_advice(error.why);
  if (target_.spawn.confined) error.fix = confined_advice(*target_.spawn.confined);
  if (child_->limit_hit()) error.fix = child_->limit_hit()->fix;
  if (!error.why.empty()) error.why = "it last wrote:\n" + error.why;
  return error;
}

asio::awaitable<void> StdioTransport::close() {
  const auto self = shared_from_this();
  if (closed_) co_return;
  closed_ = true;
  last_words_.cancel();
  rest_.cancel();
  channel_->resume_reading();  // or a server whose output is full could not end by itself
  channel_->finish_writing();
  bool ended = co_await child_->wait(target_.shutdown_grace);
  if (!ended) {
    child_->signal_group(SIGTERM);
    ended = co_await child_->wait(target_.shutdown_grace);
  }
  if (!ended) child_->kill_now();
  channel_->close();
  stderr_->stop();
}

void StdioTransport::kill() {
  closed_ = true;
  last_words_.cancel();
  rest_.cancel();
  child_->kill_now();
  channel_->close();
  stderr_->stop();
}

}  // namespace mcpac::mcp
