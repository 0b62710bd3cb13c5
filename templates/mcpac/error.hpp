// Errors: why a call gave no result. One class a reason, all derived from mcpac::Error.
//
// Everything is held by the base, so an Error taken by value loses only its class: kind() still
// says which it is, and rethrow() throws the right class again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "content.hpp"
#include "json.hpp"

namespace mcpac {

enum class ErrorKind : ::std::uint8_t {
  denied,
  invalid_arguments,
  tool,
  transport,
  timeout,
  budget,
  revoked,
  internal,
  // By the names of their classes.
  Denied = denied,
  InvalidArguments = invalid_arguments,
  ToolError = tool,
  TransportError = transport,
  Timeout = timeout,
  BudgetExceeded = budget,
  Revoked = revoked
};

[[nodiscard]] constexpr ::std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::denied: return "denied";
    case ErrorKind::invalid_arguments: return "invalid arguments";
    case ErrorKind::tool: return "tool error";
    case ErrorKind::transport: return "transport error";
    case ErrorKind::timeout: return "timeout";
    case ErrorKind::budget: return "budget exceeded";
    case ErrorKind::revoked: return "revoked";
    case ErrorKind::internal: break;
  }
  return "internal error";
}

namespace detail {

// What is written of a kind as a literal: the name of an enumerator, or to_string of it. Any other
// does not compile.
class KindName {
 public:
  template <::std::size_t N>
  consteval KindName(const char (&name)[N]) : kind(named({name, N - 1})) {}
  const ErrorKind kind;

 private:
  static consteval ErrorKind named(::std::string_view name) {
    constexpr ::std::string_view kNames[][2] = {
        {"denied", "Denied"},   {"invalid_arguments", "InvalidArguments"},
        {"tool", "ToolError"},  {"transport", "TransportError"},
        {"timeout", "Timeout"}, {"budget", "BudgetExceeded"},
        {"revoked", "Revoked"}, {"internal", "internal"}};
    for (::std::uint8_t i = 0; i < 8; ++i) {
      const auto one = static_cast<ErrorKind>(i);
      if (name == kNames[i][0] || name == kNames[i][1] || name == to_string(one)) return one;
    }
    throw "no kind of error has this name";
  }
};

}  // namespace detail

[[nodiscard]] constexpr bool operator==(ErrorKind kind, detail::KindName name) {
  return kind == name.kind;
}

class Error : public ::std::exception {
 public:
  using Kind = ErrorKind;
  struct Details {
    ErrorKind kind = ErrorKind::internal;
    int code = 0;                // the JSON-RPC code; 0 where no error was answered
    ::std::string permission{};  // "server.tool" of the call, empty where there was none
    ::std::string message{};
    Json data{};                       // the `data` of the answer
    ::std::vector<Content> content{};  // of a ToolError
  };
  explicit Error(Details details)
      : details_(::std::make_shared<const Details>(::std::move(details))) {}

  [[nodiscard]] const char* what() const noexcept override { return details_->message.c_str(); }
  [[nodiscard]] int code() const noexcept { return details_->code; }
  [[nodiscard]] ErrorKind kind() const noexcept { return details_->kind; }
  // The tool that was called, "server.tool".
  [[nodiscard]] const ::std::string& permission() const noexcept { return details_->permission; }
  [[nodiscard]] const ::std::string& message() const noexcept { return details_->message; }
  [[nodiscard]] const Json& data() const noexcept { return details_->data; }
  // What a failed tool answered; empty for every other kind.
  [[nodiscard]] const ::std::vector<Content>& content() const noexcept { return details_->content; }
  // Nothing of the call has gone to its server: it can be repeated.
  [[nodiscard]] bool was_not_sent() const {
    const ::std::string outcome = detail::member_text(data(), "outcome");
    const bool is_refusal = kind() == ErrorKind::denied || kind() == ErrorKind::invalid_arguments ||
                            kind() == ErrorKind::revoked;
    return outcome == "not_sent" || (is_refusal && outcome.empty());
  }
  // The server had the call, and its answer did not come or is lost: look before you repeat it.
  [[nodiscard]] bool may_have_been_done() const {
    const ::std::string outcome = detail::member_text(data(), "outcome");
    return outcome == "unknown" || outcome == "done";
  }
  // Throws this error as the class of its kind.
  [[noreturn]] inline void rethrow() const;

 private:
  ::std::shared_ptr<const Details> details_;  // shared: copying an exception must not throw
};

namespace detail {

// MCPAC-E0305 (docs/errors.md): the server answered a JSON-RPC error.
[[nodiscard]] inline bool is_of_server(const Error& error) {
  return error.kind() == ErrorKind::transport && member_text(error.data(), "id") == "MCPAC-E0305";
}

}  // namespace detail

// Not declared, not granted, or only with a question that nobody answered.
class Denied : public Error {
 public:
  using Error::Error;
  explicit Denied(const Error& error) : Error(error) {}
  [[nodiscard]] ::std::string reason() const {
    const ::std::string text = detail::member_text(data(), "reason");
    return text.empty() ? message() : text;
  }
  // The option of mcpac execute that would admit it, where the host says so to the program: mostly
  // empty, for it is said to the user.
  [[nodiscard]] ::std::string would_grant() const {
    return detail::member_text(data(), "would_grant");
  }
};

// The locked input schema refuses the arguments.
class InvalidArguments : public Error {
 public:
  using Error::Error;
  explicit InvalidArguments(const Error& error) : Error(error) {}
  [[nodiscard]] ::std::string pointer() const { return detail::member_text(data(), "pointer"); }
  [[nodiscard]] ::std::string rule() const { return detail::member_text(data(), "rule"); }
};

// The tool ran and said that it failed; content() is what it answered.
class ToolError : public Error {
 public:
  using Error::Error;
  explicit ToolError(const Error& error) : Error(error) {}
  [[nodiscard]] ::std::string text() const {
    const bool is_result = data().is_object() && data().contains("isError");
    return detail::view_of(content(), is_result ? detail::structured_of(data()) : Json());
  }
};

// No result: the server or the connection is gone, what came is not an answer, or it is an error of
// the protocol, by which the server refuses the call.
class TransportError : public Error {
 public:
  using Error::Error;
  explicit TransportError(const Error& error) : Error(error) {}
  // The last of these: the server is there, and what() is what it says.
  [[nodiscard]] bool is_of_server() const { return detail::is_of_server(*this); }
};

class Timeout : public Error {
 public:
  using Error::Error;
  explicit Timeout(const Error& error) : Error(error) {}
};

// A limit of the run: calls, bytes, money, or calls in flight.
class BudgetExceeded : public Error {
 public:
  using Error::Error;
  explicit BudgetExceeded(const Error& error) : Error(error) {}
};

// The authority was taken back while the program ran.
class Revoked : public Error {
 public:
  using Error::Error;
  explicit Revoked(const Error& error) : Error(error) {}
};

inline void Error::rethrow() const {
  switch (kind()) {
    case ErrorKind::denied: throw Denied(*this);
    case ErrorKind::invalid_arguments: throw InvalidArguments(*this);
    case ErrorKind::tool: throw ToolError(*this);
    case ErrorKind::transport: throw TransportError(*this);
    case ErrorKind::timeout: throw Timeout(*this);
    case ErrorKind::budget: throw BudgetExceeded(*this);
    case ErrorKind::revoked: throw Revoked(*this);
    case ErrorKind::internal: break;
  }
  throw Error(*this);
}

namespace detail {

// The same as an object of the class of its kind.
[[nodiscard]] inline ::std::shared_ptr<const Error> of_its_kind(const Error& error) {
  const auto made = [&error]() -> const Error* {
    switch (error.kind()) {
      case ErrorKind::denied: return new Denied(error);
      case ErrorKind::invalid_arguments: return new InvalidArguments(error);
      case ErrorKind::tool: return new ToolError(error);
      case ErrorKind::transport: return new TransportError(error);
      case ErrorKind::timeout: return new Timeout(error);
      case ErrorKind::budget: return new BudgetExceeded(error);
      case ErrorKind::revoked: return new Revoked(error);
      case ErrorKind::internal: break;
    }
    return new Error(error);
  };
  return ::std::shared_ptr<const Error>(made());
}

[[nodiscard]] inline Error invalid_argument(::std::string message, ::std::string pointer,
                                            ::std::string rule) {
  return Error({.kind = ErrorKind::invalid_arguments,
                .message = ::std::move(message),
                .data = {{"pointer", ::std::move(pointer)}, {"rule", ::std::move(rule)}}});
}

[[nodiscard]] inline Error transport_error(::std::string message) {
  return Error({.kind = ErrorKind::transport, .message = ::std::move(message)});
}

// Of a call whose connection to the host was lost, in the words that the host has for it.
[[nodiscard]] inline Error lost_call(const ::std::string& message, ::std::string_view permission,
                                     bool was_sent) {
  return Error(
      {.kind = ErrorKind::transport,
       .permission = ::std::string(permission),
       .message = message + (was_sent ? "; the call was sent and may have been done: look before "
                                        "you repeat it"
                                      : "; the call was not sent"),
       .data = {{"outcome", was_sent ? "unknown" : "not_sent"}}});
}

[[nodiscard]] inline ErrorKind kind_of(::std::string_view name, int code) {
  if (name == "denied" || (name.empty() && code == -32001)) return ErrorKind::denied;
  if (name == "invalid_arguments" || name == "unknown_tool") return ErrorKind::invalid_arguments;
  if (name.empty() && code == -32602) return ErrorKind::invalid_arguments;
  if (name == "transport" || (name.empty() && code == -32002)) return ErrorKind::transport;
  if (name == "timeout" || (name.empty() && code == -32003)) return ErrorKind::timeout;
  if (name == "budget" || (name.empty() && code == -32004)) return ErrorKind::budget;
  if (name == "revoked" || (name.empty() && code == -32005)) return ErrorKind::revoked;
  return ErrorKind::internal;
}

// The `error` of a JSON-RPC answer to a call of `permission`.
[[nodiscard]] inline Error error_of(const Json& error, ::std::string_view permission) {
  Error::Details details;
  details.permission = permission;
  details.message = member_text(error, "message");
  if (details.message.empty()) details.message = "the host refused the call without a message";
  if (const auto data = error.find("data"); data != error.end()) details.data = *data;
  if (const auto code = error.find("code"); code != error.end() && code->is_number_integer()) {
    details.code = code->get<int>();
  }
  const ::std::string kind = member_text(details.data, "kind");
  details.kind = kind_of(kind, details.code);
  if (kind == "unknown_tool") details.data["rule"] = kind;
  return Error(::std::move(details));
}

}  // namespace detail

}  // namespace mcpac
