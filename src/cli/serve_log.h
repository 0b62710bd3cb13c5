// ServeLog: log of `mcpac serve` for its operator, on standard error: lines for people, or one
// JSON object a line ({"time", "level", "message"}) for a collector of logs.
//
// It says nothing of calls: that is the audit log's. Nothing of a token is ever said. From any
// thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <string_view>

#include "cli/context.h"

namespace mcpac::cli {

enum class LogFormat : std::uint8_t { kText, kJson };

class ServeLog {
 public:
  // `context` is borrowed.
  ServeLog(const Context& context, LogFormat format) : context_(context), format_(format) {}
  void info(std::string_view text);
  void warn(std::string_view text);

 private:
  void write(std::string_view level, std::string_view text);

  const Context& context_;
  LogFormat format_;
  std::mutex one_line_;
};

}  // namespace mcpac::cli
