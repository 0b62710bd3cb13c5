#include <doctest/doctest.h>
#include <sys/inotify.h>
#include <sys/xattr.h>

#include <array>
#include <cerrno>
#include <limits>

#include "execute/changes/changes_watch.h"
#include "execute/changes/changeset.h"
#include "execute/support_changes.h"

using namespace mcpac;
using namespace mcpac::execute::test;
using execute::Change;
using execute::Changeset;
using execute::OpenChangeset;

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
    const auto found = execute::find_changeset(run.kept, run.id.substr(0, 20));
    REQUIRE(found.has_value());
    CHECK(to_json(*found) == to_json(changes));
    const auto applied = execute::apply(*found, {}, anywhere);
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

  TEST_CASE("a hole counts as its size") {
    Run run;
    auto open = run.begin();
    put(run.upper() / "hole", "");
    constexpr std::uint64_t kSize = std::uint64_t{1} << 30U;
    fs::resize_file(run.upper() / "hole", kSize);
    CHECK(execute::bytes_in(run.upper()) >= kSize);
  }

  TEST_CASE("what is endless is more than any limit, the highest too") {
    const Run run;
    constexpr auto kHighest = std::numeric_limits<std::uint64_t>::max();
    put(run.folder / "a.txt", "text");
    CHECK_FALSE(execute::hold_more_than({run.folder}, kHighest));
    CHECK(execute::hold_more_than({run.folder, run.folder}, 7));
    fs::path deep = run.folder;
    for (int i = 0; i < 300; ++i) deep /= "d";
    fs::create_directories(deep);
    CHECK(execute::hold_more_than({run.folder}, kHighest));
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
    const auto found = execute::find_changeset(run.kept, run.id);
    REQUIRE(found.has_value());
    CHECK(found->count() == 1);
    std::array<char, 4096> events{};
    CHECK(::read(watch.get(), events.data(), events.size()) < 0);
    CHECK(errno == EAGAIN);
    CHECK(execute::find_changeset(run.kept, "").error().id == ErrorId::kChangesUnknown);
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
    CHECK(execute::list_changesets(run.kept).value().empty());
  }

  TEST_CASE("what a killed run left is swept, and what a living run has is not") {
    Run run;
    const auto open = run.begin();
    put(run.upper() / "new.txt", "new");
    const fs::path killed = run.kept / new_uuid_v7(kClock);
    fs::create_directories(killed / "0/work/work");
    fs::permissions(killed / "0/work/work", fs::perms::none);
    CHECK(execute::list_changesets(run.kept).value().empty());
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
