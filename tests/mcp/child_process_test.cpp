// What a server's process inherits of ours, and what it does not.
#include "mcp/child_process.h"

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "core/file.h"
#include "places.h"

using namespace mcpac;

namespace {

std::uint64_t mask_in(const std::string& status, const std::string& name) {
  const auto at = status.find(name);
  REQUIRE(at != std::string::npos);
  return std::stoull(status.substr(at + name.size(), 16), nullptr, 16);
}

// Processes that have the variable MCPAC_TEST_MARK with this value, but keepers; zombies have none.
int marked(const std::string& value) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto file = [&](const char* name) {
      std::ifstream in(entry.path() / name);
      return std::string(std::istreambuf_iterator<char>(in), {});
    };
    if (!file("environ").contains("MCPAC_TEST_MARK=" + value)) continue;
    if (file("comm") != "mcpac-keeper\n") ++count;
  }
  return count;
}

// Of a process whose end nobody sees.
class Endless final : public mcp::ConfinedProcess {
 public:
  explicit Endless(std::atomic<bool>& is_gone) : is_gone_(is_gone) { REQUIRE(::pipe(ends_) == 0); }
  ~Endless() override {
    is_gone_ = true;
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  [[nodiscard]] int end_descriptor() const override { return ends_[0]; }
  void kill() override {}
  [[nodiscard]] std::optional<LimitHit> limit_hit() override { return std::nullopt; }

 private:
  int ends_[2]{};
  std::atomic<bool>& is_gone_;
};

// Starts one once the loop has gone on.
class SlowConfiner final : public mcp::Confiner {
 public:
  [[nodiscard]] Result<std::unique_ptr<mcp::ConfinedProcess>> start(
      const std::string&, const mcp::SpawnOptions&, const mcp::ConfinedEnds& ends) const override {
    constexpr auto kPatience = std::chrono::seconds(20);  // against waiting for ever
    std::unique_lock lock(mutex);
    if (!went_on.wait_for(lock, kPatience, [&] { return has_gone_on; }))
      return fail(ErrorId::kServerStart, "the loop waited");
    const int fine = 0;
    std::ignore = ::send(ends.control, &fine, sizeof fine, MSG_NOSIGNAL);
    return std::make_unique<Endless>(is_gone);
  }
  [[nodiscard]] std::shared_ptr<const mcp::Confiner> at_this_moment(
      const std::string&) const override {
    asked_on = std::this_thread::get_id();
    return nullptr;
  }
  [[nodiscard]] std::shared_ptr<mcp::Refusals> look_at_refusals(const std::string&) const override {
    return nullptr;
  }
  void call_failed(const std::string&, std::string_view) const override {}

  mutable std::mutex mutex;
  mutable std::condition_variable went_on;
  bool has_gone_on = false;
  mutable std::atomic<bool> is_gone = false;
  mutable std::thread::id asked_on;
};

}  // namespace

TEST_SUITE("mcp/child_process") {
  TEST_CASE("a loop goes on while a sandbox is made, and when its server does not end") {
    const auto confiner = std::make_shared<SlowConfiner>();
    mcp::SpawnOptions options{.program = "/bin/true"};
    options.confined = mcp::ConfinedSpawn{.confiner = confiner, .server = "slow"};
    boost::asio::io_context loop;
    std::optional<Result<std::shared_ptr<mcp::ChildProcess>>> child;
    boost::asio::co_spawn(
        loop,
        [&]() -> boost::asio::awaitable<void> {
          auto made = co_await mcp::ChildProcess::spawn_aside(loop.get_executor(), options);
          child.emplace(std::move(made));
        },
        boost::asio::detached);
    boost::asio::post(loop, [&] {
      const std::scoped_lock alone(confiner->mutex);
      confiner->has_gone_on = true;
      confiner->went_on.notify_all();
    });
    loop.run();
    REQUIRE(child);
    INFO((*child ? std::string() : child->error().to_text()));
    REQUIRE(child->has_value());
    CHECK(confiner->asked_on == std::this_thread::get_id());
    CHECK_FALSE(confiner->is_gone);
    (**child)->kill_now();
    CHECK((**child)->has_exited());
    CHECK((**child)->exit_text() == "signal 9 (Killed)");
    CHECK(confiner->is_gone);
  }

  TEST_CASE("a sandbox that nobody waits for any more ends, with the loop or without it") {
    const auto confiner = std::make_shared<SlowConfiner>();
    mcp::SpawnOptions options{.program = "/bin/true"};
    options.confined = mcp::ConfinedSpawn{.confiner = confiner, .server = "slow"};
    {
      boost::asio::io_context loop;
      boost::asio::co_spawn(
          loop,
          [&]() -> boost::asio::awaitable<void> {
            std::ignore = co_await mcp::ChildProcess::spawn_aside(loop.get_executor(), options);
          },
          boost::asio::detached);
      loop.poll();
    }
    std::unique_lock lock(confiner->mutex);
    confiner->has_gone_on = true;
    confiner->went_on.notify_all();
    lock.unlock();
    for (int i = 0; i < 2'000 && !confiner->is_gone; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK(confiner->is_gone);
  }

  TEST_CASE("a child starts with no signal ignored or blocked, whatever we do with ours") {
    // As TerminalApprover ignores them, so that a question in the background does not stop us.
    const auto before_in = std::signal(SIGTTIN, SIG_IGN);
    const auto before_out = std::signal(SIGTTOU, SIG_IGN);
    sigset_t blocked;
    sigset_t before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
    boost::asio::io_context loop;
    const auto child = mcp::ChildProcess::spawn(
        loop.get_executor(),
        {.program = "/bin/cat", .arguments = {"cat", "/proc/self/status"}, .environment = {}});
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    std::signal(SIGTTIN, before_in);
    std::signal(SIGTTOU, before_out);
    REQUIRE(child);
    const std::string status =
        read_descriptor((*child)->stdout_end.get(), "status", 1U << 16U).value();
    // Two are the C library's own (its posix_spawn leaves 32 and 33 ignored).
    CHECK(mask_in(status, "SigIgn:\t") == (mask_in(status, "SigIgn:\t") & 0x180000000U));
    CHECK(mask_in(status, "SigBlk:\t") == 0);
  }

  TEST_CASE("a child that ignores everything dies with a parent that was killed") {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t parent = ::fork();
    REQUIRE(parent >= 0);
    if (parent == 0) {
      boost::asio::io_context loop;
      const auto child = mcp::ChildProcess::spawn(
          loop.get_executor(),
          {.program = "/bin/sh",
           .arguments = {"sh", "-c", "trap '' TERM HUP INT; while :; do sleep 1000; done"},
           .environment = {}});
      const pid_t pid = child ? (*child)->pid() : -1;
      [[maybe_unused]] const auto told = ::write(ends[1], &pid, sizeof pid);
      for (;;) ::pause();
    }
    ::close(ends[1]);
    pid_t child = -1;
    REQUIRE(::read(ends[0], &child, sizeof child) == sizeof child);
    ::close(ends[0]);
    REQUIRE(child > 0);
    const UniqueFd handle(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
    REQUIRE(handle);
    pollfd ended{handle.get(), POLLIN, 0};
    CHECK(::poll(&ended, 1, 0) == 0);
    ::kill(parent, SIGKILL);
    ::waitpid(parent, nullptr, 0);
    constexpr int kPatience = 60'000;  // against waiting for ever
    CHECK(::poll(&ended, 1, kPatience) == 1);
  }

  TEST_CASE("what leaves its session and its parent ends with its server, and with a killed host") {
    // Two sessions below: their processes have no parent of ours left.
    const std::string script =
        "setsid -f sh -c 'setsid -f sleep 1000; exec sleep 1000'; sleep 0.2; "
        "echo ready; exec cat";
    const auto spawn = [&](boost::asio::io_context& loop, const std::string& mark) {
      return mcp::ChildProcess::spawn(
          loop.get_executor(), {.program = "/bin/sh",
                                .arguments = {"sh", "-c", script},
                                .environment = {"PATH=/usr/bin:/bin", "MCPAC_TEST_MARK=" + mark},
                                .keeper = mcpac::testing::in_build("libexec/mcpac/mcpac-keeper")});
    };
    const auto first_line = [](int fd) {
      std::string line;
      for (char c = 0; ::read(fd, &c, 1) == 1 && c != '\n';) line += c;
      return line;
    };
    {
      const std::string mark = "ends-" + std::to_string(::getpid());
      boost::asio::io_context loop;
      auto child = spawn(loop, mark);
      REQUIRE(child);
      REQUIRE(first_line((*child)->stdout_end.get()) == "ready");
      CHECK(marked(mark) == 3);
      (*child)->kill_now();
      CHECK(marked(mark) == 0);
    }
    {
      const std::string mark = "exits-" + std::to_string(::getpid());
      boost::asio::io_context loop;
      auto child = spawn(loop, mark);
      REQUIRE(child);
      REQUIRE(first_line((*child)->stdout_end.get()) == "ready");
      (*child)->stdin_end.reset();  // a normal end
      bool has_ended = false;
      (*child)->on_exit([&] { has_ended = true; });
      while (!has_ended && loop.run_one() > 0) continue;
      CHECK((*child)->exit_text() == "exit status 0");
      CHECK(marked(mark) == 0);
    }
    const std::string mark = "killed-" + std::to_string(::getpid());
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t parent = ::fork();
    REQUIRE(parent >= 0);
    if (parent == 0) {
      boost::asio::io_context loop;
      const auto child = spawn(loop, mark);
      const bool is_ready = child && first_line((*child)->stdout_end.get()) == "ready";
      [[maybe_unused]] const auto told = ::write(ends[1], &is_ready, sizeof is_ready);
      for (;;) ::pause();
    }
    ::close(ends[1]);
    bool is_ready = false;
    CHECK(::read(ends[0], &is_ready, sizeof is_ready) == sizeof is_ready);
    ::close(ends[0]);
    CHECK(is_ready);
    CHECK(marked(mark) == 3);
    ::kill(parent, SIGKILL);
    ::waitpid(parent, nullptr, 0);
    for (int i = 0; i < 60'000 && marked(mark) > 0; ++i) ::usleep(1'000);  // against hanging
    CHECK(marked(mark) == 0);
  }

  TEST_CASE("where the kernel lists no children, the keeper ends the server all the same") {
    constexpr const char* kWithoutProc =
        "/usr/bin/unshare -rm /bin/sh -c '/bin/mount -t tmpfs none /proc && exec \"$0\" \"$@\"' ";
    if (std::system((kWithoutProc + std::string("/bin/true")).c_str()) != 0) {
      MESSAGE("skipped: an empty /proc, for no namespaces can be made here");
      return;
    }
    const auto folder = TemporaryFolder::create("/tmp", "mcpac-keeper-");
    REQUIRE(folder.has_value());
    const auto keeper = folder->path() / "keeper";
    const std::string script = std::string("#!/bin/sh\nexec ") + kWithoutProc +
                               mcpac::testing::in_build("libexec/mcpac/mcpac-keeper") + " \"$@\"\n";
    REQUIRE(write_file_atomic(keeper, script, 0700).has_value());
    const std::string mark = "unlisted-" + std::to_string(::getpid());
    boost::asio::io_context loop;
    const auto child = mcp::ChildProcess::spawn(
        loop.get_executor(),
        {.program = "/bin/sh",
         .arguments = {"sh", "-c", "trap '' TERM HUP INT; echo ready; exec sleep 1000"},
         .environment = {"PATH=/usr/bin:/bin", "MCPAC_TEST_MARK=" + mark},
         .keeper = keeper});
    REQUIRE(child);
    char line[6] = {};
    REQUIRE(::read((*child)->stdout_end.get(), line, sizeof line) == sizeof line);
    CHECK(marked(mark) == 1);
    (*child)->kill_now();
    CHECK(marked(mark) == 0);
  }

  TEST_CASE("an end by a signal, and a start that fails, are told through the keeper") {
    boost::asio::io_context loop;
    const auto spawn = [&](const std::string& program, std::vector<std::string> arguments) {
      return mcp::ChildProcess::spawn(
          loop.get_executor(), {.program = program,
                                .arguments = std::move(arguments),
                                .environment = {},
                                .keeper = mcpac::testing::in_build("libexec/mcpac/mcpac-keeper")});
    };
    auto child = spawn("/bin/sh", {"sh", "-c", "kill -SEGV $$"});
    REQUIRE(child);
    bool has_ended = false;
    (*child)->on_exit([&] { has_ended = true; });
    while (!has_ended && loop.run_one() > 0) continue;
    CHECK((*child)->exit_text().starts_with("signal 11"));
    const auto none = spawn("/nonexistent/server", {"x"});
    REQUIRE_FALSE(none);
    CHECK(none.error().what.contains("No such file"));
    CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
  }

  TEST_CASE("what cannot be started is said with its reason, and leaves no process") {
    boost::asio::io_context loop;
    for (const auto& [program, why] :
         {std::pair("/nonexistent/server", "No such file"), std::pair("/etc", "denied")}) {
      const auto child = mcp::ChildProcess::spawn(
          loop.get_executor(), {.program = program, .arguments = {"x"}, .environment = {}});
      REQUIRE_FALSE(child);
      CHECK(child.error().what.find(why) != std::string::npos);
    }
    // A script that the kernel cannot start is told what it lacks.
    const auto folder =
        TemporaryFolder::create(std::filesystem::temp_directory_path(), "mcpac-test-script");
    REQUIRE(folder.has_value());
    const auto script = folder->path() / "a script";
    std::ofstream(script) << "print(1)\n";
    const auto fix_of = [&] {
      const auto child = mcp::ChildProcess::spawn(
          loop.get_executor(), {.program = script.string(), .arguments = {"x"}, .environment = {}});
      return child ? std::string() : child.error().fix;
    };
    CHECK(fix_of().starts_with("chmod +x '" + script.string() + "'; or write its interpreter"));
    std::filesystem::permissions(script, std::filesystem::perms(0755));
    CHECK(fix_of().starts_with("begin it with the line that names its interpreter, like #!"));
    const auto nowhere =
        mcp::ChildProcess::spawn(loop.get_executor(), {.program = "/bin/true",
                                                       .arguments = {"true"},
                                                       .environment = {},
                                                       .working_directory = "/nonexistent"});
    REQUIRE_FALSE(nowhere);
    CHECK(nowhere.error().fix.find("cwd") != std::string::npos);
    CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
  }
}
