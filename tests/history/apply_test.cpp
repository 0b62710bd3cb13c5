#include "history/changes/apply.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>

#include "core/repository.h"
#include "history/changes/changes_store.h"
#include "history/support_changes.h"

using namespace mcpac;
using namespace mcpac::history;
using namespace mcpac::history::testing;

TEST_SUITE("execute/apply") {
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
    const auto applied = history::apply(changes, chosen, anywhere);
    REQUIRE(applied.has_value());
    CHECK(applied->done == chosen);
    CHECK(get(run.folder / "fine.txt") == "fine");
    CHECK_FALSE(fs::exists(fs::symlink_status(run.folder / "link")));
  }

  TEST_CASE("two who apply the same changes do not do so at once") {
    Run run;
    auto open = run.begin();
    put(run.upper() / "a.txt", "a");
    const Changeset changes = run.keep(open);
    const auto record = changes.folder / history::kRecord;
    const UniqueFd other(::open(record.c_str(), O_RDONLY | O_CLOEXEC));
    REQUIRE(::flock(other.get(), LOCK_EX | LOCK_NB) == 0);
    CHECK(has(apply_error(changes), "MCPAC-E0723 somebody else is applying"));
    REQUIRE(::flock(other.get(), LOCK_UN) == 0);
    CHECK(apply_error(changes) == "applied");
  }

  TEST_CASE("changes are not discarded while they are applied") {
    Run run;
    auto open = run.begin();
    put(run.upper() / "a.txt", "a");
    put(run.upper() / "b.txt", "b");
    const Changeset changes = run.keep(open);
    const auto discard_meanwhile = [&](const fs::path&) -> Result<void> {
      const auto discarded = history::discard(changes);
      REQUIRE_FALSE(discarded.has_value());
      CHECK(discarded.error().id == ErrorId::kChangesConflict);
      return {};
    };
    CHECK(apply_error(changes, discard_meanwhile) == "applied");
    CHECK(get(run.folder / "b.txt") == "b");
    CHECK(history::discard(changes).has_value());
    CHECK_FALSE(fs::exists(changes.folder));
    CHECK(has(apply_error(changes), "not there any more"));
  }

  TEST_CASE("who waited for changes that were discarded meanwhile does not get them") {
    Run run;
    auto open = run.begin();
    put(run.upper() / "a.txt", "a");
    const Changeset changes = run.keep(open);
    // Opened before, and looked at only afterwards: the name is gone, and the lock is free.
    const auto record = changes.folder / history::kRecord;
    fs::create_hard_link(record, run.home.path() / "kept");
    CHECK(history::discard(changes).has_value());
    fs::create_directories(changes.folder);
    fs::create_symlink(run.home.path() / "kept", record);
    CHECK(has(apply_error(changes), "not there any more"));
    CHECK(history::discard(changes).has_value());
    CHECK_FALSE(fs::exists(changes.folder));
  }

  TEST_CASE("what was applied in part can be applied whole afterwards") {
    Run run;
    put(run.folder / "a.txt", "before");
    put(run.folder / "old.txt", "old");
    auto open = run.begin();
    put(run.upper() / "a.txt", "after");
    put(run.upper() / "new/b.txt", "new");
    run.white_out("old.txt");
    const Changeset changes = run.keep(open);
    const std::vector<fs::path> chosen{run.folder / "a.txt", run.folder / "old.txt"};
    REQUIRE(history::apply(changes, chosen, anywhere).has_value());
    CHECK(get(run.folder / "a.txt") == "after");
    CHECK_FALSE(fs::exists(run.folder / "new"));
    for (const Change& change : changes.places.front().changes) {
      CAPTURE(change.path);
      CHECK(history::is_applied(changes, 0, change) == !change.path.starts_with("new"));
    }
    CHECK(apply_error(changes) == "applied");
    CHECK(get(run.folder / "new/b.txt") == "new");
    CHECK(apply_error(changes) == "applied");
  }

  TEST_CASE("an apply that stopped after a file and a folder had swapped places goes on") {
    Run run;
    put(run.folder / "file", "was a file");
    put(run.folder / "folder/inner.txt", "was a folder");
    auto open = run.begin();
    put(run.upper() / "file/new.txt", "in a folder now");
    put(run.upper() / "folder", "a file now");
    const Changeset changes = run.keep(open);
    SUBCASE("with the folder made and nothing in it") {
      fs::remove(run.folder / "file");
      fs::create_directory(run.folder / "file");
    }
    SUBCASE("with the file in the place of the folder") {
      fs::remove_all(run.folder / "folder");
      fs::copy_file(changes.upper(0) / "folder", run.folder / "folder");
    }
    SUBCASE("with all of it done") {
      CHECK(apply_error(changes) == "applied");
    }
    CHECK(apply_error(changes) == "applied");
    CHECK(get(run.folder / "file/new.txt") == "in a folder now");
    CHECK(get(run.folder / "folder") == "a file now");
  }

  TEST_CASE("what somebody else put in the place of what was swapped is a conflict") {
    Run run;
    put(run.folder / "folder/inner.txt", "was a folder");
    auto open = run.begin();
    put(run.upper() / "folder", "a file now");
    const Changeset changes = run.keep(open);
    fs::remove_all(run.folder / "folder");
    put(run.folder / "folder", "by a person");
    CHECK(has(apply_error(changes), "MCPAC-E0723"));
    CHECK(get(run.folder / "folder") == "by a person");
  }

  TEST_CASE("protected names are not applied, however they came into the changes") {
    Run run;
    auto open = run.begin();
    put(run.upper() / "sub/.git/hooks/post-merge", "#!/bin/sh\n");
    const Changeset changes = run.keep(open);
    CHECK(has(apply_error(changes), "MCPAC-E0724"));
    CHECK_FALSE(fs::exists(run.folder / "sub"));
  }

  TEST_CASE(
      "what is never applied is told change by change, and the rest named in the fewest words") {
    Run run;
    put(run.folder / "old/kept.txt", "kept");
    auto open = run.begin();
    put(run.upper() / ".envrc", "run me");
    put(run.upper() / "a b.txt", "a");
    put(run.upper() / "old/new.txt", "n");
    put(run.upper() / "sub/.vscode/tasks.json", "{}");
    put(run.upper() / "sub/deep/one.txt", "1");
    put(run.upper() / "sub/deep/two.txt", "2");
    const Changeset changes = run.keep(open);
    std::vector<std::string> never;
    const auto whys = history::never_applied(changes, 0);
    REQUIRE(whys.size() == changes.places[0].changes.size());
    for (std::size_t i = 0; i < whys.size(); ++i)
      if (!whys[i].empty()) never.push_back(changes.places[0].changes[i].path);
    std::ranges::sort(never);
    CHECK(never == std::vector<std::string>{".envrc", "sub/.vscode", "sub/.vscode/tasks.json"});
    const auto refused = history::apply(changes, {}, anywhere);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().id == ErrorId::kChangesRefused);
    const std::string at = run.folder.string();
    CHECK(refused.error().fix == "the rest: mcpac changes apply " + changes.run.substr(0, 13) +
                                     " '" + at + "/a b.txt' " + at + "/old " + at + "/sub/deep");
    const std::vector<fs::path> rest = {run.folder / "a b.txt", run.folder / "old",
                                        run.folder / "sub/deep"};
    const auto applied = history::apply(changes, rest, anywhere);
    REQUIRE(applied.has_value());
    CHECK_FALSE(applied->error.has_value());
    CHECK(get(run.folder / "sub/deep/two.txt") == "2");
    CHECK(get(run.folder / "old/new.txt") == "n");
    CHECK_FALSE(fs::exists(run.folder / ".envrc"));
    CHECK_FALSE(fs::exists(run.folder / "sub/.vscode"));
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
    CHECK(history::apply(changes, {}, only_a).error().fix == "the rest: mcpac changes apply " +
                                                                 changes.run.substr(0, 13) + " " +
                                                                 (run.folder / "a.txt").string());
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

  TEST_CASE("others never write what was applied, unless they could before") {
    Run run;
    put(run.folder / "shared.txt", "before");
    put(run.folder / "own.txt", "before");
    REQUIRE(::chmod((run.folder / "shared.txt").c_str(), 0666) == 0);
    REQUIRE(::chmod((run.folder / "own.txt").c_str(), 0644) == 0);
    auto open = run.begin();
    for (const char* name : {"shared.txt", "own.txt", "new.sh", "new/inner.txt"}) {
      put(run.upper() / name, "after");
      REQUIRE(::chmod((run.upper() / name).c_str(), 0777) == 0);
    }
    REQUIRE(::chmod((run.upper() / "new").c_str(), 0777) == 0);
    const Changeset changes = run.keep(open);
    CHECK(apply_error(changes) == "applied");
    const auto mode_of = [&](const char* name) {
      struct stat info {};
      REQUIRE(::stat((run.folder / name).c_str(), &info) == 0);
      return info.st_mode & 07777U;
    };
    CHECK(mode_of("shared.txt") == 0777U);
    CHECK((mode_of("own.txt") & 022U) == 0);
    CHECK((mode_of("new.sh") & 0722U) == 0700U);
    CHECK((mode_of("new") & 0722U) == 0700U);
    // What was applied is what the record says, so it can be applied again.
    CHECK(apply_error(changes) == "applied");
  }

  TEST_CASE("an odd name is refused and leaves the rest whole") {
    Run run;
    auto open = run.begin();
    for (const char* name : {" ", "sub/ ", "sub/.\x1b[m.", "\x1b[m", "end ", "\n"})
      put(run.upper() / name, "text");
    put(run.upper() / "fine.txt", "fine");
    const Changeset changes = run.keep(open);
    const auto found = history::find_changeset(run.kept, run.id);
    REQUIRE(found.has_value());
    CHECK(history::check_whole(*found).has_value());
    CHECK(to_json(*found) == to_json(changes));
    const auto& list = found->places.front().changes;
    CHECK(std::ranges::count(list, Kind::kRefused, &Change::kind) == 6);
    const std::vector<fs::path> chosen{run.folder / "fine.txt"};
    REQUIRE(history::apply(*found, chosen, anywhere).has_value());
    CHECK(get(run.folder / "fine.txt") == "fine");
  }

  TEST_CASE("a path that is too long to be opened is refused before anything is applied") {
    Run run;
    auto open = run.begin();
    put(run.upper() / "a.txt", "a");
    put(run.upper() / "z.txt", "z");
    UniqueFd at(::open(run.upper().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const std::string name(250, 'd');
    for (int i = 0; i < 20; ++i) {
      REQUIRE(::mkdirat(at.get(), name.c_str(), 0700) == 0);
      at = UniqueFd(::openat(at.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      REQUIRE(static_cast<bool>(at));
    }
    const Changeset changes = run.keep(open);
    CHECK(has(apply_error(changes), "MCPAC-E0724"));
    CHECK_FALSE(fs::exists(run.folder / "a.txt"));
    CHECK_FALSE(fs::exists(run.folder / name));
    const std::vector<fs::path> chosen{run.folder / "a.txt", run.folder / "z.txt"};
    const auto applied = history::apply(changes, chosen, anywhere);
    REQUIRE(applied.has_value());
    CHECK_FALSE(applied->error.has_value());
    CHECK(applied->done.size() == 2);
  }

  TEST_CASE("no folder becomes a git repository, neither at once nor in parts") {
    Run run;
    put(run.folder / "half/HEAD", "ref: refs/heads/main");
    auto open = run.begin();
    put(run.upper() / "docs/HEAD", "ref: refs/heads/main");
    put(run.upper() / "docs/config", "[core]\n\tfsmonitor = ./evil\n");
    fs::create_directories(run.upper() / "docs/objects");
    fs::create_directories(run.upper() / "docs/refs");
    put(run.upper() / "half/objects/x", "x");
    put(run.upper() / "half/refs/x", "x");
    put(run.upper() / "plain.txt", "plain");
    const Changeset changes = run.keep(open);
    CHECK(has(apply_error(changes), "MCPAC-E0724"));
    const auto error_of = [&](const char* name) {
      const std::vector<fs::path> chosen{run.folder / name};
      const auto applied = history::apply(changes, chosen, anywhere);
      return applied ? "applied" : applied.error().why;
    };
    CHECK(has(error_of("half"), "would be a git repository"));
    CHECK(has(error_of("docs"), "would be a git repository"));
    CHECK(error_of("plain.txt") == "applied");
    CHECK(error_of("docs/HEAD") == "applied");
    CHECK(error_of("docs/objects") == "applied");
    CHECK(has(error_of("docs/refs"), "would be a git repository"));
  }

  TEST_CASE("a half that somebody adds while changes are applied makes no repository with them") {
    Run run;
    fs::create_directories(run.folder / "half");
    auto open = run.begin();
    put(run.upper() / "half/HEAD", "ref: refs/heads/main");
    const Changeset changes = run.keep(open);
    // All is checked before the first is made; what a run writes meanwhile is seen then.
    const MayWrite meanwhile = [&](const fs::path&) -> Result<void> {
      fs::create_directories(run.folder / "half/objects");
      fs::create_directories(run.folder / "half/refs");
      return {};
    };
    const auto applied = history::apply(changes, {}, meanwhile);
    REQUIRE(applied.has_value());
    REQUIRE(applied->error.has_value());
    CHECK(applied->error->id == ErrorId::kChangesRefused);
    CHECK_FALSE(fs::exists(run.folder / "half/HEAD"));
  }

  TEST_CASE("parts of a repository are added in turns with others that add some") {
    Run run;
    fs::create_directories(run.folder / "half");
    auto open = run.begin();
    put(run.upper() / "half/HEAD", "ref: refs/heads/main");
    put(run.upper() / "half/plain", "plain");
    const Changeset changes = run.keep(open);
    const UniqueFd folder(::open((run.folder / "half").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    auto turn = take_repository_turn(folder.get());
    REQUIRE(turn.has_value());
    const auto waits = history::apply(changes, {}, anywhere);
    REQUIRE(waits.has_value());
    REQUIRE(waits->error.has_value());
    CHECK(has(waits->error->why, "its folder is locked"));
    CHECK_FALSE(fs::exists(run.folder / "half/HEAD"));
    turn->reset();
    const auto applied = history::apply(changes, {}, anywhere);
    REQUIRE(applied.has_value());
    CHECK_FALSE(applied->error.has_value());
    CHECK(fs::exists(run.folder / "half/HEAD"));
  }

  TEST_CASE("a record or a content that was tampered with is damaged, and can be discarded") {
    Run run;
    auto open = run.begin();
    put(run.upper() / "a.txt", "shown");
    const Changeset changes = run.keep(open);
    put(changes.upper(0) / "a.txt", "other");
    const auto applied = history::apply(changes, {}, anywhere);
    REQUIRE(applied.has_value());
    REQUIRE(applied->error.has_value());
    CHECK(applied->error->id == ErrorId::kChangesDamaged);
    CHECK(fs::is_empty(run.folder));
    fs::remove_all(changes.upper(0));
    CHECK(has(apply_error(changes), "MCPAC-E0722"));
    auto text = get(changes.folder / "record.json");
    text.replace(text.find("a.txt"), 5, "b.txt");
    put(changes.folder / "record.json", text);
    const auto found = history::find_changeset(run.kept, run.id);
    REQUIRE(found.has_value());
    CHECK(history::check_whole(*found).error().id == ErrorId::kChangesDamaged);
    CHECK(history::discard(*found).has_value());
    CHECK_FALSE(fs::exists(changes.folder));
    CHECK(history::find_changeset(run.kept, run.id).error().id == ErrorId::kChangesUnknown);
  }
}
