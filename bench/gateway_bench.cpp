// SPDX-License-Identifier: Apache-2.0

// What the HTTP door costs: bench_gateway [seconds per row, default 1]
//
// Method. The upstream is in this process and answers at once, so that what is measured is ours:
// HTTP, JSON, session, lock, schema, policy, audit, answer. Policy, lock and a real RunLog as in
// bench_gate; clients are of revision 2026-07-28, each with one connection that is kept and one
// call in work. They are one forked process that writes the same bytes again and reads whole
// answers. Five rounds a row; median, least and most of the rounds' calls a second, and of their
// p50 and p99. CPU is the door's process alone. Idle clients: connections of clients that
// initialized, with a session each and nothing in work; memory is the door's resident set.
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/in_process.h"
#include "core/file.h"
#include "gateway/http/door.h"

namespace {

using namespace mcpac;
using namespace mcpac::bench;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int kRounds = 5;
constexpr std::string_view kToken = "a token";

codegen::Lock lock_with(const Permission& tool, const Json& schema) {
  codegen::Lock lock;
  lock.servers.emplace_back();
  lock.servers.back().name = tool.server();
  OrderedJson definition;
  definition["name"] = tool.tool();
  definition["inputSchema"] = OrderedJson(schema);
  codegen::LockedTool locked;
  locked.name = tool.tool();
  locked.definition = std::move(definition);
  lock.servers.back().tools.push_back(std::move(locked));
  return lock;
}

// The door, one client's run behind it, and the loop.
class Host {
 public:
  explicit Host(std::size_t result_bytes)
      : upstream_(loop_, result_bytes),
        folder_(need(TemporaryFolder::create("/tmp", "bench_gateway"))) {
    const Permission tool = measured_tool();
    schemas_[tool] = measured_schema();
    gate::ToolTable table;
    table[tool] = {need(JsonSchema::compile(schemas_[tool])), std::string(64, 'd')};
    auto authority = measured_authority(schemas_, clock_);
    gateway::ClientGrant::Parts parts;
    parts.name = "a client";
    parts.tools = std::make_shared<const gate::ToolTable>(std::move(table));
    parts.catalog = gateway::Catalog::make(lock_with(tool, schemas_[tool]), authority,
                                           gateway::NameForm::kDotted);
    parts.log = need(gateway::ClientRecord::create(
        {.folder = folder_.path() / "audit", .clock = &clock_, .client = "a client"}));
    parts.upstream = &upstream_;
    gate::Declared declared{.permissions = parts.catalog->permissions(), .texts = {}};
    gate::GateSetup setup{.tools = parts.tools.get(),
                          .authority = std::move(authority),
                          .declared = std::move(declared),
                          .upstream = &upstream_,
                          .audit = parts.log.get(),
                          .clock = &clock_};
    run_ = std::make_shared<gateway::ClientGrant>(std::move(parts), std::move(setup));
    gateway::http::HttpLimits limits;
    limits.max_connections = 4096;
    limits.max_sessions = 4096;
    door_ = need(gateway::http::HttpDoor::open(
        loop_.get_executor(),
        {.admit = [this](std::string token)
             -> boost::asio::awaitable<gateway::http::HttpDoorSetup::Admission> {
           if (token != kToken)
             co_return std::unexpected(gateway::http::Refusal(401, "nobody has this token"));
           gateway::http::AdmittedClient guest{"a client", run_};
           co_return guest;
         },
         .limits = limits}));
  }
  ~Host() {
    run_->end("bench-ended");
    door_->close();
    loop_.restart();
    loop_.poll();
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  [[nodiscard]] std::uint16_t port() const { return door_->port(); }
  // Until the child has ended.
  rusage serve(pid_t child) {
    for (;;) {
      loop_.run_for(std::chrono::milliseconds(20));
      int status = 0;
      rusage usage{};
      if (::wait4(child, &status, WNOHANG, &usage) != child) continue;
      if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) die("the clients failed");
      return usage;
    }
  }

 private:
  boost::asio::io_context loop_;
  SystemClock clock_;
  policy::ToolSchemas schemas_;
  InProcessUpstream upstream_;
  TemporaryFolder folder_;
  std::shared_ptr<gateway::ClientGrant> run_;
  std::shared_ptr<gateway::http::HttpDoor> door_;
};

std::string post_of(std::uint16_t port, std::string_view headers, std::string_view body) {
  return fmt::format(
      "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n"
      "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
      "{}Content-Length: {}\r\n\r\n{}",
      port, kToken, headers, body.size(), body);
}

std::string call_of(std::uint16_t port) {
  constexpr std::string_view kHeaders =
      "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
      "Mcp-Name: fs.read_text_file\r\n";
  constexpr std::string_view kCall =
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fs.read_text_file",)"
      R"("arguments":{"path":"/srv/data/reports/2026/summary.txt","head":20},"_meta":{)"
      R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
      R"("io.modelcontextprotocol/clientInfo":{"name":"a client","version":"1"},)"
      R"("io.modelcontextprotocol/clientCapabilities":{}}}})";
  return post_of(port, kHeaders, kCall);
}

std::string initialize_of(std::uint16_t port) {
  constexpr std::string_view kInitialize =
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
      R"("capabilities":{},"clientInfo":{"name":"a client","version":"1"}}})";
  return post_of(port, "", kInitialize);
}

// One connection of the clients' process; any failure ends that.
class Connection {
 public:
  explicit Connection(std::uint16_t port)
      : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), buffer_(std::size_t{1} << 18U) {
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_port = htons(port);
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0)
      ::_exit(1);
  }
  void send(std::string_view bytes) {
    sent_at_ = Clock::now();
    while (!bytes.empty()) {
      const auto n = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) ::_exit(2);
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  // Reads what is there; true when the answer is whole.
  bool take() {
    const auto n = ::recv(fd_.get(), buffer_.data(), buffer_.size(), 0);
    if (n <= 0) ::_exit(3);
    const std::string_view got(buffer_.data(), static_cast<std::size_t>(n));
    if (left_ == 0) {
      head_ += got;
      const auto end = head_.find("\r\n\r\n");
      if (end == std::string::npos) return false;
      if (!head_.starts_with("HTTP/1.1 200")) ::_exit(4);
      const auto length = head_.find("Content-Length: ");
      if (length == std::string::npos || length > end) ::_exit(5);
      left_ = std::stoul(head_.substr(length + 16)) + end + 4 - head_.size();
      head_.clear();
      return left_ == 0;
    }
    left_ -= got.size();
    return left_ == 0;
  }
  [[nodiscard]] double waited() const { return Seconds(Clock::now() - sent_at_).count(); }
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  UniqueFd fd_;
  std::vector<char> buffer_;
  std::string head_;
  std::size_t left_ = 0;  // of the body
  Clock::time_point sent_at_;
};

struct Report {
  double wall = 0;
  std::size_t calls = 0;
  double p50 = 0;
  double p99 = 0;
};

[[noreturn]] void run_clients(std::uint16_t port, int report, std::size_t count, Seconds budget) {
  const std::string call = call_of(port);
  std::vector<Connection> clients;
  std::vector<pollfd> watched;
  for (std::size_t i = 0; i < count; ++i) {
    clients.emplace_back(port);
    watched.push_back({clients.back().fd(), POLLIN, 0});
  }
  std::vector<double> waits;
  const auto begin = Clock::now();
  for (auto& client : clients) client.send(call);
  for (std::size_t in_work = count; in_work > 0;) {
    if (::poll(watched.data(), watched.size(), 30'000) <= 0) ::_exit(6);
    for (std::size_t i = 0; i < count; ++i) {
      if (watched[i].revents == 0 || !clients[i].take()) continue;
      waits.push_back(clients[i].waited());
      if (Clock::now() - begin < budget)
        clients[i].send(call);
      else
        --in_work;
    }
  }
  Report said{.wall = Seconds(Clock::now() - begin).count(), .calls = waits.size()};
  std::ranges::sort(waits);
  said.p50 = waits[waits.size() / 2];
  said.p99 = waits[waits.size() * 99 / 100];
  if (::write(report, &said, sizeof said) != sizeof said) ::_exit(7);
  ::_exit(0);
}

struct Pipe {
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) die("no pipe");
  }
  ~Pipe() {
    for (const int end : ends) ::close(end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  std::array<int, 2> ends{};
};

void row(std::size_t clients, std::size_t bytes, Seconds budget) {
  std::vector<double> rates;
  std::vector<double> p50;
  std::vector<double> p99;
  std::vector<double> cpu;
  for (int round = 0; round < kRounds; ++round) {
    Host host(bytes);
    const Pipe report;
    const double before = cpu_seconds();
    const pid_t child = ::fork();
    if (child == 0) run_clients(host.port(), report.ends[1], clients, budget);
    host.serve(child);
    Report said;
    if (::read(report.ends[0], &said, sizeof said) != sizeof said) die("the clients said nothing");
    const auto calls = static_cast<double>(said.calls);
    rates.push_back(calls / said.wall);
    p50.push_back(said.p50 * 1e6);
    p99.push_back(said.p99 * 1e6);
    cpu.push_back((cpu_seconds() - before) / calls * 1e6);
  }
  const Spread rate = spread(rates);
  fmt::print(
      "{:5} clients {:9} bytes  {:8.0f} calls/s ({:.0f}..{:.0f})  p50 {:8.0f} us  p99 {:8.0f} us  "
      "cpu {:6.1f} us a call\n",
      clients, bytes, rate.median, rate.least, rate.most, spread(p50).median, spread(p99).median,
      spread(cpu).median);
}

double resident_mib() {
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0;
  std::size_t resident = 0;
  file >> pages >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1048576;
}

[[noreturn]] void sit_idle(std::uint16_t port, std::size_t count, int ready, int end) {
  const std::string initialize = initialize_of(port);
  std::vector<Connection> clients;
  for (std::size_t i = 0; i < count; ++i) {
    clients.emplace_back(port);
    clients.back().send(initialize);
    while (!clients.back().take()) {
    }
  }
  char token = 'r';
  if (::write(ready, &token, 1) != 1 || ::read(end, &token, 1) != 1) ::_exit(1);
  ::_exit(0);
}

void idle(std::size_t count) {
  Host host(100);
  const double before = resident_mib();
  const Pipe ready;
  const Pipe end;
  const pid_t child = ::fork();
  if (child == 0) sit_idle(host.port(), count, ready.ends[1], end.ends[0]);
  std::thread measures([&] {
    char token = 0;
    if (::read(ready.ends[0], &token, 1) != 1) die("the clients failed");
    const double with = resident_mib();
    fmt::print("{:5} idle clients: {:.1f} MiB with them, {:.1f} before, {:.1f} KiB each\n", count,
               with, before, (with - before) * 1024 / static_cast<double>(count));
    if (::write(end.ends[1], "e", 1) != 1) die("the clients failed");
  });
  host.serve(child);
  measures.join();
}

void raise_descriptors() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int main(int argc, char** argv) {
  const Seconds budget(argc > 1 ? std::atof(argv[1]) : 1.0);
  raise_descriptors();
  fmt::print("{} rounds of {} s a row: median (least..most)\n", kRounds, budget.count());
  idle(1000);
  for (const std::size_t bytes : {std::size_t{1} << 10U, std::size_t{100} << 10U}) {
    for (const std::size_t clients : {1U, 10U, 100U}) row(clients, bytes, budget);
  }
  row(1, std::size_t{10} << 20U, budget);
  row(10, std::size_t{10} << 20U, budget);
}
