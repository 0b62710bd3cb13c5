// Peer: the other end of a session, as a thread with a script; and capabilities on that session.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include <mcpac.hpp>

// The host's end of a socket pair. Reads and writes whole lines.
class HostEnd {
 public:
  explicit HostEnd(int descriptor) : fd_(descriptor) {}
  HostEnd(const HostEnd&) = delete;
  HostEnd& operator=(const HostEnd&) = delete;
  ~HostEnd() { close(); }
  // Null at the end of the stream.
  mcpac::Json read();
  void write(const mcpac::Json& message);
  void write_raw(std::string_view bytes);
  void close();
  // An answer to `request` with one text block, and the same text as filesystem's structured
  // content.
  void answer(const mcpac::Json& request, const std::string& text);
  void refuse(const mcpac::Json& request, int code, const std::string& message, mcpac::Json data);

 private:
  int fd_;
  std::string input_;
};

// Runs `script` against a session until both are done.
class Peer {
 public:
  explicit Peer(std::function<void(HostEnd&)> script);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  template <class R>
  [[nodiscard]] R capability() {
    return mcpac::detail::Mint::make<R>(session_.get());
  }
  mcpac::Session& session() { return *session_; }
  // Waits for the script; call before looking at what it wrote down.
  void finish();

 private:
  int fd_ = -1;
  std::unique_ptr<mcpac::Session> session_;
  std::thread thread_;
};
