// The promise to the gate: what was acknowledged is there after `kill -9`, and a full disk is an
// error that leaves whole lines. Both need a process of their own. And after a power cut the log
// accuses nobody.
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>

#include "audit/accept.h"
#include "audit/run_index.h"
#include "audit/support_audit.h"
#include "audit/verify.h"

namespace mcpac::audit {
namespace {

// A disk that keeps what was synced, and nothing else: what a power cut leaves at the worst.
class Disk {
 public:
  using Image = std::map<std::string, std::string>;  // name of a file → what it holds

  explicit Disk(std::filesystem::path folder) : folder_(std::move(folder)) {
    const std::scoped_lock lock(mutex_of_all());
    mounted() = this;
  }
  ~Disk() {
    const std::scoped_lock lock(mutex_of_all());
    mounted() = nullptr;
  }
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  // Called in the place of fsync() and fdatasync().
  static int sync(int fd, long number) {
    const std::scoped_lock lock(mutex_of_all());
    if (mounted() != nullptr && !mounted()->keep(fd)) {
      errno = EIO;
      return -1;
    }
    return static_cast<int>(::syscall(number, fd));
  }
  // After each sync, in their order.
  [[nodiscard]] std::vector<Image> images() const {
    const std::scoped_lock lock(mutex_of_all());
    return images_;
  }
  void refuse(std::string name) {
    const std::scoped_lock lock(mutex_of_all());
    refused_ = std::move(name);
  }

 private:
  static Disk*& mounted() {
    static Disk* disk = nullptr;
    return disk;
  }
  static std::mutex& mutex_of_all() {
    static std::mutex mutex;
    return mutex;
  }
  bool keep(int fd) {
    std::error_code error;
    const auto path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), error);
    if (path.parent_path() != folder_) return true;
    if (path.filename() == refused_) return false;
    auto text = read_file(path);
    if (!text) return true;
    Image image = images_.empty() ? Image() : images_.back();
    image[path.filename().string()] = std::move(*text);
    images_.push_back(std::move(image));
    return true;
  }

  const std::filesystem::path folder_;
  std::vector<Image> images_;
  std::string refused_;
};

// In a process of its own, as limits on a process are.
int exit_code_in_child(int (*act)(const std::filesystem::path&),
                       const std::filesystem::path& folder) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(act(folder));
  int status = 0;
  const bool has_ended = child > 0 && ::waitpid(child, &status, 0) == child;
  return has_ended && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace
}  // namespace mcpac::audit

// They stand before the C library's.
extern "C" int fsync(int fd) {
  return mcpac::audit::Disk::sync(fd, SYS_fsync);
}
extern "C" int fdatasync(int fd) {
  return mcpac::audit::Disk::sync(fd, SYS_fdatasync);
}

namespace mcpac::audit {
namespace {

constexpr std::size_t kIdBytes = 36;

// Appends without end and writes each acknowledged id to the pipe. Never returns.
[[noreturn]] void write_until_killed(const std::filesystem::path& folder, int pipe_fd) {
  auto log = RunLog::create(folder, "run-1", kClock, {.records = 50});
  if (!log) ::_exit(1);
  for (;;) {
    const auto id = (*log)->append("CapabilityCheck", {{"target", std::string(200, 'x')}});
    if (!id || ::write(pipe_fd, id->data(), id->size()) != ssize_t{kIdBytes}) ::_exit(2);
  }
}

// What a full disk does to a log, told as an exit code: the parent's doctest state is not ours.
// RLIMIT_FSIZE stands for the disk: the kernel then writes a part, as on a real full disk.
int fill_the_disk(const std::filesystem::path& folder) {
  ::signal(SIGXFSZ, SIG_IGN);
  auto log = RunLog::create(folder, "run-1", kClock);
  if (!log) return 10;
  const auto append = [&] { return (*log)->append("CapabilityCheck", std::string(100, 'x')); };
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0) return 11;
  const rlim_t whole = limit.rlim_cur;
  limit.rlim_cur = 4096;
  if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 12;
  std::size_t recorded = 0;
  while (append()) {
    if (++recorded > 100) return 13;
  }
  const auto refused = append();
  if (refused || refused.error().id != ErrorId::kAuditUnwritable) return 14;
  const auto during = read_events(folder, {});
  if (!during || during->size() != recorded) return 15;
  limit.rlim_cur = whole;
  if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 16;
  if (!append()) return 17;
  const auto after = read_events(folder, {});
  return after && after->size() == recorded + 1 ? 0 : 18;
}

// A run whose first record finds no room, while its line in the index did.
int begin_on_a_full_disk(const std::filesystem::path& folder) {
  ::signal(SIGXFSZ, SIG_IGN);
  auto log = RunLog::create(folder, "run-1", kClock);
  if (!log) return 10;
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0) return 11;
  const rlim_t whole = limit.rlim_cur;
  limit.rlim_cur = 4096;
  if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 12;
  const Json rules = {{"rules", std::string(8192, 'x')}};
  if ((*log)->append("RunStarted", rules)) return 13;
  limit.rlim_cur = whole;
  if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 14;
  // The index has promised the first one.
  if ((*log)->append("RunStarted", {{"rules", ""}})) return 15;
  std::ignore = (*log)->close();
  return 0;
}

// Runs a writer, kills it when `acknowledged` bytes of ids have come, and returns all that came.
std::string ids_until_killed(const std::filesystem::path& folder, std::size_t acknowledged) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::close(ends[0]);
    write_until_killed(folder, ends[1]);
  }
  ::close(ends[1]);
  UniqueFd reader(ends[0]);
  std::string ids;
  std::array<char, kIdBytes * 64> buffer{};
  bool killed = false;
  for (;;) {
    const ssize_t n = ::read(reader.get(), buffer.data(), buffer.size());
    REQUIRE(n >= 0);
    if (n == 0) break;
    ids.append(buffer.data(), static_cast<std::size_t>(n));
    if (!killed && ids.size() >= acknowledged) {
      ::kill(child, SIGKILL);
      killed = true;
    }
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  REQUIRE(ids.size() % kIdBytes == 0);
  return ids;
}

TEST_SUITE("audit/durability") {
  TEST_CASE("every event that was acknowledged survives kill -9, at forty moments") {
    for (std::size_t round = 0; round < 40; ++round) {
      const auto folder = temporary_folder();
      const auto ids = ids_until_killed(folder.path(), (1 + round * round) * kIdBytes);
      const auto events = read_events(folder.path(), {});
      REQUIRE(events);
      std::set<std::string> found;
      for (const auto& event : *events) found.insert(event.event_id);
      for (std::size_t i = 0; i < ids.size(); i += kIdBytes)
        REQUIRE(found.contains(ids.substr(i, kIdBytes)));
      // And it is told from tampering: the run is unfinished, never proven and never accused.
      const auto keys = read_public_keys(folder.public_key());
      REQUIRE(keys);
      const auto verified = verify(folder.path(), *keys, std::nullopt);
      REQUIRE(verified);
      REQUIRE(verified->runs.size() == 1);
      CHECK(verified->runs[0].standing == Standing::kUnfinished);
      CHECK(verified->runs[0].records >= ids.size() / kIdBytes);
    }
  }

  TEST_CASE("a killed run with half a line at its end is unfinished, and says so") {
    const auto folder = temporary_folder();
    ids_until_killed(folder.path(), 20 * kIdBytes);
    const auto path = folder.path() / "run-1.jsonl";
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 10);
    const auto keys = read_public_keys(folder.public_key());
    REQUIRE(keys);
    const auto verified = verify(folder.path(), *keys, std::nullopt);
    REQUIRE(verified);
    CHECK(verified->runs.at(0).standing == Standing::kUnfinished);
    CHECK(verified->runs.at(0).torn_bytes > 0);
    CHECK(verified->standing() == Standing::kUnfinished);
  }

  TEST_CASE(
      "on a full disk an event is refused, no half line stays, and room makes it work again") {
    const auto folder = temporary_folder();
    CHECK(exit_code_in_child(fill_the_disk, folder.path()) == 0);
  }

  TEST_CASE(
      "a run that begins on a full disk is unfinished, can be accepted, and is no tampering") {
    const auto folder = temporary_folder();
    REQUIRE(exit_code_in_child(begin_on_a_full_disk, folder.path()) == 0);
    const auto keys = read_public_keys(folder.public_key());
    REQUIRE(keys);
    const auto verified = verify(folder.path(), *keys, std::nullopt);
    REQUIRE(verified);
    REQUIRE(verified->runs.size() == 1);
    CHECK(verified->runs[0].standing == Standing::kUnfinished);
    CHECK(verified->runs[0].records == 0);
    REQUIRE(accept(folder.path(), "run-1", kClock));
    const auto accepted = verify(folder.path(), *keys, std::nullopt);
    REQUIRE(accepted);
    CHECK(accepted->standing() == Standing::kAccepted);
    // What is put there afterwards is not what was accepted.
    std::filesystem::remove(folder.path() / "run-1.jsonl");
    CHECK(verify(folder.path(), *keys, std::nullopt)->standing() == Standing::kTampered);
  }

  TEST_CASE("a run whose line in the index finds no room either was none") {
    const auto folder = temporary_folder();
    // No index can be written where a folder lies.
    REQUIRE(std::filesystem::create_directory(folder.path() / kIndexFile));
    {
      auto log = new_log(folder.path(), "run-1");
      CHECK_FALSE(log->append("RunStarted", Json::object()));
    }
    CHECK_FALSE(std::filesystem::exists(folder.path() / "run-1.jsonl"));
  }

  TEST_CASE("whenever the power goes, the log that is left accuses nobody") {
    const auto folder = temporary_folder();
    std::vector<Disk::Image> images;
    {
      const Disk disk(folder.path());
      for (const std::string run : {"run-1", "run-2", "run-3"}) {
        auto log = RunLog::create(folder.path(), run, kClock, {.records = 2});
        REQUIRE(log);
        for (int i = 0; i < 9; ++i) REQUIRE((*log)->append("RunStarted", {{"n", i}}));
        // One of them goes without its end.
        if (run != "run-2") REQUIRE((*log)->close());
      }
      images = disk.images();
    }
    REQUIRE(images.size() >= 3);
    const auto keys = read_public_keys(folder.public_key());
    REQUIRE(keys);
    for (const auto& image : images) {
      const auto left = temporary_folder();
      for (const auto& [name, text] : image)
        std::ofstream(left.path() / name, std::ios::binary) << text;
      const auto verified = verify(left.path(), *keys, std::nullopt);
      REQUIRE(verified);
      CHECK(verified->index.problems.empty());
      for (const auto& run : verified->runs) {
        // A file that was never synced is there all the same: its name was.
        if (!image.contains(run.run_id + ".jsonl")) continue;
        CAPTURE(run.run_id);
        CHECK(run.standing != Standing::kTampered);
        CHECK(run.problems.empty());
      }
    }
  }

  TEST_CASE("the index is on the disk while the run still goes on, and no call waits for it") {
    const auto folder = temporary_folder();
    const Disk disk(folder.path());
    auto log = new_log(folder.path(), "run-1");
    REQUIRE(log->append("RunStarted", Json::object()));
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (disk.images().empty() && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const auto images = disk.images();
    REQUIRE(images.size() == 1);
    CHECK(images[0].at(kIndexFile).find("run-1") != std::string::npos);
  }

  TEST_CASE("where the index cannot be synced a run's file is not, and its end says so") {
    const auto folder = temporary_folder();
    Disk disk(folder.path());
    disk.refuse(kIndexFile);
    auto log = RunLog::create(folder.path(), "run-1", kClock, {.records = 2});
    REQUIRE(log);
    for (int i = 0; i < 9; ++i) REQUIRE((*log)->append("RunStarted", {{"n", i}}));
    const auto closed = (*log)->close();
    REQUIRE_FALSE(closed);
    CHECK(closed.error().id == ErrorId::kAuditUnwritable);
    CHECK(disk.images().empty());
  }
}

}  // namespace
}  // namespace mcpac::audit
