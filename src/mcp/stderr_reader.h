// StderrReader: a server's stderr, line by line, redacted and made printable.
//
// It keeps the last lines for the error that says why a server died. Lines over the limit are cut,
// so nothing that a server writes there can fill our memory or stop it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "core/file.h"
#include "ipc/line_splitter.h"
#include "mcp/secrets.h"

namespace mcpac::mcp {

class StderrReader : public std::enable_shared_from_this<StderrReader> {
 public:
  StderrReader(const boost::asio::any_io_executor& executor, UniqueFd read_end,
               std::shared_ptr<const SecretValues> secrets,
               std::function<void(std::string_view)> on_line);
  void start(std::function<void()> on_end);
  void stop();
  [[nodiscard]] bool has_ended() const { return ended_; }
  // The last lines, joined by newlines; empty when there were none.
  [[nodiscard]] std::string last_lines() const;
  // How many came so far.
  [[nodiscard]] std::uint64_t lines() const { return lines_; }

 private:
  void read_more();
  void take_lines();
  void take_line(std::string_view line);

  boost::asio::posix::stream_descriptor read_end_;
  std::shared_ptr<const SecretValues> secrets_;
  std::function<void(std::string_view)> on_line_;
  std::function<void()> on_end_;
  ipc::LineSplitter splitter_;
  std::deque<std::string> last_;
  std::uint64_t lines_ = 0;
  bool skipping_ = false;  // to the end of a line that was too long
  bool ended_ = false;
};

}  // namespace mcpac::mcp
