// Changesets through the real binary: run apart, look, apply or discard.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "e2e/programs_of_files.h"
#include "e2e/workspace.h"

using e2e::has;
using e2e::Workspace;

namespace {

namespace fs = std::filesystem;

struct Place : e2e::FilePlace {
  Place() : FilePlace("apart") {
    fs::remove_all(kept());
    put("notes.txt", "one\ntwo\nthree\n");
    put("old/a.txt", "a");
  }
  [[nodiscard]] fs::path kept() const { return workspace.state() / "changes"; }
  [[nodiscard]] e2e::Outcome run(const std::vector<std::string>& words,
                                 const std::vector<std::string>& more = {}) const {
    std::vector<std::string> options{"--files", "./apart:rw", "--changeset"};
    options.insert(options.end(), more.begin(), more.end());
    return run_with(std::move(options), words);
  }
  // Of the one changeset that is kept.
  [[nodiscard]] std::string id() const {
    const auto list = workspace.mcpac({"changes", "list", "--json"}).json();
    REQUIRE(list.size() == 1);
    return list[0]["run"].get<std::string>();
  }
};

}  // namespace

TEST_SUITE("e2e/changes") {
  TEST_CASE("a program sees what it wrote, the folder stays, and apply makes it so") {
    const Place place;
    const auto run = place.run({"write", place.at("notes.txt"), "one\n2\nthree\n", "+", "read",
                                place.at("notes.txt"), "+", "folder", place.at("new"), "+", "write",
                                place.at("new/b.txt"), "b", "+", "remove", place.at("old/a.txt"),
                                "+", "remove", place.at("old")});
    INFO(run.err);
    CHECK(run.out == "ok\none\n2\nthree\n\nok\nok\nok\nok\n");
    CHECK(has(run.err, "5 changes are kept"));
    CHECK(place.get("notes.txt") == "one\ntwo\nthree\n");
    CHECK(fs::exists(place.folder / "old/a.txt"));
    const auto id = place.id();
    const auto show = place.workspace.mcpac({"changes", "show", id});
    CHECK(has(show.out, "modified"));
    CHECK(has(show.out, place.at("new/b.txt")));
    CHECK(has(show.out, "folder-deleted"));
    CHECK(has(show.out, place.at("notes.txt") + " (12 bytes, 14 before)\n"));
    CHECK(has(show.err, "next: mcpac changes diff " + id));
    const auto nothing = place.workspace.mcpac({"changes", "apply", id, place.at("elsewhere")});
    CHECK(nothing.exit_code == 66);
    CHECK(has(nothing.err, "MCPAC-E0721"));
    CHECK(has(nothing.err, place.at("elsewhere")));
    const auto diff = place.workspace.mcpac({"changes", "diff", id});
    CHECK(has(diff.out, "-two\n+2\n"));
    const auto apply = place.workspace.mcpac({"changes", "apply", id});
    INFO(apply.err);
    CHECK(apply.exit_code == 0);
    CHECK(place.get("notes.txt") == "one\n2\nthree\n");
    CHECK(place.get("new/b.txt") == "b");
    CHECK_FALSE(fs::exists(place.folder / "old"));
    struct stat info {};
    REQUIRE(::stat(place.at("new/b.txt").c_str(), &info) == 0);
    CHECK(info.st_uid == ::geteuid());
    CHECK(place.workspace.mcpac({"changes", "list", "--json"}).json().empty());
    CHECK_FALSE(fs::exists(place.kept() / id));
  }

  TEST_CASE("a protected name is marked, and the rest can be applied") {
    const Place place;
    REQUIRE(place
                .run({"write", place.at("notes.txt"), "other", "+", "write", place.at(".envrc"),
                      "run me"})
                .exit_code == 0);
    const auto id = place.id();
    const auto show = place.workspace.mcpac({"changes", "show", id});
    CHECK(has(show.out, place.at(".envrc") + " (6 bytes, mode 644): never applied: the name is"));
    CHECK(has(show.err, "1 is never applied"));
    CHECK_FALSE(has(show.out, "14 before): never"));
    const auto json = place.workspace.mcpac({"changes", "show", id, "--json"}).json();
    CHECK(json["places"][0]["changes"][0].contains("never_applied"));
    CHECK_FALSE(json["places"][0]["changes"][1].contains("never_applied"));
    const auto all = place.workspace.mcpac({"changes", "apply", id});
    CHECK(all.exit_code == 77);
    CHECK(has(all.err, "fix: the rest: mcpac changes apply " + id.substr(0, 13) + " " +
                           place.at("notes.txt")));
    CHECK(place.get("notes.txt") == "one\ntwo\nthree\n");
    CHECK(place.workspace.mcpac({"changes", "apply", id, place.at("notes.txt")}).exit_code == 0);
    CHECK(place.get("notes.txt") == "other");
    CHECK_FALSE(fs::exists(place.folder / ".envrc"));
  }

  TEST_CASE("discard removes everything, and the folder was never touched") {
    const Place place;
    REQUIRE(place.run({"write", place.at("notes.txt"), "other"}).exit_code == 0);
    const auto id = place.id();
    CHECK(place.workspace.mcpac({"changes", "discard", id}).exit_code == 0);
    CHECK(place.get("notes.txt") == "one\ntwo\nthree\n");
    CHECK_FALSE(fs::exists(place.kept() / id));
    CHECK(place.workspace.mcpac({"changes", "show", id}).exit_code == 66);
  }

  TEST_CASE("a run that changes nothing keeps nothing") {
    const Place place;
    CHECK(place.run({"read", place.at("notes.txt")}).exit_code == 0);
    CHECK(place.workspace.mcpac({"changes", "list", "--json"}).json().empty());
    CHECK(fs::is_empty(place.kept()));
  }

  TEST_CASE("what a person changed meanwhile is a conflict, and nothing is applied") {
    const Place place;
    REQUIRE(place
                .run({"write", place.at("notes.txt"), "program", "+", "write", place.at("also.txt"),
                      "program"})
                .exit_code == 0);
    place.put("notes.txt", "person");
    const auto apply = place.workspace.mcpac({"changes", "apply", place.id()});
    CHECK(apply.exit_code == 77);
    CHECK(has(apply.err, "MCPAC-E0723"));
    CHECK(place.get("notes.txt") == "person");
    CHECK(place.get("also.txt") == "absent");
  }

  TEST_CASE("what git runs by its configuration is not applied") {
    const Place place;
    place.put(".git/config", "[core]\n\thooksPath = tools/hooks\n");
    CHECK(place
              .run({"folder", place.at("tools"), "+", "folder", place.at("tools/hooks"), "+",
                    "write", place.at("tools/hooks/pre-commit"), "evil"})
              .out == "ok\nok\nok\n");
    const auto apply = place.workspace.mcpac({"changes", "apply", place.id()});
    CHECK(apply.exit_code == 77);
    CHECK(has(apply.err, "MCPAC-E0724"));
    CHECK(has(apply.err,
              "git, Mercurial or mcpac run or obey what lies in " + place.at("tools/hooks")));
    CHECK_FALSE(fs::exists(place.folder / "tools"));
  }

  TEST_CASE("what mcpac itself starts or obeys is not applied, also where it was not there") {
    const Place place;
    const auto run = place.workspace.mcpac({"run", "--files", "./apart:rw", "--changeset",
                                            "--approver", "python3 ./apart/later.py", "--",
                                            place.program, "write", place.at("later.py"), "evil"});
    REQUIRE(run.out == "ok\n");
    const auto apply = place.workspace.mcpac({"changes", "apply", place.id()});
    CHECK(apply.exit_code == 77);
    CHECK(has(apply.err, "mcpac run or obey what lies in " + place.at("later.py")));
    CHECK(place.get("later.py") == "absent");
  }

  TEST_CASE("a ceiling that came meanwhile holds for apply") {
    const Place place;
    REQUIRE(place.run({"write", place.at("notes.txt"), "program"}).exit_code == 0);
    const auto id = place.id();
    place.workspace.write("mcpac.policy", "files ./apart read-only\n");
    const auto apply = place.workspace.mcpac({"changes", "apply", id});
    fs::remove(place.workspace.folder() / "mcpac.policy");
    CHECK(apply.exit_code == 77);
    CHECK(has(apply.err, "MCPAC-E0724"));
    CHECK(place.get("notes.txt") == "one\ntwo\nthree\n");
  }

  TEST_CASE("a program that writes more than it may is ended, and nothing is kept") {
    const Place place;
    const auto run = place.run({"fill", place.at("a"), "40", "+", "fill", place.at("b"), "40", "+",
                                "fill", place.at("c"), "40", "+", "stay"},
                               {"--changes-limit", "20MiB"});
    CHECK(run.exit_code == 137);
    CHECK(has(run.err, "MCPAC-E0725"));
    CHECK(fs::is_empty(place.kept()));
    CHECK_FALSE(fs::exists(place.folder / "a"));
  }

  TEST_CASE("an interrupted run keeps what was written until then, whole") {
    const Place place;
    const auto run =
        place.workspace.mcpac({"run", "--files", "./apart:rw", "--changeset", "--", place.program,
                               "write", place.at("notes.txt"), "half", "+", "stay"},
                              {.interrupt_at = "ok"});
    CHECK(run.exit_code == 130);
    CHECK(place.workspace.mcpac({"changes", "apply", place.id()}).exit_code == 0);
    CHECK(place.get("notes.txt") == "half");
  }
}
