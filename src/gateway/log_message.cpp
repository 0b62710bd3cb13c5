// SPDX-License-Identifier: Apache-2.0

#include "gateway/log_message.h"

#include "gate/answer.h"

namespace mcpac::gateway {
namespace {

constexpr std::size_t kMaxLogged = std::size_t{64} << 10U;
constexpr std::size_t kMaxLogger = 256;

}  // namespace

std::optional<Json> log_message(const std::string& server, const Json& params) {
  const std::string level = string_member(params, "level");
  const Json* data = find_member(params, "data");
  if (!is_log_level(level) || data == nullptr || to_text(*data).size() > kMaxLogged)
    return std::nullopt;
  std::string logger = server;
  if (const std::string own = string_member(params, "logger"); !own.empty())
    logger += "/" + gate::bounded(own, kMaxLogger);
  return Json{{"level", level}, {"logger", std::move(logger)}, {"data", *data}};
}

bool is_wanted(const Json& message, std::string_view least) {
  return !least.empty() && severity(string_member(message, "level")) >= severity(least);
}

}  // namespace mcpac::gateway
