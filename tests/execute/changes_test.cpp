#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <optional>

#include "core/clock.h"
#include "core/file.h"
#include "core/ids.h"
#include "execute/changes/apply.h"
#include "execute/changes/changeset.h"

using namespace mcpac;
using execute::Change;
using execute::Changeset;
using execute::OpenChangeset;
using Kind = Change::Kind;

namespace {

namespace fs = std::filesystem;

const SystemClock kClock;

void put(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

std::string get(const fs::path& file) {
  auto text = read_file(file);
  return text ? *text : "absent";
}

// Files older than the run that follows: the clock that stamps them has ticks.
void let_a_tick_pass() {
  const auto folder =
      TemporaryFolder::create(fs::canonical(fs::temp_directory_path()), "mcpac-test-").value();
  const auto stamp = [&] {
    put(folder.path() / "stamp", "text");
    struct stat info {};
    REQUIRE(::stat((folder.path() / "stamp").c_str(), &info) == 0);
    return execute::FileState::of(info).changed;
  };
  const auto first = stamp();
  while (stamp() == first) {
  }
}

struct Run {
  TemporaryFolder home =
      TemporaryFolder::create(fs::canonical(fs::temp_directory_path()), "mcpac-test-").value();
  fs::path folder = home.path() / "work";
  fs::path kept = home.path() / "state" / "changes";
  std::string id = new_uuid_v7(kClock);
  std::vector<sandbox::Mount> mounts;

  Run() { fs::create_directories(folder); }

  OpenChangeset begin() {
    let_a_tick_pass();
    struct stat info {};
    REQUIRE(::stat(folder.c_str(), &info) == 0);
    mounts = {{.host = folder,
               .inside = folder,
               .access = sandbox::Mount::Access::kReadWrite,
               .identity = {.device = info.st_dev, .inode = info.st_ino}}};
    auto made = OpenChangeset::create(kept, id, "agent.cpp", mounts, kClock);
    REQUIRE(made.has_value());
    return std::move(*made);
  }
  [[nodiscard]] fs::path upper() const { return mounts.front().changes / "upper"; }
  Changeset keep(OpenChangeset& open) const {
    auto changes = open.keep(kClock);
    REQUIRE(changes.has_value());
    REQUIRE(changes->has_value());
    return std::move(**changes);
  }
  // As the kernel writes them.
  void white_out(const std::string& name) const {
    REQUIRE(::mknod((upper() / name).c_str(), S_IFCHR, makedev(0, 0)) == 0);
  }
};

std::string described(const Changeset& changes) {
  std::string text;
  for (const auto& place : changes.places) {
    for (const Change& change : place.changes)
      text += std::string(to_string(change.kind)) + " " + change.path + "\n";
  }
  return text;
}

Result<void> anywhere(const fs::path&) {
  return {};
}

std::string apply_error(const Changeset& changes, const execute::MayWrite& may = anywhere) {
  const auto applied = execute::apply(changes, {}, may);
  return applied ? "applied" : to_string(applied.error().id) + " " + applied.error().what;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

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

  TEST_CASE("links, special files and names that no terminal shows are never applied") {
    Run run;
    put(run.folder / "target.txt", "target");
    auto open = run.begin();
    fs::create_symlink("/etc/passwd", run.upper() / "link");
    REQUIRE(::mkfifo((run.upper() / "pipe").c_str(), 0600) == 0);
    put(run.upper() / "up\x1b[2Jdown", "text");
    put(run.upper() / "fine.txt", "fine");
    const Changeset changes = run.keep(open);
    const auto& list = changes.places.front().changes;
    CHECK(std::ranges::count(list, Kind::kRefused, &Change::kind) == 3);
    CHECK(has(apply_error(changes), "MCPAC-E0724"));
    CHECK_FALSE(fs::exists(run.folder / "fine.txt"));
    // Chosen by itself, the rest can be had.
    const std::vector<fs::path> chosen{run.folder / "fine.txt"};
    const auto applied = execute::apply(changes, chosen, anywhere);
    REQUIRE(applied.has_value());
    CHECK(applied->done == chosen);
    CHECK(get(run.folder / "fine.txt") == "fine");
    CHECK_FALSE(fs::exists(fs::symlink_status(run.folder / "link")));
  }

  TEST_CASE("protected names are not applied, however they came into the changes") {
    Run run;
    auto open = run.begin();
    put(run.upper() / "sub/.git/hooks/post-merge", "#!/bin/sh\n");
    const Changeset changes = run.keep(open);
    CHECK(has(apply_error(changes), "MCPAC-E0724"));
    CHECK_FALSE(fs::exists(run.folder / "sub"));
  }

  TEST_CASE("what the rules of today do not admit is not applied, and nothing of the rest") {
    Run run;
    auto open = run.begin();
    put(run.upper() / "a.txt", "a");
    put(run.upper() / "b.txt", "b");
    const Changeset changes = run.keep(open);
    const auto only_a = [](const fs::path& path) -> Result<void> {
      if (path.filename() == "a.txt") return {};
      return fail(ErrorId::kFilesRefused, "not admitted");
    };
    CHECK(has(apply_error(changes, only_a), "MCPAC-E0724"));
    CHECK_FALSE(fs::exists(run.folder / "a.txt"));
  }

  TEST_CASE("a file that somebody else changed is a conflict: during the run, and after it") {
    Run run;
    put(run.folder / "a.txt", "before");
    auto open = run.begin();
    put(run.upper() / "a.txt", "by the program");
    SUBCASE("during the run") {
      let_a_tick_pass();
      put(run.folder / "a.txt", "by a person");
      CHECK(has(apply_error(run.keep(open)), "MCPAC-E0723"));
    }
    SUBCASE("after the run") {
      const Changeset changes = run.keep(open);
      let_a_tick_pass();
      put(run.folder / "a.txt", "by a person");
      CHECK(has(apply_error(changes), "MCPAC-E0723"));
    }
    CHECK(get(run.folder / "a.txt") == "by a person");
  }

  TEST_CASE("what appeared where the program adds something is a conflict") {
    Run run;
    auto open = run.begin();
    put(run.upper() / "new.txt", "by the program");
    const Changeset changes = run.keep(open);
    put(run.folder / "new.txt", "by a person");
    CHECK(has(apply_error(changes), "MCPAC-E0723"));
    CHECK(get(run.folder / "new.txt") == "by a person");
  }

  TEST_CASE("a link on the way leads nowhere") {
    Run run;
    put(run.folder / "sub/a.txt", "before");
    const fs::path outside = run.home.path() / "outside";
    put(outside / "a.txt", "outside");
    auto open = run.begin();
    put(run.upper() / "sub/a.txt", "by the program");
    const Changeset changes = run.keep(open);
    fs::rename(run.folder / "sub", run.folder / "away");
    fs::create_directory_symlink(outside, run.folder / "sub");
    CHECK(has(apply_error(changes), "MCPAC-E0723"));
    CHECK(get(outside / "a.txt") == "outside");
  }

  TEST_CASE("a folder that was exchanged for another takes no changes") {
    Run run;
    auto open = run.begin();
    put(run.upper() / "a.txt", "a");
    const Changeset changes = run.keep(open);
    fs::rename(run.folder, run.home.path() / "moved");
    fs::create_directory(run.folder);
    CHECK(has(apply_error(changes), "MCPAC-E0723"));
    CHECK(fs::is_empty(run.folder));
  }

  TEST_CASE("set-id bits are dropped, other permissions are kept") {
    Run run;
    auto open = run.begin();
    put(run.upper() / "tool", "text");
    REQUIRE(::chmod((run.upper() / "tool").c_str(), 06755) == 0);
    const Changeset changes = run.keep(open);
    CHECK(apply_error(changes) == "applied");
    struct stat info {};
    REQUIRE(::stat((run.folder / "tool").c_str(), &info) == 0);
    CHECK((info.st_mode & 07777U) == 0755U);
  }

  TEST_CASE("a record or a content that was tampered with is damaged, and can be discarded") {
    Run run;
    auto open = run.begin();
    put(run.upper() / "a.txt", "shown");
    const Changeset changes = run.keep(open);
    put(changes.upper(0) / "a.txt", "other");
    const auto applied = execute::apply(changes, {}, anywhere);
    REQUIRE(applied.has_value());
    REQUIRE(applied->error.has_value());
    CHECK(applied->error->id == ErrorId::kChangesDamaged);
    CHECK(fs::is_empty(run.folder));
    auto text = get(changes.folder / "record.json");
    text.replace(text.find("a.txt"), 5, "b.txt");
    put(changes.folder / "record.json", text);
    const auto found = execute::find_changeset(run.kept, run.id);
    REQUIRE(found.has_value());
    CHECK(execute::check_whole(*found).error().id == ErrorId::kChangesDamaged);
    CHECK(execute::discard(*found).has_value());
    CHECK_FALSE(fs::exists(changes.folder));
    CHECK(execute::find_changeset(run.kept, run.id).error().id == ErrorId::kChangesUnknown);
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
