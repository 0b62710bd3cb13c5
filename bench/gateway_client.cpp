// SPDX-License-Identifier: Apache-2.0

// The client of bench/gateway.py: how long calls of one tool take over a way to a server.
//
// Method: it opens its connections (or starts the program), initializes, makes `warm` calls, then
// `calls` of them with as many in flight as there are clients: one on each connection over HTTP,
// all on one pipe over standard input. A call's time is from before its bytes are sent to when its
// answer is whole. One thread, poll(2), no parsing but of where an answer ends, and what comes is
// looked at where it was received: what a client costs is in every row, so it is to be little.
// Prints the times in microseconds as a JSON array; or what went wrong, and fails.
//
//   gateway_client http PORT PATH HEADERS TOOL BYTES CLIENTS WARM CALLS
//   gateway_client stdio COMMAND...      with TOOL BYTES CLIENTS WARM CALLS in the variable CALLS
#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Work {
  std::string tool;
  std::size_t bytes = 0;
  std::size_t clients = 0;
  std::size_t warm = 0;
  std::size_t calls = 0;
};

[[noreturn]] void give_up(const std::string& why) {
  throw std::runtime_error(why);
}

std::string call_text(const Work& work, std::size_t id) {
  return fmt::format(
      R"({{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{{"name":"{}","arguments":{{"bytes":{}}}}}}})",
      id, work.tool, work.bytes);
}

constexpr std::string_view kInitialize =
    R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},)"
    R"("clientInfo":{"name":"bench","version":"1"}}})";
constexpr std::string_view kInitialized =
    R"({"jsonrpc":"2.0","method":"notifications/initialized","params":{}})";

void send_all(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) give_up("nothing can be sent");
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

// What was received and not yet taken. Its memory stays, and nothing is written over before it is
// received: room for the largest answers costs a small one nothing.
class Inbox {
 public:
  // Appends what is there, waiting for some of it.
  void receive(int from) {
    if (begin_ == end_) begin_ = end_ = 0;
    if (size_ - end_ < kLeast) make_room();
    const ssize_t n = ::recv(from, bytes_.get() + end_, size_ - end_, 0);
    if (n <= 0) give_up("it hung up");
    end_ += static_cast<std::size_t>(n);
  }
  [[nodiscard]] std::string_view text() const { return {bytes_.get() + begin_, end_ - begin_}; }
  void take(std::size_t bytes) { begin_ += bytes; }
  void clear() { begin_ = end_ = 0; }

 private:
  // A byte is moved about once: what waits takes no more than a half of the room afterwards.
  void make_room() {
    const std::size_t waits = end_ - begin_;
    if (2 * waits + kLeast > size_) {
      size_ = 2 * waits + kFirst;
      auto larger = std::make_unique_for_overwrite<char[]>(size_);
      std::copy_n(bytes_.get() + begin_, waits, larger.get());
      bytes_ = std::move(larger);
    } else {
      std::memmove(bytes_.get(), bytes_.get() + begin_, waits);
    }
    begin_ = 0;
    end_ = waits;
  }

  static constexpr std::size_t kLeast = std::size_t{64} << 10U;
  static constexpr std::size_t kFirst = std::size_t{1} << 20U;
  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

void check_answer(std::string_view answer) {
  const auto start = answer.substr(0, 4096);
  const auto end = answer.substr(answer.size() > 400 ? answer.size() - 400 : 0);
  const bool failed = start.find(R"("error":)") != std::string_view::npos ||
                      end.find(R"("isError":true)") != std::string_view::npos;
  if (failed) give_up(fmt::format("a call failed: {}", end));
}

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

class HttpConnection {
 public:
  HttpConnection(std::uint16_t port, const std::string& path, const std::string& headers) {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      give_up("nobody listens");
    const int yes = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    head_ = fmt::format(
        "POST {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\n"
        "Accept: application/json, text/event-stream\r\n{}",
        path, port, headers);
    constexpr std::string_view kSession = "mcp-session-id:";
    std::istringstream lines{std::string(ask(kInitialize))};
    for (std::string line; std::getline(lines, line) && line != "\r";) {
      std::string lower = line;
      for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      if (lower.starts_with(kSession))
        head_ += "Mcp-Session-Id:" + line.substr(kSession.size()) + "\n";
    }
    head_ += "MCP-Protocol-Version: 2025-11-25\r\n";
    ask(kInitialized);
  }

  void send(std::string_view body) {
    const std::string request =
        fmt::format("{}Content-Length: {}\r\n\r\n{}", head_, body.size(), body);
    inbox_.clear();
    sent_ = Clock::now();
    send_all(socket_, request);
  }

  // Takes what is there; true when the answer is whole.
  bool take() {
    inbox_.receive(socket_);
    const auto end = answer().find("\r\n\r\n");
    if (end == std::string::npos) return false;
    const std::string_view head = answer().substr(0, end);
    if (!head.starts_with("HTTP/1.1 20")) give_up(fmt::format("refused: {}", head));
    if (const auto length = length_in(head)) return answer().size() >= end + 4 + *length;
    return !is_chunked(head) || answer().ends_with("0\r\n\r\n");
  }

  [[nodiscard]] int descriptor() const { return socket_; }
  [[nodiscard]] double waited() const { return microseconds_since(sent_); }
  [[nodiscard]] std::string_view answer() const { return inbox_.text(); }

 private:
  static std::optional<std::size_t> length_in(std::string_view head) {
    for (const std::string_view name : {"\nContent-Length: ", "\ncontent-length: "}) {
      const auto at = head.find(name);
      if (at == std::string_view::npos) continue;
      std::size_t length = 0;
      const char* const begin = head.data() + at + name.size();
      std::from_chars(begin, head.data() + head.size(), length);
      return length;
    }
    return std::nullopt;
  }
  static bool is_chunked(std::string_view head) {
    return head.find("ransfer-") != std::string_view::npos &&
           head.find("chunked") != std::string_view::npos;
  }
  std::string_view ask(std::string_view body) {
    send(body);
    while (!take()) {
    }
    return answer();
  }

  int socket_ = -1;
  std::string head_;
  Inbox inbox_;
  Clock::time_point sent_;
};

std::vector<double> over_http(std::vector<HttpConnection>& connections, const Work& work,
                              std::size_t calls) {
  const std::string text = call_text(work, 1);
  std::vector<pollfd> wanted;
  for (HttpConnection& connection : connections) {
    connection.send(text);
    wanted.push_back({connection.descriptor(), POLLIN, 0});
  }
  std::vector<double> waits;
  std::size_t sent = connections.size();
  while (waits.size() < calls) {
    if (::poll(wanted.data(), wanted.size(), 60'000) <= 0) give_up("no answer in a minute");
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i].revents == 0 || !connections[i].take()) continue;
      waits.push_back(connections[i].waited());
      check_answer(connections[i].answer());
      if (sent < calls) {
        ++sent;
        connections[i].send(text);
      } else {
        wanted[i].fd = -1;
      }
    }
  }
  return waits;
}

class Program {
 public:
  explicit Program(char** words) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) give_up("no socket");
    pipe_ = ends[0];
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    if (::posix_spawnp(&process_, words[0], &actions, nullptr, words, environ) != 0)
      give_up("the program does not start");
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    send_line(kInitialize);
    take_line();
    send_line(kInitialized);
  }
  ~Program() {
    ::close(pipe_);
    ::waitpid(process_, nullptr, 0);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void send_line(std::string_view line) { send_all(pipe_, std::string(line) + "\n"); }
  // Until the next one is taken.
  std::string_view take_line() {
    std::size_t searched = 0;
    while (true) {
      const std::string_view text = inbox_.text();
      const auto end = text.find('\n', searched);
      if (end != std::string_view::npos) {
        inbox_.take(end + 1);
        return text.substr(0, end);
      }
      searched = text.size();
      inbox_.receive(pipe_);
    }
  }

 private:
  int pipe_ = -1;
  pid_t process_ = -1;
  Inbox inbox_;
};

// The id stands first or last in an answer; texts between have none of these bytes.
std::size_t id_in(std::string_view line) {
  constexpr std::string_view kName = R"("id":)";
  auto at = line.substr(0, 200).find(kName);
  if (at == std::string_view::npos) at = line.rfind(kName);
  if (at == std::string_view::npos) give_up("an answer without an id");
  std::size_t id = 0;
  std::from_chars(line.data() + at + kName.size(), line.data() + line.size(), id);
  return id;
}

std::vector<double> over_pipe(Program& program, const Work& work, std::size_t calls) {
  std::vector<Clock::time_point> begun(calls + 1);
  std::size_t sent = 0;
  const auto send = [&] {
    if (sent == calls) return;
    ++sent;
    const std::string text = call_text(work, sent);
    begun[sent] = Clock::now();
    program.send_line(text);
  };
  for (std::size_t i = 0; i < work.clients; ++i) send();
  std::vector<double> waits;
  while (waits.size() < calls) {
    const std::string_view line = program.take_line();
    const std::size_t id = id_in(line);
    if (id == 0 || id > calls) continue;
    waits.push_back(microseconds_since(begun[id]));
    check_answer(line);
    send();
  }
  return waits;
}

Work read_work(std::istringstream words) {
  Work work;
  if (!(words >> work.tool >> work.bytes >> work.clients >> work.warm >> work.calls))
    give_up("TOOL BYTES CLIENTS WARM CALLS");
  return work;
}

std::vector<double> measure(int argc, char** argv) {
  const std::string_view how = argc > 1 ? argv[1] : "";
  if (how == "stdio" && argc > 2) {
    const Work work = read_work(std::istringstream(std::getenv("CALLS")));
    Program program(argv + 2);
    over_pipe(program, work, work.warm);
    return over_pipe(program, work, work.calls);
  }
  if (how != "http" || argc != 10) give_up("see the first lines of gateway_client.cpp");
  const Work work = read_work(std::istringstream(
      fmt::format("{}", fmt::join(std::vector<std::string>(argv + 5, argv + 10), " "))));
  std::vector<HttpConnection> connections;
  for (std::size_t i = 0; i < work.clients; ++i)
    connections.emplace_back(static_cast<std::uint16_t>(std::atoi(argv[2])), argv[3], argv[4]);
  over_http(connections, work, work.warm);
  return over_http(connections, work, work.calls);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    fmt::print("[{:.1f}]\n", fmt::join(measure(argc, argv), ","));
  } catch (const std::exception& error) {
    fmt::print("{}\n", error.what());
    return 1;
  }
}
