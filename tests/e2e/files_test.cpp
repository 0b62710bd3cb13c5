// Files that a run is granted, with a real program: what is there, what can be done, what is not.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

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

  TEST_CASE("a program that fails with files that it may only read is told how it may write") {
    const Place place;
    const std::string source =
        "#include <mcpac.hpp>\n#include <fstream>\n"
        "int agent_main(mcpac::Requires<mcpac::files>) {\n"
        "  std::ofstream out(\"" +
        place.at("out.txt") +
        "\");\n"
        "  return out << \"x\" << std::flush ? 0 : 3;\n}\n";
    const auto silent = place.workspace.mcpac({"execute", "-c", source, "--files", "./files"});
    INFO(silent.err);
    CHECK(silent.exit_code == 3);
    CHECK(has(silent.err, place.folder.string() + " was granted read-only, where the program may"));
    CHECK(has(silent.err, "--files PATH:rw"));
    CHECK(has(silent.err, "--changeset"));
    const auto told = place.workspace.mcpac({"execute", "-v", "-c", source, "--files", "./files"});
    CHECK(has(told.err, " read-only (--files); writing there fails, with :rw behind the path it"));
    const auto writes = place.workspace.mcpac({"execute", "-c", source, "--files", "./files:rw"});
    INFO(writes.err);
    CHECK(writes.exit_code == 0);
    CHECK_FALSE(has(writes.err, "read-only"));
    CHECK(place.get("out.txt") == "x");
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
    const auto run = place.run({"--files", "./files:rw"}, {"write",
                                                           place.at("new.txt"),
                                                           "new",
                                                           "+",
                                                           "folder",
                                                           place.at("made"),
                                                           "+",
                                                           "copy",
                                                           place.at("notes.txt"),
                                                           place.at("made/copy.txt"),
                                                           "+",
                                                           "copy",
                                                           place.at("new.txt"),
                                                           place.at("made/copy.txt"),
                                                           "+",
                                                           "rename",
                                                           place.at("inner/deep.txt"),
                                                           place.at("made/deep.txt"),
                                                           "+",
                                                           "remove",
                                                           place.at("notes.txt")});
    INFO(run.err);
    CHECK(run.out == "ok\nok\nok\nok\nok\nok\n");
    CHECK(place.get("made/copy.txt") == "new");
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

  TEST_CASE(
      "of a failed program it is said that its repository lies in a folder that was not granted") {
    const Workspace workspace("{\"mcpServers\": {}}");
    workspace.write("main/.git/worktrees/tree/HEAD", "ref: refs/heads/a\n");
    const auto store = (workspace.folder() / "main/.git/worktrees/tree").string();
    const auto says = [&](const std::string& text, std::vector<std::string> more,
                          const char* program) {
      workspace.write("tree/.git", text);
      std::vector<std::string> words{"run", "--files", "./tree"};
      words.insert(words.end(), more.begin(), more.end());
      words.insert(words.end(), {"--", program});
      const auto run = workspace.mcpac(words, {.folder = workspace.folder()});
      return has(run.err,
                 "/tree/.git leads to " + store +
                     ", which was not granted, and where git has the repository: --files " + store +
                     " lets");
    };
    CHECK(says("gitdir: " + store + "\n", {}, "/bin/false"));
    CHECK(says("gitdir: ../main/.git/worktrees/tree\r\n", {}, "/bin/false"));
    CHECK_FALSE(says("gitdir: " + store + "\n", {}, "/bin/true"));
    CHECK_FALSE(says("gitdir: " + store + "\n", {"--files", "./main"}, "/bin/false"));
    CHECK_FALSE(says("no repository\n", {}, "/bin/false"));
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

  // What was run on a host: two runs at once, and each makes a half of a repository.
  TEST_CASE("two runs in one folder make no repository together, also at the same moment") {
    const Place place;
    constexpr int kRounds = 300;
    for (int i = 0; i < kRounds; ++i) place.put("halves/" + std::to_string(i) + "/HEAD", "x");
    const auto rounds = std::to_string(kRounds);
    // One is granted the folder, the other a folder in it, and has another state folder.
    e2e::Outcome one;
    e2e::Outcome other;
    std::thread beside([&] {
      one = place.run({"--files", "./files:rw"},
                      {"race", place.at("halves"), "one", "other", "objects", rounds});
    });
    const auto state = place.workspace.folder() / "other-state";
    other = place.workspace.mcpac({"run", "--files", "./files/halves:rw", "--", place.program,
                                   "race", place.at("halves"), "other", "one", "refs", rounds},
                                  {.environment = {"XDG_STATE_HOME=" + state.string()}});
    beside.join();
    INFO(one.err);
    INFO(other.err);
    CHECK(one.exit_code == 0);
    CHECK(other.exit_code == 0);
    int whole = 0;
    int halves = 0;
    for (int i = 0; i < kRounds; ++i) {
      const auto at = place.folder / "halves" / std::to_string(i);
      const bool has_objects = fs::exists(at / "objects");
      const bool has_refs = fs::exists(at / "refs");
      whole += has_objects && has_refs ? 1 : 0;
      halves += has_objects != has_refs ? 1 : 0;
    }
    CHECK(whole == 0);
    CHECK(halves == kRounds);  // and one of both has what it asked for
    fs::remove_all(state);
  }

  TEST_CASE("a later run does not complete the half of an earlier one") {
    const Place place;
    const auto first = place.run({"--files", "./files:rw"},
                                 {"folder", place.at("a"), "+", "folder", place.at("a/objects"),
                                  "+", "folder", place.at("b"), "+", "folder", place.at("b/refs"),
                                  "+", "write", place.at("b/HEAD"), "ref: refs/heads/main"});
    CHECK(first.out == "ok\nok\nok\nok\nok\n");
    const auto second =
        place.run({"--files", "./files:rw"},
                  {"rename", place.at("a/objects"), place.at("b/objects"), "+", "write",
                   place.at("b/commondir"), "..", "+", "folder", place.at("b/Objects")});
    INFO(second.err);
    CHECK(second.out == "EACCES\nEACCES\nok\n");
    CHECK_FALSE(has(second.err, "came to be"));
  }

  TEST_CASE("what git runs by its configuration is not written, wherever it lies") {
    const Place place;
    place.put(".git/config", "[core]\n\thooksPath = tools/hooks\n\tfsmonitor = ./watch.sh\n");
    const auto run = place.run({"--files", "./files:rw"}, {"write",
                                                           place.at("watch.sh"),
                                                           "evil",
                                                           "+",
                                                           "folder",
                                                           place.at("tools"),
                                                           "+",
                                                           "folder",
                                                           place.at("tools/hooks"),
                                                           "+",
                                                           "folder",
                                                           place.at("x"),
                                                           "+",
                                                           "folder",
                                                           place.at("x/hooks"),
                                                           "+",
                                                           "write",
                                                           place.at("x/hooks/pre-commit"),
                                                           "evil",
                                                           "+",
                                                           "remove",
                                                           place.at("tools"),
                                                           "+",
                                                           "rename",
                                                           place.at("x"),
                                                           place.at("tools"),
                                                           "+",
                                                           "write",
                                                           place.at("plain"),
                                                           "x"});
    INFO(run.err);
    CHECK(run.out == "EACCES\nok\nEACCES\nok\nok\nok\nok\nEBUSY\nok\n");
    CHECK_FALSE(fs::exists(place.folder / "watch.sh"));
    CHECK_FALSE(fs::exists(place.folder / "tools/hooks"));
    CHECK(has(run.err, "was not let make or change " + place.at("watch.sh")));
  }

  TEST_CASE("the program of an approver is not written by the program that it answers for") {
    const Place place;
    place.put("ok.sh", "#!/bin/sh\n");
    place.put("ok2.py", "");
    place.put("packages/node_modules/ask/index.js", "");
    fs::permissions(place.folder / "ok.sh", fs::perms::owner_all);
    const auto written = [&](const std::string& approver, const char* name) {
      const auto run = place.run({"--files", "./files:rw", "--approver", approver},
                                 {"write", place.at(name), "evil"});
      INFO(run.err);
      return run.out;
    };
    CHECK(written("./files/ok.sh", "ok.sh") == "EACCES\n");
    CHECK(written("python3 files/ok2.py", "ok2.py") == "EACCES\n");
    CHECK(written("sh -c 'exec ./files/ok.sh'", "ok.sh") == "EACCES\n");
    CHECK(written("env X=1 python3 ./files/later.py", "later.py") == "EACCES\n");
    CHECK(written("node files/packages/node_modules/ask/index.js",
                  "packages/node_modules/ask/other.js") == "EACCES\n");
    CHECK(place.get("ok.sh") == "#!/bin/sh\n");
    CHECK(written("./files/ok.sh", "notes.txt") == "ok\n");
    CHECK(written("true ./files", "ok.sh") == "ok\n");  // a folder is no program
    CHECK(place.get("ok.sh") == "evil");
    const auto whole =
        place.run({"--files", "./files/ok.sh:rw", "--approver", "./files/ok.sh"}, {"where"});
    CHECK(whole.exit_code == 77);
    CHECK(has(whole.err, "MCPAC-E0720"));
  }

  TEST_CASE("rules that a command line names are not written by its program") {
    const Place place;
    const std::string rules = "files ./files read-write\n";
    place.put("own.policy", rules);
    const auto written = [&](std::vector<std::string> options) {
      return place.run(std::move(options), {"write", place.at("own.policy"), "evil"}).out;
    };
    CHECK(written({"--policy", "./files/own.policy"}) == "EACCES\n");
    CHECK(place.get("own.policy") == rules);
    CHECK(written({"--files", "./files:rw"}) == "ok\n");
  }

  TEST_CASE("what a server is started from is not written, and what it works on is") {
    const Place place;
    const Workspace& workspace = place.workspace;
    const std::string before = workspace.read("mcpac.json");
    for (const char* name : {"tiny.mjs", "bin/tool.sh", "lib/setup.js", "tinysrv.py", "data/x.txt"})
      place.put(name, "theirs");
    place.put("node_modules/server/index.js", "theirs");
    fs::create_directories(place.folder / "node_modules/.bin");
    fs::create_symlink("../server/index.js", place.folder / "node_modules/.bin/server");
    const auto with = [&](const std::string& server, const std::string& name,
                          std::vector<std::string> options = {}) {
      auto config = mcpac::Json::parse(before);
      config["mcpServers"]["theirs"] = mcpac::Json::parse(server);
      config["mcpServers"]["theirs"]["cwd"] = place.folder.string();
      workspace.write("mcpac.json", config.dump());
      options.insert(options.end(), {"--files", "./files:rw"});
      const auto run = place.run(std::move(options), {"write", place.at(name), "evil"});
      workspace.write("mcpac.json", before);
      INFO(run.err);
      return run.out;
    };
    const std::string held = "EACCES\n";
    CHECK(with(R"({"command": "node", "args": ["tiny.mjs"]})", "tiny.mjs") == held);
    CHECK(with(R"({"command": "./bin/tool.sh"})", "bin/tool.sh") == held);
    CHECK(with(R"({"command": "sh", "args": ["-c", "exec bin/tool.sh"]})", "bin/tool.sh") == held);
    CHECK(with(R"({"command": "node", "args": ["x.mjs"], "env": {"NODE_OPTIONS":
                   "--require=./lib/setup.js"}})",
               "lib/setup.js") == held);
    CHECK(with(R"({"command": "python3", "args": ["-m", "tinysrv"]})", "tinysrv.py") == held);
    CHECK(with(R"({"command": "python3", "args": ["-m", "later.main"]})", "later.py") == held);
    const std::string linked = R"({"command": "node_modules/.bin/server", "args": ["."]})";
    CHECK(with(linked, "node_modules/.bin/server") == held);
    CHECK(with(linked, "node_modules/server/other.js") == held);
    CHECK(with(linked, "data/x.txt") == "ok\n");
    CHECK(place.get("node_modules/server/index.js") == "theirs");
    fs::remove_all(place.folder / "node_modules");
    fs::create_directory(place.folder / "node_modules");
    const std::string runner = R"({"command": "npx", "args": ["-y", "x", "./data"]})";
    CHECK(with(runner, "node_modules/x") == held);
    CHECK(with(runner, "data/y.txt") == "ok\n");
    CHECK(place.get("tiny.mjs") == "theirs");

    const std::string plain = R"({"command": "node", "args": ["tiny.mjs"]})";
    CHECK(with(plain, "tiny.mjs", {"--changeset"}) != "ok\n");
    CHECK(with(plain, "node_modules/x") == "ok\n");
  }

  TEST_CASE("what a program makes has the mode that the user's own files have") {
    const Place place;
    const auto mode_of = [&](const char* name) {
      struct stat info {};
      REQUIRE(::stat(place.at(name).c_str(), &info) == 0);
      return info.st_mode & 0777U;
    };
    const auto with_mask = [&](mode_t mask, const std::string& name) {
      const mode_t before = ::umask(mask);
      const auto run = place.run({"--files", "./files:rw"}, {"write", place.at(name), "x", "+",
                                                             "folder", place.at(name + "-folder")});
      ::umask(before);
      INFO(run.err);
      CHECK(run.out == "ok\nok\n");
    };
    with_mask(077, "own");
    CHECK(mode_of("own") == 0600U);
    CHECK(mode_of("own-folder") == 0700U);
    with_mask(002, "group");
    CHECK(mode_of("group") == 0664U);
    CHECK(mode_of("group-folder") == 0755U);  // as the program asks for it
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
