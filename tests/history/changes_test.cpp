#include <doctest/doctest.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/xattr.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <limits>
#include <thread>
#include <vector>

#include "history/changes/changes_watch.h"
#include "history/changes/changeset.h"
#include "history/changes/read_upper.h"
#include "history/support_changes.h"
#include "project/support_nobody.h"

using namespace mcpac;
using namespace mcpac::history;
using namespace mcpac::history::testing;
using project::testing::AsNobody;

TEST_SUITE("execute/changes") {
  TEST_CASE("files and folders that a program adds, modifies and deletes are read and applied") {
    Run run;
    put(run.folder / "kept.txt", "kept");
    put(run.folder / "changed.txt", "before");
    put(run.folder / "old/a.txt", "a");
    put(run.folder / "old/b.txt", "b");
    auto open = run.begin();
    put(run.upper() / "changed.txt", "after");
    put(run.upper() / "new/deep/file.txt", "new");
    run.white_out("old");
    const Changeset changes = run.keep(open);
    CHECK(described(changes) ==
          "modified changed.txt\nfolder-added new\nfolder-added new/deep\n"
          "added new/deep/file.txt\ndeleted old/a.txt\ndeleted old/b.txt\nfolder-deleted old\n");
    // Nothing has happened yet.
    CHECK(get(run.folder / "changed.txt") == "before");
    CHECK(fs::exists(run.folder / "old/a.txt"));
    const auto found = history::find_changeset(run.kept, run.id.substr(0, 20));
    REQUIRE(found.has_value());
    CHECK(to_json(*found) == to_json(changes));
    const auto applied = history::apply(*found, {}, anywhere);
    REQUIRE(applied.has_value());
    CHECK_FALSE(applied->error.has_value());
    CHECK(applied->done.size() == 7);
    CHECK(get(run.folder / "changed.txt") == "after");
    CHECK(get(run.folder / "new/deep/file.txt") == "new");
    CHECK(get(run.folder / "kept.txt") == "kept");
    CHECK_FALSE(fs::exists(run.folder / "old"));
  }

  TEST_CASE("a folder that was replaced shows what went with it") {
    Run run;
    put(run.folder / "data/a.txt", "a");
    put(run.folder / "data/b.txt", "b");
    auto open = run.begin();
    put(run.upper() / "data/a.txt", "other");
    REQUIRE(::setxattr((run.upper() / "data").c_str(), "user.overlay.opaque", "y", 1, 0) == 0);
    const Changeset changes = run.keep(open);
    CHECK(described(changes) == "modified data/a.txt\ndeleted data/b.txt\n");
    CHECK(apply_error(changes) == "applied");
    CHECK(get(run.folder / "data/a.txt") == "other");
    CHECK_FALSE(fs::exists(run.folder / "data/b.txt"));
  }

  TEST_CASE("a folder takes the place of a file, and a file that of a folder") {
    Run run;
    put(run.folder / "file", "old");
    put(run.folder / "folder/inner.txt", "old");
    auto open = run.begin();
    put(run.upper() / "file/inner.txt", "new");
    put(run.upper() / "folder", "new");
    const Changeset changes = run.keep(open);
    CHECK(described(changes) ==
          "deleted file\nfolder-added file\nadded file/inner.txt\n"
          "deleted folder/inner.txt\nfolder-deleted folder\nadded folder\n");
    CHECK(apply_error(changes) == "applied");
    CHECK(get(run.folder / "file/inner.txt") == "new");
    CHECK(get(run.folder / "folder") == "new");
  }

  TEST_CASE("folders deeper than anybody has files open are removed all the same") {
    Run run;
    {
      auto open = run.begin();
      UniqueFd at(::open(run.upper().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      constexpr int kDepth = 2'000;
      for (int i = 0; i < kDepth; ++i) {
        REQUIRE(::mkdirat(at.get(), "d", 0700) == 0);
        at = UniqueFd(::openat(at.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        REQUIRE(at);
      }
    }
    CHECK_FALSE(fs::exists(run.kept / run.id));
  }

  TEST_CASE("too many files are told from too many bytes") {
    Run run;
    auto open = run.begin();
    put(run.upper() / "large", std::string(10'000, 'a'));
    CHECK(history::hold_more_than({run.upper()}, 100));
    CHECK_FALSE(history::hold_too_many_files({run.upper()}));
    for (std::size_t i = 0; i < history::kMostChanges; ++i) {
      const auto file = run.upper() / std::to_string(i);
      REQUIRE(::mknod(file.c_str(), S_IFREG | 0600, 0) == 0);
    }
    CHECK(history::hold_too_many_files({run.upper()}));
    CHECK(history::hold_more_than({run.upper()}, 1U << 30U));
  }

  TEST_CASE("a hole counts as its size") {
    Run run;
    auto open = run.begin();
    put(run.upper() / "hole", "");
    constexpr std::uint64_t kSize = std::uint64_t{1} << 30U;
    fs::resize_file(run.upper() / "hole", kSize);
    CHECK(history::bytes_in(run.upper()) >= kSize);
  }

  TEST_CASE("what is endless is more than any limit, the highest too") {
    const Run run;
    constexpr auto kHighest = std::numeric_limits<std::uint64_t>::max();
    put(run.folder / "a.txt", "text");
    CHECK_FALSE(history::hold_more_than({run.folder}, kHighest));
    CHECK(history::hold_more_than({run.folder, run.folder}, 7));
    fs::path deep = run.folder;
    for (int i = 0; i < 300; ++i) deep /= "d";
    fs::create_directories(deep);
    CHECK(history::hold_more_than({run.folder}, kHighest));
  }

  TEST_CASE("what is closed to the one who looks is endless, not empty") {
    const Run run;
    put(run.folder / "open.txt", "text");
    put(run.folder / "closed/file", "text");
    for (const fs::path& path : {run.home.path(), run.folder, run.folder / "closed"})
      AsNobody::give(path);
    const AsNobody nobody;
    constexpr auto kHighest = std::numeric_limits<std::uint64_t>::max();
    CHECK_FALSE(history::hold_more_than({run.folder}, kHighest));
    REQUIRE(::chmod((run.folder / "closed").c_str(), 0300) == 0);
    CHECK(history::hold_more_than({run.folder}, kHighest));
    REQUIRE(::chmod((run.folder / "closed").c_str(), 0700) == 0);
    REQUIRE(::chmod(run.folder.c_str(), 0300) == 0);
    CHECK(history::hold_more_than({run.folder}, kHighest));
    REQUIRE(::chmod(run.folder.c_str(), 0700) == 0);
  }

  TEST_CASE("what is never there when it is looked at is found all the same") {
    const Run run;
    for (int i = 0; i < 5'000; ++i) put(run.folder / ("empty" + std::to_string(i)), "");
    put(run.folder / "large0", "");
    const UniqueFd large(::open((run.folder / "large0").c_str(), O_WRONLY | O_CLOEXEC));
    std::atomic<bool> found = false;
    const std::jthread mover([&](const std::stop_token& stop) {
      for (int i = 0; !stop.stop_requested(); ++i)
        fs::rename(run.folder / ("large" + std::to_string(i)),
                   run.folder / ("large" + std::to_string(i + 1)));
    });
    const ChangesWatch watch({run.folder}, std::uint64_t{1} << 20U, [&] { found = true; });
    const std::string text(std::size_t{4} << 20U, 'x');
    REQUIRE(::write(large.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    for (int i = 0; i < 1'000 && !found; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK(found);
  }

  // Files that are written beside their place and renamed, by many threads without a pause: hardly
  // a look at them is clear, and they hold next to nothing.
  TEST_CASE("files that come and go are no reason to end a run, however many do so at once") {
    const Run run;
    for (int i = 0; i < 2'000; ++i) put(run.folder / ("file" + std::to_string(i)), "text");
    std::atomic<bool> over = false;
    const auto save = [&](const std::stop_token& stop, int thread) {
      const fs::path kept = run.folder / ("kept" + std::to_string(thread));
      for (int i = 0; !stop.stop_requested(); ++i) {
        const fs::path beside = kept.native() + "." + std::to_string(i) + ".tmp";
        std::ofstream(beside) << "text";
        fs::rename(beside, kept);
      }
    };
    std::vector<std::jthread> savers;
    for (int i = 0; i < 8; ++i)
      savers.emplace_back([&, i](const std::stop_token& stop) { save(stop, i); });
    {
      const ChangesWatch watch({run.folder}, std::uint64_t{1} << 30U, [&] { over = true; });
      std::this_thread::sleep_for(std::chrono::seconds(3));
    }
    CHECK_FALSE(over);
  }

  TEST_CASE("a deep tree takes no more descriptors than a flat one") {
    Run run;
    constexpr int kDepth = 200;
    fs::path deep;
    for (int i = 0; i < kDepth; ++i) deep /= "d";
    put(run.folder / "gone" / deep / "old.txt", "old");
    put(run.folder / deep / "changed.txt", "before");
    auto open = run.begin();
    put(run.upper() / deep / "changed.txt", "after");
    put(run.upper() / "new" / deep / "file.txt", "new");
    run.white_out("gone");
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    const UniqueFd lowest(::dup(0));
    rlimit few = before;
    few.rlim_cur = static_cast<rlim_t>(lowest.get()) + 60;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
    const auto bytes = history::bytes_in(run.upper());
    auto kept = open.keep(kClock);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK(bytes < (1U << 30U));
    REQUIRE(kept.has_value());
    REQUIRE(kept->has_value());
    const std::string all = described(**kept);
    CHECK(has(all, "modified " + (deep / "changed.txt").string() + "\n"));
    CHECK(has(all, "added " + ("new" / deep / "file.txt").string() + "\n"));
    CHECK(has(all, "deleted " + ("gone" / deep / "old.txt").string() + "\n"));
    CHECK(has(all, "folder-deleted gone\n"));
    CHECK_FALSE(has(all, "refused"));
    CHECK((*kept)->count() == 3U + kDepth + 1U + kDepth + 1U);
    CHECK(apply_error(**kept) == "applied");
    CHECK_FALSE(fs::exists(run.folder / "gone"));
  }

  TEST_CASE("a disk is not filled by files that have no name any more") {
    if (::geteuid() != 0) {
      MESSAGE("skipped: mounts need root");
      return;
    }
    const Run run;
    if (::mount("none", run.folder.c_str(), "tmpfs", 0, "size=16m") != 0) {
      MESSAGE("skipped: nothing can be mounted here");
      return;
    }
    std::atomic<bool> over = false;
    {
      const ChangesWatch watch({run.folder}, std::uint64_t{1} << 20U, [&] { over = true; });
      const UniqueFd file(
          ::open((run.folder / "gone").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
      REQUIRE(::unlink((run.folder / "gone").c_str()) == 0);
      const auto fill = [&](std::size_t mebibytes) {
        const std::string block(mebibytes << 20U, 'x');
        REQUIRE(::write(file.get(), block.data(), block.size()) ==
                static_cast<ssize_t>(block.size()));
        std::this_thread::sleep_for(std::chrono::milliseconds(400));
      };
      fill(4);
      CHECK_FALSE(over);
      fill(10);
    }
    CHECK(over);
    CHECK(::umount2(run.folder.c_str(), MNT_DETACH) == 0);
  }

  TEST_CASE("a changeset is found by its name, and no other record is read") {
    Run run;
    auto open = run.begin();
    put(run.upper() / "a.txt", "a");
    const Changeset changes = run.keep(open);
    Run other;
    other.kept = run.kept;
    auto begun = other.begin();
    put(other.upper() / "b.txt", "b");
    const Changeset others = other.keep(begun);
    const UniqueFd watch(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    REQUIRE(::inotify_add_watch(watch.get(), (others.folder / "record.json").c_str(), IN_OPEN) >=
            0);
    const auto found = history::find_changeset(run.kept, run.id);
    REQUIRE(found.has_value());
    CHECK(found->count() == 1);
    std::array<char, 4096> events{};
    CHECK(::read(watch.get(), events.data(), events.size()) < 0);
    CHECK(errno == EAGAIN);
    CHECK(history::find_changeset(run.kept, "").error().id == ErrorId::kChangesUnknown);
  }

  TEST_CASE("a file that was opened for writing and left as it was is no change") {
    Run run;
    put(run.folder / "same.txt", "same");
    auto open = run.begin();
    put(run.upper() / "same.txt", "same");
    const auto changes = open.keep(kClock);
    REQUIRE(changes.has_value());
    CHECK_FALSE(changes->has_value());
  }

  TEST_CASE("nothing is kept of a run without changes, and of one that ends without keep") {
    Run run;
    { const auto open = run.begin(); }
    CHECK_FALSE(fs::exists(run.kept / run.id));
    CHECK(history::list_changesets(run.kept).value().empty());
  }

  TEST_CASE("what a killed run left is swept, and what a living run has is not") {
    Run run;
    const auto open = run.begin();
    put(run.upper() / "new.txt", "new");
    const fs::path killed = run.kept / new_uuid_v7(kClock);
    fs::create_directories(killed / "0/work/work");
    fs::permissions(killed / "0/work/work", fs::perms::none);
    CHECK(history::list_changesets(run.kept).value().empty());
    CHECK_FALSE(fs::exists(killed));
    CHECK(fs::exists(run.upper() / "new.txt"));
  }

  TEST_CASE("a single file has no overlay, and the run is refused") {
    Run run;
    put(run.folder / "a.txt", "a");
    run.mounts = {{.host = run.folder / "a.txt",
                   .inside = run.folder / "a.txt",
                   .access = sandbox::Mount::Access::kReadWrite}};
    const auto made = OpenChangeset::create(run.kept, run.id, "agent.cpp", run.mounts, kClock);
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error().id == ErrorId::kFilesRefused);
    CHECK_FALSE(fs::exists(run.kept / run.id));
  }
}
