// Files that a run is granted, with a real program: what is there, what can be done, what is not.
#include <doctest/doctest.h>
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
  Place() : FilePlace("files") {
    put("notes.txt", "notes");
    put("inner/deep.txt", "deep");
    put(".git/config", "[core]");
    std::ofstream(workspace.folder() / "beside.txt") << "secret";
  }
  [[nodiscard]] e2e::Outcome run(std::vector<std::string> options,
                                 const std::vector<std::string>& words) const {
    return run_with(std::move(options), words);
  }
};

}  // namespace

TEST_SUITE("e2e/files") {
  TEST_CASE("a folder that was granted is there to be read, and nothing beside it is") {
    const Place place;
    const auto run =
        place.run({"--files", "./files"}, {"read",
                                           place.at("notes.txt"),
                                           "+",
                                           "list",
                                           place.at("inner"),
                                           "+",
                                           "exists",
                                           (place.workspace.folder() / "beside.txt").string(),
                                           "+",
                                           "exists",
                                           "/etc/passwd",
                                           "+",
                                           "list",
                                           "/",
                                           "+",
                                           "write",
                                           place.at("notes.txt"),
                                           "x",
                                           "+",
                                           "remove",
                                           place.at("notes.txt"),
                                           "+",
                                           "folder",
                                           place.at("new")});
    INFO(run.err);
    CHECK(run.exit_code == 0);
    CHECK(has(run.out, "notes\ndeep.txt \nno\nno\n"));
    CHECK(place.get("notes.txt") == "notes");
    CHECK_FALSE(fs::exists(place.folder / "new"));
    CHECK_FALSE(has(run.out, "\nok\n"));
  }

  TEST_CASE("without a grant a program that opens files is ended, or finds none") {
    const Place place;
    const auto run = place.run({}, {"read", place.at("notes.txt")});
    CHECK_FALSE(has(run.out, "notes\n"));
  }

  TEST_CASE("relative paths mean inside what they mean outside") {
    const Place place;
    const auto run = place.run({"--files", "./files"}, {"where", "+", "read", "files/notes.txt"});
    INFO(run.err);
    CHECK(run.out == place.workspace.folder().string() + "\nnotes\n");
  }

  TEST_CASE("a folder granted read-write takes files and folders, which are the user's") {
    const Place place;
    const auto run = place.run({"--files", "./files:rw"},
                               {"write", place.at("new.txt"), "new", "+", "folder",
                                place.at("made"), "+", "rename", place.at("inner/deep.txt"),
                                place.at("made/deep.txt"), "+", "remove", place.at("notes.txt")});
    INFO(run.err);
    CHECK(run.out == "ok\nok\nok\nok\n");
    CHECK(place.get("new.txt") == "new");
    CHECK(place.get("made/deep.txt") == "deep");
    CHECK_FALSE(fs::exists(place.folder / "notes.txt"));
    struct stat info {};
    REQUIRE(::stat(place.at("new.txt").c_str(), &info) == 0);
    CHECK(info.st_uid == ::geteuid());
    CHECK(info.st_gid == ::getegid());
  }

  TEST_CASE("protected names in a writable folder stay as they are") {
    const Place place;
    const auto run = place.run(
        {"--files", "./files:rw"},
        {"write", place.at(".git/config"), "evil", "+", "remove", place.at(".git/config"), "+",
         "rename", place.at(".git"), place.at("git"), "+", "read", place.at(".git/config")});
    INFO(run.err);
    CHECK_FALSE(has(run.out, "ok"));
    CHECK(has(run.out, "[core]"));
    CHECK(place.get(".git/config") == "[core]");
    CHECK(fs::exists(place.folder / ".git"));
  }

  // What was run on a host: the user's prompt runs `git status` in a folder that the program made
  // into a repository for a moment.
  TEST_CASE("a program never has a repository of its own, not even for a moment") {
    const Place place;
    place.put("sub/.git/config", "[core]");
    const auto run = place.run({"--files", "./files:rw"}, {"rename",
                                                           place.at("sub"),
                                                           place.at("away"),
                                                           "+",
                                                           "folder",
                                                           place.at("sub2/.git"),
                                                           "+",
                                                           "folder",
                                                           place.at("inner/.git"),
                                                           "+",
                                                           "folder",
                                                           place.at("new"),
                                                           "+",
                                                           "rename",
                                                           place.at("new"),
                                                           place.at("inner/.git"),
                                                           "+",
                                                           "write",
                                                           place.at("inner/.ENVRC"),
                                                           "x",
                                                           "+",
                                                           "rename",
                                                           place.at("notes.txt"),
                                                           place.at("inner/mcpac.policy"),
                                                           "+",
                                                           "write",
                                                           place.at("sub/plain.txt"),
                                                           "ok"});
    INFO(run.out);
    CHECK(fs::exists(place.folder / "sub/.git/config"));
    for (const char* name :
         {"away", "sub2/.git", "inner/.git", "inner/.ENVRC", "inner/mcpac.policy"}) {
      CAPTURE(name);
      CHECK_FALSE(fs::exists(fs::symlink_status(place.folder / name)));
    }
    CHECK(place.get("sub/plain.txt") == "ok");
    CHECK(has(run.err, "was not let make or change " + place.at("inner/.git")));
    CHECK(has(run.err, "--changeset"));
    CHECK_FALSE(has(run.err, "came to be"));
  }

  TEST_CASE("the project's own files keep their place with the folders above them") {
    const Place place;
    const auto project = place.workspace.folder() / "project";
    fs::remove_all(project);
    fs::create_directories(project / "app");
    for (const char* name : {"mcpac.json", "mcpac.lock", "mcpac.policy"})
      std::ofstream(project / "app" / name) << "theirs";
    const auto run = place.run({"--files", "./project:rw"},
                               {"rename", (project / "app").string(), (project / "old").string(),
                                "+", "write", (project / "app/mcpac.json").string(), "evil", "+",
                                "remove", (project / "app/mcpac.policy").string(), "+", "write",
                                (project / "app/main.txt").string(), "fine"});
    INFO(run.out);
    std::ifstream kept(project / "app/mcpac.json");
    CHECK(std::string(std::istreambuf_iterator<char>(kept), {}) == "theirs");
    CHECK(fs::exists(project / "app/mcpac.policy"));
    CHECK(fs::exists(project / "app/main.txt"));
    CHECK_FALSE(fs::exists(project / "old"));
    fs::remove_all(project);
  }

  TEST_CASE("no set-id bits and no links are made, also where writing is granted") {
    const Place place;
    const auto run = place.run(
        {"--files", "./files:rw"},
        {"link", "/etc/passwd", place.at("link"), "+", "mode", place.at("notes.txt"), "4755"});
    INFO(run.err);
    CHECK_FALSE(has(run.out, "ok"));
    CHECK_FALSE(fs::exists(fs::symlink_status(place.folder / "link")));
    struct stat info {};
    REQUIRE(::stat(place.at("notes.txt").c_str(), &info) == 0);
    CHECK((info.st_mode & 06000U) == 0U);
  }

  TEST_CASE("one file alone can be granted") {
    const Place place;
    const auto run =
        place.run({"--files", "./files/notes.txt:rw"},
                  {"write", place.at("notes.txt"), "changed", "+", "read",
                   place.at("inner/deep.txt"), "+", "write", place.at("new.txt"), "x"});
    INFO(run.err);
    CHECK(has(run.out, "ok\nE"));
    CHECK(place.get("notes.txt") == "changed");
    CHECK_FALSE(fs::exists(place.folder / "new.txt"));
  }

  TEST_CASE("a file grows to its limit and no further") {
    const Place place;
    const auto run = place.run({"--files", "./files:rw", "--file-limit", "2MiB"},
                               {"fill", place.at("big"), "5"});
    CHECK_FALSE(has(run.out, "ok"));
    CHECK(fs::file_size(place.folder / "big") <= 2U << 20U);
  }

  TEST_CASE("what cannot be granted is refused before anything runs") {
    const Place place;
    fs::create_directory_symlink(place.folder / "inner", place.folder / "link");
    const auto linked = place.run({"--files", "./files/link"}, {"where"});
    CHECK(linked.exit_code == 77);
    CHECK(has(linked.err, "MCPAC-E0720"));
    CHECK(linked.out.empty());
    const auto everything = place.run({"--files", "/"}, {"where"});
    CHECK(everything.exit_code == 78);
    CHECK(has(everything.err, "MCPAC-E0202"));
    const auto own = place.run({"--files", place.workspace.state().string()}, {"where"});
    CHECK(own.exit_code == 77);
    CHECK(has(own.err, "MCPAC-E0720"));
    const auto missing = place.run({"--files", "./none"}, {"where"});
    CHECK(missing.exit_code == 77);
  }
}
