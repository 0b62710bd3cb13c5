// SPDX-License-Identifier: Apache-2.0

// What the gate costs: bench_gate [seconds per row, default 1]
//
// Method. The upstream is in this process and answers at once, so that what is measured is ours:
// frame, JSON, lock, schema, policy, audit, answer. Policy: one narrowed grant, one deny over all
// arguments. Audit: a real RunLog in a temporary folder, two events a call. "gate alone" calls
// Gate::call from a loop; the rows below it are the same without a log and with the arguments in it
// (`audit args`), the three in turn, and "audit" is what the log adds, pair by pair. The socket
// rows put AgentDoor on one end of a socketpair; at the other a forked process writes raw frames
// and keeps N of them in flight. CPU is that of the host process alone, user and system. The pipe
// row is the floor: the same request bytes to a forked process and an answer back, through two
// pipes, one at a time, in the same run. Five rounds a row; median, least and most are printed.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "bench/in_process.h"
#include "core/file.h"
#include "core/ids.h"
#include "gate/agent_door.h"

namespace {

using namespace mcpac;
using namespace mcpac::gate;
using namespace mcpac::bench;
using Seconds = std::chrono::duration<double>;

constexpr int kRounds = 5;
constexpr std::string_view kRequest =
    R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fs.read_text_file","arguments":{"path":"/srv/data/reports/2026/summary.txt","head":20}}})";

// Records nothing.
class NoSink final : public audit::Sink {
 public:
  [[nodiscard]] Result<std::string> append(std::string_view, Json) override { return "0"; }
  [[nodiscard]] std::string keyed_digest(std::string_view) const override { return "0"; }
};

enum class Audit { kOff, kHash, kArgs };

struct Host {
  explicit Host(std::size_t result_bytes, Audit level = Audit::kHash)
      : upstream(loop, result_bytes), folder(need(TemporaryFolder::create("/tmp", "bench_gate"))) {
    const Permission tool = measured_tool();
    schemas[tool] = measured_schema();
    tools[tool] = {need(JsonSchema::compile(schemas[tool])), std::string(64, 'd')};
    log = need(audit::RunLog::create(folder.path() / "audit", new_uuid_v7(clock), clock));
    GateSetup setup{&tools,
                    measured_authority(schemas, clock, level == Audit::kArgs ? " audit args" : ""),
                    {{tool}, {"fs.read_text_file"}},
                    &upstream,
                    level == Audit::kOff ? static_cast<audit::Sink*>(&no_sink) : log.get(),
                    &clock};
    gate = std::make_unique<Gate>(std::move(setup));
  }

  boost::asio::io_context loop;
  SystemClock clock;
  policy::ToolSchemas schemas;
  ToolTable tools;
  InProcessUpstream upstream;
  TemporaryFolder folder;
  NoSink no_sink;
  std::unique_ptr<audit::RunLog> log;
  std::unique_ptr<Gate> gate;
};

struct Round {
  double calls = 0;
  double wall = 0;
  double cpu = 0;
};

Round gate_alone(Seconds budget, Audit level) {
  Host host(100, level);
  const Json arguments = {{"path", "/srv/data/reports/2026/summary.txt"}, {"head", 20}};
  Round round;
  double refused = 0;
  const auto begin = std::chrono::steady_clock::now();
  const double cpu = cpu_seconds();
  while (std::chrono::steady_clock::now() - begin < budget) {
    for (int i = 0; i < 100; ++i) {
      host.gate->call({"fs.read_text_file", arguments}, [&](const Answer& answer) {
        ++round.calls;
        if (!answer) ++refused;
      });
    }
    host.loop.restart();
    host.loop.poll();
  }
  round.wall = Seconds(std::chrono::steady_clock::now() - begin).count();
  round.cpu = cpu_seconds() - cpu;
  if (refused > 0 || round.calls == 0) die("calls were refused");
  return round;
}

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n <= 0) ::_exit(1);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

// The program at the other end: keeps `in_flight` requests on their way until the budget is used
// up, waits for the last answers and reports how many there were.
[[noreturn]] void run_client(int fd, int report, std::size_t in_flight, Seconds budget) {
  std::size_t next_id = 0;
  std::string batch;
  const auto add_request = [&] {
    batch += fmt::format(R"({{"jsonrpc":"2.0","id":{})", ++next_id);
    batch += kRequest.substr(kRequest.find(",\"method\""));
    batch += '\n';
  };
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < in_flight; ++i) add_request();
  std::vector<char> buffer(std::size_t{1} << 20U);
  std::size_t answers = 0;
  while (answers < next_id) {
    write_all(fd, std::exchange(batch, {}));
    const ssize_t n = ::read(fd, buffer.data(), buffer.size());
    if (n <= 0) ::_exit(1);
    const auto lines = std::count(buffer.begin(), buffer.begin() + n, '\n');
    answers += static_cast<std::size_t>(lines);
    if (std::chrono::steady_clock::now() - begin >= budget) continue;
    for (auto i = lines; i > 0; --i) add_request();
  }
  if (::write(report, &answers, sizeof answers) != sizeof answers) ::_exit(1);
  ::_exit(0);
}

Round over_socket(std::size_t in_flight, std::size_t result_bytes, Seconds budget) {
  std::array<int, 2> ends{};
  std::array<int, 2> report{};
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0 || ::pipe(report.data()) != 0) {
    die("no socket pair");
  }
  const pid_t child = ::fork();
  if (child < 0) die("no process");
  if (child == 0) {
    ::close(ends[0]);
    run_client(ends[1], report[1], in_flight, budget);
  }
  ::close(ends[1]);
  ::close(report[1]);
  Host host(result_bytes);
  DoorCallbacks callbacks;
  callbacks.on_closed = [&](DoorCallbacks::End, std::string_view) { host.loop.stop(); };
  const auto begin = std::chrono::steady_clock::now();
  const double cpu = cpu_seconds();
  const auto door = AgentDoor::open(host.loop.get_executor(), UniqueFd(ends[0]), *host.gate,
                                    *host.log, std::move(callbacks));
  host.loop.run();
  Round round;
  round.wall = Seconds(std::chrono::steady_clock::now() - begin).count();
  round.cpu = cpu_seconds() - cpu;
  std::size_t answers = 0;
  if (::read(report[0], &answers, sizeof answers) != sizeof answers || answers == 0)
    die("the client failed");
  round.calls = static_cast<double>(answers);
  ::close(report[0]);
  ::waitpid(child, nullptr, 0);
  return round;
}

// The same bytes, through two pipes, to a process that answers a line with a line.
Round pipe_round_trip(Seconds budget) {
  std::array<int, 2> down{};
  std::array<int, 2> up{};
  if (::pipe(down.data()) != 0 || ::pipe(up.data()) != 0) die("no pipe");
  const std::string line = std::string(kRequest) + "\n";
  std::vector<char> buffer(65536);
  const pid_t child = ::fork();
  if (child < 0) die("no process");
  if (child == 0) {
    ::close(down[1]);
    ::close(up[0]);
    while (::read(down[0], buffer.data(), buffer.size()) > 0) write_all(up[1], line);
    ::_exit(0);
  }
  ::close(down[0]);
  ::close(up[1]);
  Round round;
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < budget) {
    for (int i = 0; i < 100; ++i) {
      write_all(down[1], line);
      if (::read(up[0], buffer.data(), buffer.size()) <= 0)
        die("the other end of the pipe is gone");
      ++round.calls;
    }
  }
  round.wall = Seconds(std::chrono::steady_clock::now() - begin).count();
  ::close(down[1]);
  ::close(up[0]);
  ::waitpid(child, nullptr, 0);
  return round;
}

std::string text(const Spread& s, int digits) {
  return fmt::format("{:.{}f} ({:.{}f} to {:.{}f})", s.median, digits, s.least, digits, s.most,
                     digits);
}

std::vector<Round> repeat(const std::function<Round()>& row) {
  std::vector<Round> rounds;
  for (int i = 0; i < kRounds; ++i) rounds.push_back(row());
  return rounds;
}

Spread of(const std::vector<Round>& rounds, double (*value)(const Round&)) {
  std::vector<double> values;
  for (const Round& round : rounds) values.push_back(value(round));
  return spread(std::move(values));
}

// What a call costs with the log less what it costs without it, each pair measured in turn.
Spread added(const std::vector<Round>& with, const std::vector<Round>& without) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < with.size(); ++i)
    differences.push_back((with[i].cpu / with[i].calls - without[i].cpu / without[i].calls) * 1e6);
  return spread(std::move(differences));
}

void print_row(std::string_view name, const std::vector<Round>& rounds) {
  fmt::print("{:<28} {:>28} {:>28} {:>34}\n", name,
             text(of(rounds, [](const Round& r) { return r.cpu / r.calls * 1e6; }), 2),
             text(of(rounds, [](const Round& r) { return r.wall / r.calls * 1e6; }), 2),
             text(of(rounds, [](const Round& r) { return r.calls / r.wall; }), 0));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const Seconds budget(argc > 1 ? std::strtod(argv[1], nullptr) : 1.0);
  if (!(budget.count() > 0)) die("usage: bench_gate [seconds per row]");
  fmt::print("{:<28} {:>28} {:>28} {:>34}\n", "", "host CPU us a call", "us a call", "calls/s");
  const Seconds part = budget / kRounds;
  print_row("pipe round trip", repeat([&] { return pipe_round_trip(part); }));
  std::array<std::vector<Round>, 3> levels;
  for (int i = 0; i < kRounds; ++i) {
    for (const Audit level : {Audit::kOff, Audit::kHash, Audit::kArgs})
      levels[static_cast<std::size_t>(level)].push_back(gate_alone(part, level));
  }
  print_row("gate alone", levels[1]);
  print_row("gate alone, audit args", levels[2]);
  print_row("gate alone, no audit", levels[0]);
  fmt::print("{:<28} {:>28}\n", "audit", text(added(levels[1], levels[0]), 2));
  fmt::print("{:<28} {:>28}\n", "audit args", text(added(levels[2], levels[0]), 2));
  for (const std::size_t in_flight : {1U, 10U, 100U}) {
    print_row(fmt::format("socket, {} in flight", in_flight),
              repeat([&] { return over_socket(in_flight, 100, part); }));
  }
  constexpr std::size_t kLarge = std::size_t{10} << 20U;
  const auto large = repeat([&] { return over_socket(1, kLarge, part); });
  fmt::print("{:<28} {} MiB/s\n", "10 MiB results, one by one",
             text(of(large, [](const Round& r) { return r.calls * 10 / r.wall; }), 0));
}
