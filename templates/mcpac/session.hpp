// Session: the one connection to the host, newline-delimited JSON-RPC on an inherited descriptor.
//
// Any number of calls may be in flight from any number of threads; answers come in any order. There
// is no thread of its own: the thread that waits reads, for all. The sandbox admits read, write,
// poll and futex and little else, so the descriptor stays as it was given: blocking, and only used
// after poll says that it will not block.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "error.hpp"
#include "json.hpp"

namespace mcpac {

// One call in flight. Filled once, by the thread that reads the answer.
struct Pending {
  Pending() = default;
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  ~Pending() {
    if (descriptor >= 0) ::close(descriptor);
  }
  bool done = false;               // guarded by the session's lock
  Json answer{};                   // the whole message
  ::std::optional<Error> error{};  // instead of an answer: the connection failed
  bool may_bring = false;          // a descriptor; what a server answers never does
  int descriptor = -1;             // that came with the answer
};

class Session {
 public:
  explicit Session(int descriptor) : fd_(descriptor) { ignore_broken_pipes(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Sends a call of "server.tool"; throws when it cannot be sent.
  [[nodiscard]] ::std::shared_ptr<Pending> start(::std::string_view permission,
                                                 const Json& arguments) {
    return request(R"("method":"tools/call","params":{"name":)" + dump(permission) +
                       R"(,"arguments":)" + dump(arguments) + "}}\n",
                   false, permission);
  }

  // A request of the runtime's own, without params.
  [[nodiscard]] ::std::shared_ptr<Pending> start_asking(::std::string_view method) {
    return request(R"("method":)" + dump(method) + "}\n");
  }

  // Any other request, whose answer may bring a descriptor.
  [[nodiscard]] ::std::shared_ptr<Pending> start_receiving(::std::string_view method,
                                                           const Json& params) {
    // A thread that has seen input, and will take it with read(), would drop the descriptor. There
    // is one reader at a time: once this answer was read, every later reader knows.
    if (!all_take_descriptors_) {
      takes_descriptors_ = true;
      wait(*request("\"method\":\"ping\"}\n"));
      all_take_descriptors_ = true;
    }
    return request(R"("method":)" + dump(method) + R"(,"params":)" + dump(params) + "}\n", true);
  }

  // A message without an answer.
  void notify(::std::string_view method, const Json& params) {
    const ::std::string message =
        R"({"jsonrpc":"2.0","method":)" + dump(method) + R"(,"params":)" + dump(params) + "}\n";
    check_length(message);
    send(message);
  }

  // The same of a program that ends, in a thread that may hold a lock of ours, in the middle of a
  // message: nobody is waited for, and what cannot be sent at once is not sent. In practice trying
  // to take a lock that is one's own only fails. `params` may hold text that is no UTF-8.
  void notify_at_end(::std::string_view method, const Json& params) noexcept {
    constexpr int kMoment = 1000;
    try {
      const ::std::unique_lock writing(write_mutex_, ::std::try_to_lock);
      if (!writing.owns_lock()) return;
      const Json message{{"jsonrpc", "2.0"}, {"method", method}, {"params", params}};
      const ::std::string line =
          message.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
      ::pollfd watched{fd_, POLLOUT, 0};
      if (line.size() > kPiece || ::poll(&watched, 1, kMoment) != 1) return;
      if ((watched.revents & POLLOUT) == 0) return;
      if (::write(fd_, line.data(), line.size()) < 0) return;  // nobody listens any more
    } catch (...) {
      // There is no memory for it; what was said on standard error has to do.
    }
  }

  void wait(const Pending& pending) {
    ::std::unique_lock lock(mutex_);
    while (!pending.done) {
      if (reading_) {
        changed_.wait(lock);
      } else {
        read_once(lock, -1);
      }
    }
  }

  // True: it is done; false: the time came first.
  [[nodiscard]] bool wait_until(const Pending& pending,
                                ::std::chrono::steady_clock::time_point end) {
    using ::std::chrono::milliseconds;
    constexpr milliseconds kLongest = ::std::chrono::hours(1);  // what poll takes is an int
    for (::std::unique_lock lock(mutex_); !pending.done;) {
      const auto now = ::std::chrono::steady_clock::now();
      if (now >= end) break;
      if (reading_) {
        changed_.wait_until(lock, ::std::min(end, now + kLongest));
      } else {
        const auto left = ::std::chrono::ceil<milliseconds>(::std::min(end, now + kLongest) - now);
        read_once(lock, static_cast<int>(left.count()));
      }
    }
    return ready(pending);
  }

  // Reads what has come, waits for nothing.
  [[nodiscard]] bool ready(const Pending& pending) {
    ::std::unique_lock lock(mutex_);
    while (!pending.done && !reading_) {
      if (!read_once(lock, 0)) break;
    }
    return pending.done;
  }

 private:
  // `text` is the message without its beginning.
  [[nodiscard]] ::std::shared_ptr<Pending> request(const ::std::string& text,
                                                   bool may_bring = false,
                                                   ::std::string_view permission = {}) {
    check_length(text, permission);
    auto pending = ::std::make_shared<Pending>();
    pending->may_bring = may_bring;
    ::std::int64_t id = 0;
    {
      const ::std::lock_guard lock(mutex_);
      if (failure_) throw TransportError(unsent(*failure_, permission));
      id = next_id_++;
      pending_.emplace(id, pending);
    }
    try {
      send(R"({"jsonrpc":"2.0","id":)" + ::std::to_string(id) + "," + text);
    } catch (const TransportError& error) {
      // All calls were forgotten with the connection. Of a message whose end does not come the host
      // reads nothing.
      throw TransportError(unsent(error, permission));
    } catch (...) {
      const ::std::lock_guard lock(mutex_);
      pending_.erase(id);
      throw;
    }
    return pending;
  }

  // Of what is no call of a tool there is nothing to say.
  [[nodiscard]] static Error unsent(const Error& error, ::std::string_view permission) {
    if (permission.empty()) return error;
    return detail::lost_call(error.message(), permission, false);
  }

  // Of a message to the host, without the line's end (docs/protocol.md): it closes the connection
  // of who sends more, and the rest of the program would hear of nothing else.
  static constexpr ::std::size_t kLongestMessage = ::std::size_t{16} << 20U;
  // What stands before the text of a request has at most so much.
  static constexpr ::std::size_t kBeginning = 64;

  static void check_length(const ::std::string& text, ::std::string_view permission = {}) {
    if (text.size() <= kLongestMessage - kBeginning) return;
    throw InvalidArguments(
        Error({.kind = ErrorKind::invalid_arguments,
               .permission = ::std::string(permission),
               .message = "what is sent at a time, with all of its arguments, may have " +
                          ::std::to_string(kLongestMessage) + " bytes (16 MiB), and this has " +
                          ::std::to_string(text.size()) + ": send it in parts",
               .data = {{"pointer", ""}, {"rule", "size"}}}));
  }

  // The host answers in at most 16 MiB unless it is configured otherwise; this only bounds a broken
  // one.
  static constexpr ::std::size_t kLongestLine = ::std::size_t{256} << 20U;
  // What a socket or pipe takes without blocking once poll says that it can be written.
  static constexpr ::std::size_t kPiece = 4096;
  static constexpr ::std::size_t kReadSize = 65536;

  // Where the text is not UTF-8 there is no JSON for it.
  template <class T>
  [[nodiscard]] static ::std::string dump(const T& value) {
    try {
      return Json(value).dump();
    } catch (const Json::exception&) {
      throw InvalidArguments(detail::invalid_argument(
          "an argument is not UTF-8 text (binary data is sent as base64)", "", "type"));
    }
  }

  // A host that goes away is an error to handle, not a signal to die of.
  static void ignore_broken_pipes() {
    if (::std::signal(SIGPIPE, SIG_IGN) == SIG_ERR) return;  // then EPIPE comes with the signal
  }

  void send(::std::string_view message) {
    const ::std::lock_guard writing(write_mutex_);
    while (!message.empty()) {
      const bool may_write = wait_until_writable();
      if (!may_write) continue;
      const ::ssize_t n = ::write(fd_, message.data(), ::std::min(message.size(), kPiece));
      if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (n < 0) fail_now(closed_text(errno));
      message.remove_prefix(static_cast<::std::size_t>(n));
    }
  }

  // The host may wait for us to read answers before it reads on: so a blocked writer reads, unless
  // somebody else does. Then it looks again after a moment, because that reader may stop reading.
  [[nodiscard]] bool wait_until_writable() {
    constexpr int kLookAgain = 10;
    bool others_read = false;
    {
      const ::std::lock_guard lock(mutex_);
      if (failure_) throw TransportError(*failure_);
      others_read = reading_;
    }
    ::pollfd watched{fd_, static_cast<short>(others_read ? POLLOUT : POLLIN | POLLOUT), 0};
    const int n = ::poll(&watched, 1, others_read ? kLookAgain : -1);
    if (n < 0 && errno != EINTR) fail_now(closed_text(errno));
    if (n <= 0) return false;
    if ((watched.revents & POLLNVAL) != 0) fail_now(closed_text(EBADF));
    if ((watched.revents & POLLOUT) != 0) return true;
    ::std::unique_lock lock(mutex_);
    if (!reading_) read_once(lock, 0);
    return false;
  }

  [[noreturn]] void fail_now(::std::string message) {
    const Error error = detail::transport_error(::std::move(message));
    const ::std::lock_guard lock(mutex_);
    fail_all(error);
    throw TransportError(error);
  }

  [[nodiscard]] static ::std::string closed_text(int error_number) {
    if (error_number == EBADF) {
      return "there is no connection to mcpac: start this program with mcpac execute or mcpac run";
    }
    return "the connection to mcpac is closed";
  }

  // With the lock held and nobody reading: waits for input at most `timeout` ms without the lock,
  // delivers what came, and wakes everybody. False: nothing came.
  bool read_once(::std::unique_lock<::std::mutex>& lock, int timeout) {
    if (failure_) {
      fail_all(*failure_);
      return false;
    }
    struct Turn {  // ends on every way out, or the others would wait for ever
      Session& session;
      ::std::unique_lock<::std::mutex>& lock;
      ~Turn() {
        if (!lock.owns_lock()) lock.lock();
        session.reading_ = false;
        session.changed_.notify_all();
      }
    };
    reading_ = true;
    const Turn turn{*this, lock};
    lock.unlock();
    ::std::vector<Json> messages;
    bool any = false;
    ::std::optional<Error> failure = receive(timeout, messages, any);
    lock.lock();
    for (Json& message : messages) deliver(::std::move(message));
    if (failure) fail_all(*failure);
    return any;
  }

  // Only the thread that set reading_ is here.
  [[nodiscard]] ::std::optional<Error> receive(int timeout, ::std::vector<Json>& messages,
                                               bool& any) {
    ::pollfd watched{fd_, POLLIN, 0};
    const int n = ::poll(&watched, 1, timeout);
    if (n == 0 || (n < 0 && errno == EINTR)) return {};
    any = true;
    if (n < 0) return detail::transport_error(closed_text(errno));
    if ((watched.revents & POLLNVAL) != 0) return detail::transport_error(closed_text(EBADF));
    const ::std::size_t before = input_.size();
    input_.resize(before + kReadSize);
    const ::ssize_t got = takes_descriptors_ ? receive_bytes(input_.data() + before)
                                             : ::read(fd_, input_.data() + before, kReadSize);
    input_.resize(before + static_cast<::std::size_t>(::std::max<::ssize_t>(got, 0)));
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return {};
    if (got <= 0) return detail::transport_error(closed_text(got < 0 ? errno : 0));
    return split(before, messages);
  }

  // As read(), and keeps a descriptor that comes along; the host sends at most one with a message.
  [[nodiscard]] ::ssize_t receive_bytes(char* buffer) {
    ::iovec part{buffer, kReadSize};
    alignas(::cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    ::msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ::ssize_t got = ::recvmsg(fd_, &message, MSG_CMSG_CLOEXEC);
    if (got < 0) return got;
    int descriptor = -1;
    const ::cmsghdr* header = CMSG_FIRSTHDR(&message);
    if (header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
        header->cmsg_len >= CMSG_LEN(sizeof(int)))
      ::std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    // One that was lost, because this process has no room for it, keeps its place in the row.
    if (descriptor >= 0 || (message.msg_flags & MSG_CTRUNC) != 0)
      descriptors_.push_back(descriptor);
    return got;
  }

  // Takes whole lines out of the input; `before` bytes of it are known to hold no line end.
  [[nodiscard]] ::std::optional<Error> split(::std::size_t before, ::std::vector<Json>& messages) {
    ::std::size_t begin = 0;
    for (auto end = input_.find('\n', before); end != ::std::string::npos;
         end = input_.find('\n', begin)) {
      Json message = Json::parse(input_.data() + begin, input_.data() + end, nullptr, false);
      if (message.is_discarded()) {
        return detail::transport_error("mcpac sent a line that is not JSON");
      }
      messages.push_back(::std::move(message));
      begin = end + 1;
    }
    input_.erase(0, begin);
    if (input_.size() > kLongestLine)
      return detail::transport_error("an answer of mcpac is too long");
    return {};
  }

  // The row of descriptors is in the order of the answers that say so.
  [[nodiscard]] static bool brings_descriptor(const Json& message) {
    const auto result = message.find("result");
    if (result == message.end() || !result->is_object()) return false;
    const auto said = result->find("descriptor");
    return said != result->end() && said->is_boolean() && said->get<bool>();
  }

  // Lock held. What answers no call of ours is ignored: notifications, and answers nobody waits
  // for.
  void deliver(Json message) {
    if (!message.is_object()) return;
    const auto id = message.find("id");
    if (id == message.end() || !id->is_number_integer() || message.contains("method")) return;
    const auto found = pending_.find(id->get<::std::int64_t>());
    if (found == pending_.end()) return;
    if (found->second->may_bring && brings_descriptor(message) && !descriptors_.empty()) {
      found->second->descriptor = descriptors_.front();
      descriptors_.erase(descriptors_.begin());
    }
    found->second->answer = ::std::move(message);
    found->second->done = true;
    pending_.erase(found);
  }

  // Lock held.
  void fail_all(const Error& error) {
    if (!failure_) failure_ = error;
    for (auto& [id, pending] : pending_) {
      pending->error = error;
      pending->done = true;
    }
    pending_.clear();
    changed_.notify_all();
  }

  const int fd_;
  ::std::mutex write_mutex_;  // taken before mutex_
  ::std::mutex mutex_;
  ::std::condition_variable changed_;
  bool reading_ = false;
  ::std::int64_t next_id_ = 1;
  ::std::map<::std::int64_t, ::std::shared_ptr<Pending>> pending_;
  ::std::optional<Error> failure_;
  ::std::string input_;  // belongs to the thread that set reading_
  // recvmsg is admitted for programs that declare mcpac.network, and used once they use it.
  ::std::atomic<bool> takes_descriptors_ = false;
  ::std::atomic<bool> all_take_descriptors_ = false;
  ::std::vector<int> descriptors_;  // as input_, and with the lock where answers are delivered
};

namespace detail {

// The descriptor that the environment names; the sandbox has no environment and uses 3.
[[nodiscard]] inline ::std::optional<int> named_descriptor() {
  const char* text = ::std::getenv("MCPAC_FD");
  if (text == nullptr) return {};
  char* end = nullptr;
  const long value = ::std::strtol(text, &end, 10);
  const bool valid = end != text && *end == '\0' && value >= 0 && value < 1'000'000;
  if (!valid) throw TransportError(transport_error("MCPAC_FD is not the number of a descriptor"));
  return static_cast<int>(value);
}

// Made at its first use and never destroyed: static objects of the program may still call.
[[nodiscard]] inline Session& process_session() {
  static Session* const session = new Session(named_descriptor().value_or(3));
  return *session;
}

// What a capability holds. Nothing means the process's session, so that a capability is a constant.
[[nodiscard]] inline Session& session_of(Session* session) {
  return session != nullptr ? *session : process_session();
}

// The result of an answer, or its error thrown as the class of its kind.
[[nodiscard]] inline Json result_of(Pending& pending, ::std::string_view permission) {
  if (pending.error) {
    throw TransportError(lost_call(pending.error->message(), permission, true));
  }
  Json answer = ::std::move(pending.answer);
  if (const auto error = answer.find("error"); error != answer.end()) {
    error_of(*error, permission).rethrow();
  }
  const auto found = answer.find("result");
  if (found == answer.end() || !found->is_object()) {
    throw TransportError(
        lost_call("the answer holds neither a result nor an error", permission, true));
  }
  Json result = ::std::move(*found);
  const auto failed = result.find("isError");
  if (failed != result.end() && failed->is_boolean() && failed->get<bool>()) {
    auto content = contents_of(result);
    ::std::string text = view_of(content, structured_of(result));
    if (text.empty()) text = "the tool failed without a message";
    throw ToolError({.kind = ErrorKind::tool,
                     .permission = ::std::string(permission),
                     .message = ::std::move(text),
                     .data = ::std::move(result),
                     .content = ::std::move(content)});
  }
  return result;
}

}  // namespace detail
}  // namespace mcpac
