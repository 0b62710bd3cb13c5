#include "cli/serve_log.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "core/json.h"
#include "core/rfc3339.h"

namespace mcpac::cli {

void ServeLog::info(std::string_view text) {
  if (format_ == LogFormat::kJson) return write("info", text);
  const std::scoped_lock lock(one_line_);
  context_.say(text);
}

void ServeLog::warn(std::string_view text) {
  if (format_ == LogFormat::kJson) return write("warning", text);
  const std::scoped_lock lock(one_line_);
  context_.warn(text);
}

void ServeLog::write(std::string_view level, std::string_view text) {
  const Json line{
      {"time", rfc3339_utc(std::chrono::system_clock::now())}, {"level", level}, {"message", text}};
  const std::scoped_lock lock(one_line_);
  fmt::print(stderr, "{}\n", to_text(line));
  std::fflush(stderr);
}

}  // namespace mcpac::cli
