#include "mcp/stderr_reader.h"

#include <utility>

#include <boost/asio/buffer.hpp>

#include "core/printable.h"

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

}  // namespace mcpac::mcp
