#include "templates/support_peer.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>

using mcpac::Json;

Json HostEnd::read() {
  for (;;) {
    const auto end = input_.find('\n');
    if (end != std::string::npos) {
      Json message = Json::parse(input_.substr(0, end));
      input_.erase(0, end + 1);
      return message;
    }
    char buffer[65536];
    const ssize_t n = ::read(fd_, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return {};
    input_.append(buffer, static_cast<std::size_t>(n));
  }
}

void HostEnd::write(const Json& message) {
  write_raw(message.dump() + "\n");
}

void HostEnd::write_raw(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void HostEnd::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

void HostEnd::answer(const Json& request, const std::string& text) {
  const Json block = {{"type", "text"}, {"text", text}};
  write({{"jsonrpc", "2.0"},
         {"id", request.at("id")},
         {"result",
          {{"content", Json::array({block})}, {"structuredContent", {{"content", text}}}}}});
}

void HostEnd::refuse(const Json& request, int code, const std::string& message, Json data) {
  write({{"jsonrpc", "2.0"},
         {"id", request.at("id")},
         {"error", {{"code", code}, {"message", message}, {"data", std::move(data)}}}});
}

Peer::Peer(std::function<void(HostEnd&)> script) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw std::runtime_error("no socket pair");
  }
  fd_ = ends[0];
  session_ = std::make_unique<mcpac::Session>(fd_);
  thread_ = std::thread([script = std::move(script), fd = ends[1]] {
    HostEnd end(fd);
    script(end);
  });
}

void Peer::finish() {
  if (thread_.joinable()) thread_.join();
}

Peer::~Peer() {
  ::shutdown(fd_, SHUT_RDWR);
  finish();
  ::close(fd_);
}
