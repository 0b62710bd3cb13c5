// What a program with mounts sees: these and nothing else, with these rights and no more.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "core/file.h"
#include "sandbox/support_sandbox.h"

namespace mcpac::sandbox::test {
namespace {

using Access = Mount::Access;

struct Place {
  TemporaryFolder folder;
  std::filesystem::path read, write;
};

Place make_place() {
  auto folder = TemporaryFolder::create("/tmp", "mcpac-test-root");
  REQUIRE(folder);
  Place place{std::move(*folder), {}, {}};
  place.read = place.folder.path() / "read";
  place.write = place.folder.path() / "write";
  std::filesystem::create_directory(place.read);
  std::filesystem::create_directory(place.write);
  std::ofstream(place.read / "text") << "content";
  std::ofstream(place.folder.path() / "secret") << "canary";
  // As private as a root host or a careful user has them.
  ::chmod((place.read / "text").c_str(), 0600);
  ::chmod(place.write.c_str(), 0700);
  std::filesystem::create_symlink(place.folder.path() / "secret", place.read / "link");
  return place;
}

Spec in_place(const Place& place, std::vector<std::string> words) {
  Spec spec = hostile(std::move(words), kCompiler);
  spec.mounts = {{place.write, "/w", Access::kReadWrite}, {place.read, "/r"}};
  spec.work_directory = "/w";
  spec.limits.file_size = 1024;
  return spec;
}

}  // namespace

TEST_SUITE("sandbox/root") {
  TEST_CASE("a mount can be read, and what lies beside it does not exist") {
    const Place place = make_place();
    auto warden = Warden::start(warden_program());
    REQUIRE(warden);
    const auto go = [&](std::vector<std::string> words) {
      return describe(run(*warden, in_place(place, std::move(words))));
    };
    CHECK(go({"show", "/r/text"}) == "exit 0 content");
    CHECK(go({"show", (place.folder.path() / "secret").native()}) == "exit 10 ENOENT");
    CHECK(go({"show", "/r/../../tmp"}) == "exit 10 ENOENT");
    CHECK(go({"show", "/r/link"}) == "exit 10 ENOENT");
    CHECK(go({"stat", "/etc/passwd"}) == "exit 10 ENOENT");
    CHECK(go({"stat", "/proc/self/status"}) == "exit 10 ENOENT");
    CHECK(go({"stat", "/dev/null"}) == "exit 10 ENOENT");
    CHECK(go({"list", "/"}) == "exit 10 EACCES");
    CHECK(go({"host-name"}) == "exit 0 sandbox");
    CHECK(go({"working-folder"}) == "exit 0 /w");
  }

  TEST_CASE("only the work folder can be written, and only plain files and folders") {
    const Place place = make_place();
    auto warden = Warden::start(warden_program());
    REQUIRE(warden);
    const auto go = [&](std::vector<std::string> words) {
      return describe(run(*warden, in_place(place, std::move(words))));
    };
    CHECK(go({"create", "/w/new"}) == "exit 0");
    CHECK(std::filesystem::exists(place.write / "new"));
    struct stat made {};
    REQUIRE(::stat((place.write / "new").c_str(), &made) == 0);
    CHECK(made.st_uid == ::geteuid());
    CHECK(go({"make-folder", "/w/folder"}) == "exit 0");
    CHECK(go({"remove", "/w/new"}) == "exit 0");
    CHECK(go({"create-setuid", "/w/suid"}) == "exit 10 EPERM");
    CHECK(go({"make-link", "/w/link"}) == "exit 10 EACCES");
    CHECK(go({"make-fifo", "/w/fifo"}) == "exit 10 EACCES");
    CHECK(go({"create", "/new"}) != "exit 0");
    CHECK(go({"create", "/r/new"}) != "exit 0");
    CHECK(go({"remove", "/r/text"}) != "exit 0");
    CHECK(go({"change-mode", "/r/text"}) == "exit 10 EROFS");
    CHECK(go({"map-executable", "/r/text"}) == "exit 10 EPERM");
    CHECK(std::filesystem::exists(place.read / "text"));
    CHECK(go({"socket-inet"}) == "exit 10 EPERM");
    CHECK(go({"fork"}) == "exit 10 EPERM");
    CHECK(go({"run-shell"}) == "exit 10 EPERM");
    CHECK(go({"run-again"}) == "exit 10 EBADF");
  }

  TEST_CASE("the same for an ordinary user") {
    CHECK(in_child([]() -> std::string {
            if (::geteuid() == 0 && !become_user()) return "no user";
            const Place place = make_place();
            return run_once(in_place(place, {"show", "/r/text"})) + "; " +
                   run_once(in_place(place, {"create", "/w/new"})) + "; " +
                   run_once(in_place(place, {"create", "/r/new"})) + "; " +
                   run_once(in_place(place, {"stat", "/etc/passwd"}));
          }) == "exit 0 content; exit 0; exit 10 EROFS; exit 10 ENOENT");
  }

  TEST_CASE("single files and places inside other mounts can be mounted") {
    const Place place = make_place();
    std::filesystem::create_directory(place.read / "inner");
    Spec spec = in_place(place, {"show", "/r/inner/deep.txt"});
    std::ofstream(place.read / "inner" / "deep.txt");
    spec.mounts.push_back({place.folder.path() / "secret", "/r/inner/deep.txt"});
    CHECK(run_once(spec) == "exit 0 canary");
    spec = in_place(place, {"show", "/a/b/c/one"});
    spec.mounts = {{place.read / "text", "/a/b/c/one"}};
    spec.work_directory = "/";
    CHECK(run_once(spec) == "exit 0 content");
  }

  TEST_CASE("a dynamic program's profile opens for reading only") {
    const Place place = make_place();
    const auto go = [&](std::vector<std::string> words) {
      Spec spec = in_place(place, std::move(words));
      spec.admits = Admits{}.with(OpensLibraries{});
      return run_once(spec);
    };
    CHECK(go({"show", "/r/text"}) == "exit 0 content");
    CHECK(go({"create", "/w/new"}) == "exit 10 EACCES");
    CHECK(go({"list", "/r"}) == "exit 10 EACCES");
    CHECK(go({"remove", "/w/new"}) == "exit 10 EACCES");
    CHECK(go({"run-again"}) == "exit 10 EBADF");
    CHECK(go({"shared-memory"}) == "exit 10 EPERM");
  }

  TEST_CASE("a dynamically linked program runs with its libraries mounted, and not without") {
    Spec spec;
    spec.program = "/usr/bin/echo";
    spec.arguments = {"echo", "dynamic"};
    spec.admits = Admits{}.with(OpensLibraries{});
    const auto without = run_once(spec);
    CHECK(without.starts_with("error MCPAC-E0708 layer program, ENOENT"));
    spec.mounts = {{"/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", Access::kReadExecute},
                   {"/usr/lib64", "/lib64", Access::kReadExecute}};
    CHECK(run_once(spec) == "exit 0 dynamic\n");
  }

  TEST_CASE("what cannot be mounted is an error that names it, and nothing runs") {
    const Place place = make_place();
    const auto with = [&](Mount mount) {
      Spec spec = hostile({"hello"});
      spec.mounts = {std::move(mount)};
      return run_once(spec);
    };
    CHECK(with({"/does/not/exist", "/x"}).starts_with("error MCPAC-E0601 layer root, ENOENT"));
    CHECK(with({"/dev/null", "/x"}).starts_with("error MCPAC-E0601 layer request"));
    CHECK(with({"relative", "/x"}).starts_with("error MCPAC-E0601 layer request"));
    CHECK(with({place.read, "/a/../x"}).starts_with("error MCPAC-E0601 layer request"));
    CHECK(with({place.read, "/"}).starts_with("error MCPAC-E0601 layer request"));
    CHECK(with({"/proc/self/root", "/x"}).starts_with("error MCPAC-E0601 layer root, ELOOP"));
  }

  TEST_CASE("a program that is no program, or is not there, is an error of its own") {
    const Place place = make_place();
    Spec spec = hostile({"hello"});
    spec.program = place.read / "absent";
    CHECK(run_once(spec).starts_with("error MCPAC-E0708"));
    spec.program = place.folder.path() / "script";
    std::ofstream(spec.program) << "#!/bin/sh\nexit 0\n";
    ::chmod(spec.program.c_str(), 0755);
    CHECK(run_once(spec).starts_with("error MCPAC-E0708 layer program, ENOENT"));
    spec.program = place.read / "text";
    CHECK(run_once(spec).starts_with("error MCPAC-E0708 layer program, EACCES"));
  }
}

}  // namespace mcpac::sandbox::test
