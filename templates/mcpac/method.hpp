// Method<P>: one tool as something to call; P is its permission, a tool's tag or a Narrow of it.
//
// The analyzer reads `P` from the type of the object whose operator(), async or try_call is used,
// so these three are the only ways to call. What depends on no tool is in session.hpp: a program
// pays little for every further tool that it uses.
#pragma once

#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "convert.hpp"
#include "expected.hpp"
#include "log.hpp"
#include "result.hpp"
#include "session.hpp"

namespace mcpac {

// A result that is on its way. Dropping it unread is fine: the call is made, its answer is ignored.
template <class R>
class [[nodiscard]] Future {
 public:
  Future(Session& session, ::std::shared_ptr<Pending> pending, ::std::string_view permission)
      : session_(&session), pending_(::std::move(pending)), permission_(permission) {}
  Future(Future&&) noexcept = default;
  Future& operator=(Future&&) noexcept = default;
  ~Future() = default;

  // Waits, and returns the result or throws what came instead. Once, as with std::future.
  [[nodiscard]] R get() {
    wait();
    const auto pending = ::std::exchange(pending_, nullptr);
    ::std::string remark;
    R result = make_result_of<R>(detail::result_of(*pending, permission_), permission_, &remark);
    if (!remark.empty()) detail::log_to(*session_, LogLevel::warning, remark);
    return result;
  }
  void wait() const {
    check();
    session_->wait(*pending_);
  }
  // Waits at most so long. A call whose answer is awaited no more goes on: drop the future.
  template <class Rep, class Period>
  ::std::future_status wait_for(const ::std::chrono::duration<Rep, Period>& time) const {
    using Clock = ::std::chrono::steady_clock;
    const auto now = Clock::now();
    const ::std::chrono::duration<double> most = (Clock::time_point::max() - now) / 2;
    const bool is_long = ::std::chrono::duration<double>(time) > most;
    return wait_until(is_long ? Clock::time_point::max()
                              : now + ::std::chrono::ceil<Clock::duration>(time));
  }
  template <class Clock, class Duration>
  ::std::future_status wait_until(const ::std::chrono::time_point<Clock, Duration>& end) const {
    if constexpr (!::std::is_same_v<Clock, ::std::chrono::steady_clock>) {
      return wait_for(end - Clock::now());
    } else {
      check();
      return session_->wait_until(*pending_, end) ? ::std::future_status::ready
                                                  : ::std::future_status::timeout;
    }
  }
  [[nodiscard]] bool ready() const {
    check();
    return session_->ready(*pending_);
  }
  [[nodiscard]] bool valid() const noexcept { return pending_ != nullptr; }

 private:
  void check() const {
    if (!pending_) {
      throw ::std::logic_error(::std::string(permission_) +
                               ": this future was read before, or moved from: get() works once");
    }
  }
  Session* session_;
  ::std::shared_ptr<Pending> pending_;
  ::std::string_view permission_;
};

namespace detail {

template <class Args>
[[nodiscard]] Json arguments_of(const Args& args) {
  if constexpr (::std::is_same_v<Args, Json>) {
    return args.is_null() ? Json::object() : args;
  } else {
    return to_json(args);
  }
}

// Generated arguments that spell what they require as absent need some.
template <class Args>
concept made_of_nothing = requires {
  Args{};
}
&&!requires {
  Args::mcpac_absent(absent);
};
template <class P>
concept needs_no_arguments = made_of_nothing<typename P::Args>;

}  // namespace detail

template <class P>
class Method {
 public:
  using Args = typename P::Args;
  using Result = typename P::Result;

  explicit constexpr Method(Session* session) noexcept : session_(session) {}

  // Calls and waits.
  Result operator()(const Args& args) const { return async(args).get(); }
  Result operator()() const requires detail::needs_no_arguments<P> { return (*this)(Args{}); }

  // Calls; the result comes later.
  Future<Result> async(const Args& args) const {
    Session& session = detail::session_of(session_);
    return {session, session.start(P::permission, detail::arguments_of(args)), P::permission};
  }
  Future<Result> async() const requires detail::needs_no_arguments<P> { return async(Args{}); }

  // Calls and waits; never throws.
  Expected<Result> try_call(const Args& args) const {
    try {
      return (*this)(args);
    } catch (const Error& error) {
      return error;
    } catch (const ::std::exception& error) {
      return Error({.kind = ErrorKind::internal,
                    .permission = ::std::string(P::permission),
                    .message = error.what()});
    }
  }
  Expected<Result> try_call() const requires detail::needs_no_arguments<P> {
    return try_call(Args{});
  }

 private:
  Session* session_;  // null: the process's session
};

}  // namespace mcpac
