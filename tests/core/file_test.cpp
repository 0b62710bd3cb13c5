// Files: whole reads, atomic writes that leave nothing behind, folders that remove themselves.
#include "core/file.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "core/private_file.h"

namespace {

std::atomic<int> folders_synced = 0;
std::atomic<int> folder_error = 0;  // what the next ones end with

}  // namespace

// In the place of the library's, for this program: what is on the disk cannot be told without
// taking its power away.
extern "C" int fsync(int fd) {
  struct stat info {};
  const bool is_folder = ::fstat(fd, &info) == 0 && S_ISDIR(info.st_mode);
  if (is_folder && folder_error != 0) {
    errno = folder_error;
    return -1;
  }
  if (is_folder) ++folders_synced;
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace mcpac {
namespace {

namespace fs = std::filesystem;

TemporaryFolder temporary_folder() {
  auto folder = TemporaryFolder::create(fs::temp_directory_path(), "mcpac-core-");
  REQUIRE(folder);
  return std::move(*folder);
}

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) != -1;
}

TEST_SUITE("core/file") {
  TEST_CASE("what is written is what is read") {
    const auto folder = temporary_folder();
    const std::string bytes("a\0b\n\xff", 5);
    REQUIRE(write_file_atomic(folder.path() / "f", bytes));
    CHECK(read_file(folder.path() / "f") == bytes);
    REQUIRE(write_file_atomic(folder.path() / "f", ""));
    CHECK(read_file(folder.path() / "f") == std::string());
  }

  TEST_CASE("an atomic write leaves one file, with the mode asked for") {
    const auto folder = temporary_folder();
    REQUIRE(write_file_atomic(folder.path() / "f", "x", 0600));
    CHECK(entries(folder.path()) == 1);
    struct stat info {};
    REQUIRE(::stat((folder.path() / "f").c_str(), &info) == 0);
    CHECK((info.st_mode & 07777U) == 0600);
  }

  TEST_CASE("a write that fails leaves the old file and nothing else") {
    const auto folder = temporary_folder();
    fs::create_directory(folder.path() / "target");
    const auto written = write_file_atomic(folder.path() / "target", "x");
    REQUIRE_FALSE(written);
    CHECK(written.error().id == ErrorId::kFileUnwritable);
    CHECK(entries(folder.path()) == 1);
    CHECK(fs::is_directory(folder.path() / "target"));
    CHECK_FALSE(write_file_atomic(folder.path() / "absent" / "f", "x"));
  }

  TEST_CASE("many writers of one file leave one whole text") {
    const auto folder = temporary_folder();
    const fs::path target = folder.path() / "f";
    std::vector<std::jthread> writers;
    std::array<bool, 4> worked{};
    for (std::size_t w = 0; w < worked.size(); ++w) {
      writers.emplace_back([&, w] {
        worked[w] = true;
        for (int i = 0; i < 20; ++i) {
          if (!write_file_atomic(target, std::string(10'000, static_cast<char>('a' + w))))
            worked[w] = false;
        }
      });
    }
    writers.clear();
    for (const bool one : worked) CHECK(one);
    const auto text = read_file(target);
    REQUIRE(text);
    CHECK(*text == std::string(10'000, text->front()));
    CHECK(entries(folder.path()) == 1);
  }

  TEST_CASE("a file beyond the limit is an error, never a cut text") {
    const auto folder = temporary_folder();
    REQUIRE(write_file_atomic(folder.path() / "f", std::string(100, 'x')));
    CHECK(read_file(folder.path() / "f", 100));
    const auto cut = read_file(folder.path() / "f", 99);
    REQUIRE_FALSE(cut);
    CHECK(cut.error().id == ErrorId::kFileUnreadable);
    CHECK_FALSE(read_file("/dev/zero", 1000));
  }

  TEST_CASE("a file is read into as much memory as it needs, from wherever its reader stands") {
    const auto folder = temporary_folder();
    const std::string bytes(300'000, 'x');
    REQUIRE(write_file_atomic(folder.path() / "f", bytes + "end"));
    const auto text = read_file(folder.path() / "f");
    REQUIRE(text);
    CHECK(text->size() == bytes.size() + 3);
    CHECK(text->capacity() < bytes.size() + 4'096);
    const UniqueFd fd(::open((folder.path() / "f").c_str(), O_RDWR | O_CLOEXEC));
    REQUIRE(::lseek(fd.get(), 300'000, SEEK_SET) == 300'000);
    CHECK(read_descriptor(fd.get(), "f", 100) == std::string("end"));
    CHECK(read_descriptor(fd.get(), "f", 100) == std::string());
  }

  TEST_CASE("what has no size is read to its end") {
    CHECK(read_file("/proc/self/status")->find("Pid:") != std::string::npos);
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    const UniqueFd reader(ends[0]);
    REQUIRE(::write(ends[1], "text", 4) == 4);
    ::close(ends[1]);
    CHECK(read_descriptor(reader.get(), "pipe", 100) == std::string("text"));
  }

  TEST_CASE("what is absent or a folder is unreadable, and said by name") {
    const auto folder = temporary_folder();
    const auto absent = read_file(folder.path() / "absent");
    REQUIRE_FALSE(absent);
    CHECK(absent.error().id == ErrorId::kFileUnreadable);
    CHECK(absent.error().where == (folder.path() / "absent").string());
    const auto not_a_file = read_file(folder.path());
    REQUIRE_FALSE(not_a_file);
    CHECK(not_a_file.error().what.find("folder") != std::string::npos);
  }

  TEST_CASE("the folder for temporary files is an absolute one, whatever the environment says") {
    const auto made = TemporaryFolder::create(user_temporary_folder(), "mcpac-test-").value();
    const auto real = std::filesystem::canonical(made.path());
    const auto with = [](const std::string& value) {
      ::setenv("TMPDIR", value.c_str(), 1);
      return user_temporary_folder();
    };
    const char* const before = ::getenv("TMPDIR");
    const std::string kept = before == nullptr ? "" : before;
    const auto slash_tmp = std::filesystem::canonical("/tmp");
    CHECK(with("") == slash_tmp);
    CHECK(with("relative/x") == slash_tmp);
    CHECK(with(real.string() + "/../" + real.filename().string()) == real);
    std::filesystem::create_directory_symlink(real, real / "link");
    CHECK(with((real / "link").string()) == real);
    CHECK(with((real / "no/../such").string()) == real / "such");
    // What cannot be made names the variable, and where it leads now.
    std::filesystem::remove(real / "link");
    with("/proc/no/such");
    const auto failed = TemporaryFolder::create(user_temporary_folder(), "x-");
    REQUIRE_FALSE(failed);
    CHECK(failed.error().fix ==
          "point TMPDIR at a folder that you can write (TMPDIR=/proc/no/such leads there now)");
    CHECK(remedy_of(EROFS, "/proc/no/such/x").starts_with("its file system is read-only: "));
    CHECK(remedy_of(ENOSPC, "/proc/no/such/x").starts_with("free space there, or "));
    CHECK(remedy_of(EACCES, "/elsewhere") ==
          "it may not be written by you: name a folder that you can write");
    kept.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", kept.c_str(), 1);
  }

  TEST_CASE("a temporary folder is private and goes with everything in it") {
    fs::path path;
    {
      const auto folder = temporary_folder();
      path = folder.path();
      struct stat info {};
      REQUIRE(::stat(path.c_str(), &info) == 0);
      CHECK((info.st_mode & 07777U) == 0700);
      fs::create_directories(path / "a" / "b");
      std::ofstream(path / "a" / "b" / "f") << "x";
    }
    CHECK_FALSE(fs::exists(path));
  }

  TEST_CASE("a temporary folder that was moved is removed once, by its last owner") {
    auto first = temporary_folder();
    const fs::path path = first.path();
    {
      const TemporaryFolder second = std::move(first);
      CHECK(fs::exists(path));
    }
    CHECK_FALSE(fs::exists(path));
  }

  TEST_CASE("removing a temporary folder does not follow links out of it") {
    const auto outside = temporary_folder();
    std::ofstream(outside.path() / "kept") << "x";
    {
      const auto folder = temporary_folder();
      fs::create_directory_symlink(outside.path(), folder.path() / "link");
    }
    CHECK(fs::exists(outside.path() / "kept"));
  }

  TEST_CASE("a file that was written whole has its name on the disk as well") {
    const auto folder = temporary_folder();
    const int before = folders_synced;
    REQUIRE(write_file_atomic(folder.path() / "a.txt", "text", 0600));
    CHECK(folders_synced == before + 1);
  }

  TEST_CASE(
      "a folder that cannot be synced is an error, one whose file system has no such thing not") {
    const auto folder = temporary_folder();
    for (const int error : {EINVAL, EOPNOTSUPP}) {
      folder_error = error;
      CHECK(write_file_atomic(folder.path() / "a.txt", "text", 0600));
    }
    folder_error = EIO;
    const auto failed = write_file_atomic(folder.path() / "a.txt", "other", 0600);
    folder_error = 0;
    REQUIRE_FALSE(failed);
    CHECK(failed.error().id == ErrorId::kFileUnwritable);
    CHECK(entries(folder.path()) == 1);
    const int before = folders_synced;
    REQUIRE(write_file_atomic(folder.path() / "a.txt", "other", 0600));
    CHECK(folders_synced == before + 1);
  }

  TEST_CASE("the folder of private files has its name on the disk before anything is in it") {
    const auto folder = temporary_folder();
    const auto kept = folder.path() / "kept";
    folder_error = EIO;
    CHECK_FALSE(take_turn(kept, "things"));
    folder_error = 0;
    CHECK_FALSE(fs::exists(kept));  // made again, and synced, by the next one
    const int before = folders_synced;
    CHECK(take_turn(kept, "things"));
    CHECK(folders_synced == before + 1);
    CHECK(take_turn(kept, "things"));
    CHECK(folders_synced == before + 1);
  }

  TEST_CASE("a process that holds the folder of private files for ever is not waited for") {
    const auto folder = temporary_folder();
    const UniqueFd held(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    REQUIRE(::flock(held.get(), LOCK_EX) == 0);
    const auto turn = take_turn(folder.path(), "things");
    REQUIRE_FALSE(turn);
    CHECK(turn.error().id == ErrorId::kFileUnwritable);
    ::flock(held.get(), LOCK_UN);
    CHECK(take_turn(folder.path(), "things"));
  }

  TEST_CASE("a descriptor is closed by its last owner, and only once") {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    UniqueFd first(ends[0]);
    const UniqueFd writer(ends[1]);
    {
      UniqueFd second = std::move(first);
      CHECK_FALSE(first);  // NOLINT(bugprone-use-after-move): a moved-from one is empty by contract
      CHECK(is_open(ends[0]));
      UniqueFd third;
      third = std::move(second);
      CHECK(third.get() == ends[0]);
    }
    CHECK_FALSE(is_open(ends[0]));
    UniqueFd given(::dup(ends[1]));
    const int raw = given.release();
    CHECK_FALSE(given);
    CHECK(is_open(raw));
    ::close(raw);
  }
}

}  // namespace
}  // namespace mcpac
