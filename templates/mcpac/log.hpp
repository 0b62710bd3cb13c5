// Log: a line for the person who runs the program. Needs no permission; never throws.
#pragma once

#include <cstdint>
#include <exception>
#include <string_view>

#if __has_include(<format>)
#include <format>
#include <utility>
#endif

#include "session.hpp"

namespace mcpac {

// MCP's levels.
enum class LogLevel : ::std::uint8_t {
  debug,
  info,
  notice,
  warning,
  error,
  critical,
  alert,
  emergency
};

[[nodiscard]] constexpr ::std::string_view to_string(LogLevel level) {
  switch (level) {
    case LogLevel::debug: return "debug";
    case LogLevel::info: break;
    case LogLevel::notice: return "notice";
    case LogLevel::warning: return "warning";
    case LogLevel::error: return "error";
    case LogLevel::critical: return "critical";
    case LogLevel::alert: return "alert";
    case LogLevel::emergency: return "emergency";
  }
  return "info";
}

namespace detail {

inline void log_to(Session& session, LogLevel level, ::std::string_view text) noexcept {
  try {
    session.notify("notifications/message", {{"level", to_string(level)}, {"data", text}});
  } catch (const ::std::exception&) {
    // A lost log line must not end a program that is otherwise fine; the next call says that the
    // connection is gone.
  }
}

}  // namespace detail

inline void log(LogLevel level, ::std::string_view text) noexcept {
  detail::log_to(detail::process_session(), level, text);
}
inline void log(::std::string_view text) noexcept {
  log(LogLevel::info, text);
}

#if __has_include(<format>)
// The same, formatted as by std::format.
template <class... A>
requires(sizeof...(A) > 0) void log(LogLevel level, ::std::format_string<A...> form,
                                    A&&... given) noexcept {
  try {
    log(level, ::std::format(form, ::std::forward<A>(given)...));
  } catch (const ::std::exception&) {
    // As a line that cannot be sent.
  }
}
template <class... A>
requires(sizeof...(A) > 0) void log(::std::format_string<A...> form, A&&... given) noexcept {
  log(LogLevel::info, form, ::std::forward<A>(given)...);
}
#endif

}  // namespace mcpac
