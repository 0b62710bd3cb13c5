// Entry: how a program begins and ends. The host appends one of two lines after the program's
// source:
//
//   int main() { return ::mcpac::detail::run_agent_main(&::agent_main); }
//   decltype(::runtime) runtime = ::mcpac::detail::runtime_object<decltype(::runtime)>();
//
// However a program ends, it says so in one line: an uncaught error, std::terminate and abort each
// have a message and an exit code of their own (EMITTED_FORM.md). In the sandbox the program is
// process 1, which the default action of SIGABRT does not end; without a handler abort() would be a
// crash.
#pragma once

#include <cxxabi.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>

#include "arguments_words.hpp"
#include "log.hpp"
#include "note.hpp"
#include "requires.hpp"
#include "session.hpp"

namespace mcpac::detail {

inline constexpr int kExitData = 65;
inline constexpr int kExitUnavailable = 69;
inline constexpr int kExitInternal = 70;
inline constexpr int kExitException = 71;
inline constexpr int kExitRefused = 77;
inline constexpr int kExitTimeout = 124;
inline constexpr int kExitAborted = 134;

// As docs/protocol.md names them.
[[nodiscard]] constexpr ::std::string_view wire_name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::denied: return "denied";
    case ErrorKind::invalid_arguments: return "invalid_arguments";
    case ErrorKind::tool: return "tool";
    case ErrorKind::transport: return "transport";
    case ErrorKind::timeout: return "timeout";
    case ErrorKind::budget: return "budget";
    case ErrorKind::revoked: return "revoked";
    case ErrorKind::internal: break;
  }
  return "internal";
}

[[nodiscard]] constexpr int exit_code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::denied:
    case ErrorKind::revoked:
    case ErrorKind::budget: return kExitRefused;
    case ErrorKind::invalid_arguments: return kExitData;
    case ErrorKind::tool:
    case ErrorKind::transport: return kExitUnavailable;
    case ErrorKind::timeout: return kExitTimeout;
    case ErrorKind::internal: break;
  }
  return kExitInternal;
}

// One line on standard error, past every buffer.
inline void say(::std::string line) noexcept {
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  line = "mcpac: " + line + "\n";
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0)
    return;  // nobody listens: nothing to do
}

// "std::length_error"; as the compiler spells it where that is too long to be read.
[[nodiscard]] inline ::std::string type_of(const ::std::exception& error) {
  constexpr ::std::size_t kMostShown = 200;
  const ::std::string_view spelt = typeid(error).name();
  if (spelt.size() > kMostShown) return ::std::string(spelt.substr(0, kMostShown));
  int status = 0;
  char* const read = ::abi::__cxa_demangle(spelt.data(), nullptr, nullptr, &status);
  const ::std::string name(read == nullptr ? spelt
                                           : ::std::string_view(read).substr(0, kMostShown));
  ::std::free(read);
  return name;
}

// What some exceptions say of themselves is one word of the library's ("vector"), or their type.
[[nodiscard]] inline ::std::string describe(const ::std::exception& error) {
  const ::std::string type = type_of(error);
  const ::std::string what = error.what();
  return what == type ? type : type + ": " + what;
}

// What the report of the run says of it: `params` of notifications/mcpac/uncaught.
[[nodiscard]] inline Json uncaught(const ::std::exception_ptr& error) {
  constexpr ::std::size_t kMostMessage = 1000;
  constexpr ::std::size_t kMostName = 200;
  try {
    ::std::rethrow_exception(error);
  } catch (const Error& failure) {
    Json said{{"kind", wire_name(failure.kind())},
              {"message", failure.message().substr(0, kMostMessage)}};
    if (!failure.permission().empty())
      said["permission"] = failure.permission().substr(0, kMostName);
    // The data of a tool's failure is what its server answered.
    if (failure.kind() != ErrorKind::tool) {
      const ::std::string id = member_text(failure.data(), "id");
      if (!id.empty()) said["id"] = id.substr(0, kMostName);
    }
    return said;
  } catch (const ::std::exception& failure) {
    return {{"kind", "exception"}, {"message", describe(failure).substr(0, kMostMessage)}};
  } catch (...) {
    return {{"kind", "exception"}, {"message", "of a type that is no std::exception"}};
  }
}

inline void tell_host(const ::std::exception_ptr& error) noexcept {
  try {
    process_session().notify_at_end("notifications/mcpac/uncaught", uncaught(error));
  } catch (...) {
    // It is said on standard error all the same.
  }
}

// Says what `error` is; the exit code for it.
[[nodiscard]] inline int report(const ::std::exception_ptr& error) noexcept {
  try {
    ::std::rethrow_exception(error);
  } catch (const Denied& denied) {
    // Why is told by the host when the program has ended, with the rules, which are its user's.
    say("denied: " + denied.permission());
    return exit_code_of(denied.kind());
  } catch (const Error& failure) {
    // A kind that we gave it: the data of a tool's failure is what its server answered.
    const ::std::string about =
        failure.data().contains("isError") ? ::std::string() : member_text(failure.data(), "kind");
    if (about == kOfTheRun) {  // the message says where
      say(::std::string("invalid ") + failure.what());
      return exit_code_of(failure.kind());
    }
    // Not every result that cannot be read so is a failure of its tool.
    const bool is_no_json = about == kNoJson;
    ::std::string line(is_no_json              ? "result"
                       : is_of_server(failure) ? "error of the server"
                                               : to_string(failure.kind()));
    if (!failure.permission().empty()) line += ": " + failure.permission();
    if (failure.kind() == ErrorKind::invalid_arguments) {
      const ::std::string pointer = InvalidArguments(failure).pointer();
      if (!pointer.empty()) line += ": " + pointer;
    }
    say(line + ": " + failure.what());
    return exit_code_of(failure.kind());
  } catch (const ::std::bad_alloc& failure) {
    say("uncaught exception: " + describe(failure) +
        ": the program asked for more memory than it may have (--memory SIZE; in code mode "
        "limits.memory_bytes)");
  } catch (const ::std::exception& failure) {
    say("uncaught exception: " + describe(failure));
  } catch (...) {
    say("uncaught exception of a type that is no std::exception");
  }
  return kExitException;
}

[[noreturn]] inline void end_at_terminate() noexcept {
  const ::std::exception_ptr error = ::std::current_exception();
  int code = kExitException;
  if (error) {
    code = report(error);
    tell_host(error);
  } else {
    say("std::terminate was called");
  }
  ::std::fflush(stdout);
  ::std::_Exit(code);
}

// Only what is allowed in a signal handler.
extern "C" inline void mcpac_end_at_abort(int) {
  constexpr char kText[] = "mcpac: the program called abort()\n";
  if (::write(STDERR_FILENO, kText, sizeof kText - 1) < 0) ::_exit(kExitAborted);
  ::_exit(kExitAborted);
}

inline void prepare_process() noexcept {
  ::std::set_terminate(&end_at_terminate);
  ::std::signal(SIGABRT, &mcpac_end_at_abort);
  ::std::signal(SIGPIPE, SIG_IGN);
  // Output is shown as it is made, although it goes into a pipe.
  ::std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
}

// What agent_main returned, for the host.
inline void send_result(const Json& value) {
  process_session().notify("notifications/mcpac/result", {{"value", value}});
}

// The exit code of the program.
template <class Return, class Capability>
[[nodiscard]] int run_agent_main(Return (*agent_main)(Capability)) noexcept {
  static_assert(
      ::std::is_void_v<Return> || ::std::is_same_v<Return, int> || ::std::is_same_v<Return, Json>,
      "agent_main returns int, void or mcpac::Json");
  Note<::std::remove_cvref_t<Capability>>::leave();
  prepare_process();
  int code = 0;
  try {
    const auto capability = Mint::make<::std::remove_cvref_t<Capability>>(nullptr);
    if constexpr (::std::is_same_v<Return, int>) {
      code = agent_main(capability);
    } else if constexpr (::std::is_void_v<Return>) {
      agent_main(capability);
    } else {
      send_result(agent_main(capability));
    }
  } catch (...) {
    code = report(::std::current_exception());
    tell_host(::std::current_exception());
  }
  if (::std::fflush(stdout) != 0) say("standard output could not be written");
  return code;
}

// The global object of the second form; the user's main comes after. Until this ran the object is
// all zero, which is the same capability: static objects of the program can use it whatever their
// order.
template <class Capability>
[[nodiscard]] ::std::remove_cv_t<Capability> runtime_object() noexcept {
  Note<::std::remove_cv_t<Capability>>::leave();
  prepare_process();
  return Mint::make<::std::remove_cv_t<Capability>>(nullptr);
}

// What std::terminate did before connect() was called.
[[nodiscard]] inline ::std::terminate_handler& former_terminate() noexcept {
  static ::std::terminate_handler former = nullptr;
  return former;
}

[[nodiscard]] inline bool is_started_by_mcpac() noexcept {
  return ::std::getenv("MCPAC_FD") != nullptr;
}

inline void end_at_uncaught_error() noexcept {
  if (is_started_by_mcpac()) end_at_terminate();
  try {
    if (const ::std::exception_ptr error = ::std::current_exception()) {
      ::std::rethrow_exception(error);
    }
  } catch (const Error&) {
    const int code = report(::std::current_exception());
    ::std::fflush(nullptr);
    ::std::_Exit(code);
  } catch (...) {  // not ours
  }
  if (former_terminate() != nullptr) former_terminate()();
  ::std::abort();
}

// A program of somebody's own ends as an agent does where mcpac started it: it is process 1 there,
// which SIGABRT does not end. Elsewhere only our errors do; everything else stays as it is there,
// and so does a handler that the program has.
[[nodiscard]] inline bool name_uncaught_errors() noexcept {
  static const bool once = [] {
    former_terminate() = ::std::set_terminate(&end_at_uncaught_error);
    if (!is_started_by_mcpac()) return true;
    const auto former = ::std::signal(SIGABRT, &mcpac_end_at_abort);
    if (former != SIG_DFL && former != SIG_ERR) ::std::signal(SIGABRT, former);
    return true;
  }();
  return once;
}

// Made before main() begins, in programs that use connect<R>().
template <class R>
struct NamesUncaughtErrors {
  static inline const bool done = name_uncaught_errors();
};

}  // namespace mcpac::detail

namespace mcpac {

// The capability of a program that `mcpac run` started; agents have only what their entry receives.
template <class R>
[[nodiscard]] R connect() {
  detail::Note<R>::leave();
  static_cast<void>(detail::NamesUncaughtErrors<R>::done);
  if (!detail::named_descriptor()) {
    throw TransportError(
        detail::transport_error("there is no connection to mcpac (MCPAC_FD is not set): start this "
                                "program with mcpac run"));
  }
  return detail::Mint::make<R>(nullptr);
}

}  // namespace mcpac
