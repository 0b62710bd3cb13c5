#include "project/files/file_mounts.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include "core/file.h"
#include "core/folded_name.h"
#include "core/folds_case.h"
#include "places.h"
#include "project/files/kernel_mounts.h"
#include "project/files/protected_names.h"
#include "project/support_folding_disk.h"
#include "project/support_nobody.h"

using namespace mcpac;
using policy::FileMode;
using policy::FilePlace;
using project::FileMounts;
using project::mounts_of;
using project::ReservedPlaces;
using project::testing::AsNobody;
using Access = sandbox::Mount::Access;

namespace {

namespace fs = std::filesystem;

struct MountPlace {
  TemporaryFolder home =
      TemporaryFolder::create(fs::canonical(fs::temp_directory_path()), "mcpac-test-").value();
  fs::path folder = home.path() / "work";
  ReservedPlaces reserved{.closed = {home.path() / "state"},
                          .read_only = {folder / "mcpac.json", folder / "servers"}};

  MountPlace() { fs::create_directories(folder / "src"); }
  fs::path write(const fs::path& name) const {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << "text";
    return folder / name;
  }
  Result<FileMounts> grant(const fs::path& path, FileMode mode) const {
    return mounts_of(std::vector{FilePlace{path.string(), mode, "--files"}}, reserved);
  }
  Result<FileMounts> grant_changes(const fs::path& path) const {
    return mounts_of(std::vector{FilePlace{path.string(), FileMode::kReadWrite, "--files"}},
                     reserved, project::NamesKept::kByApply);
  }
};

std::string refusal(const Result<FileMounts>& made) {
  if (made) return "granted";
  CHECK(made.error().id == ErrorId::kFilesRefused);
  return made.error().what + " | " + made.error().fix;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The access that a path is mounted with; nothing where it is not.
std::optional<Access> access_at(const FileMounts& made, const fs::path& path) {
  const auto found = std::ranges::find(made.mounts, path, &sandbox::Mount::inside);
  if (found == made.mounts.end()) return std::nullopt;
  return found->access;
}

}  // namespace

TEST_SUITE("execute/file mounts") {
  TEST_CASE("a granted folder and a granted file appear where they are, as they were granted") {
    const MountPlace place;
    const auto file = place.write("notes.txt");
    const auto made = mounts_of(
        std::vector{FilePlace{(place.folder / "src").string() + "/", FileMode::kReadWrite, "a"},
                    FilePlace{file.string(), FileMode::kReadOnly, "b"}},
        place.reserved);
    REQUIRE(made.has_value());
    CHECK(made->mounts.size() == 2);
    CHECK(access_at(*made, place.folder / "src") == Access::kReadWrite);
    CHECK(access_at(*made, file) == Access::kRead);
    CHECK(made->writes());
    CHECK(std::ranges::all_of(made->mounts, [](const sandbox::Mount& mount) {
      struct stat info {};
      return ::stat(mount.host.c_str(), &info) == 0 && mount.identity.inode == info.st_ino &&
             mount.host == mount.inside;
    }));
  }

  TEST_CASE("nothing granted mounts nothing") {
    const auto made = mounts_of({}, MountPlace().reserved);
    REQUIRE(made.has_value());
    CHECK(made->mounts.empty());
    CHECK_FALSE(made->reads());
    CHECK_FALSE(made->writes());
    CHECK(made->work_directory == "/");
  }

  TEST_CASE("a place that was granted twice has the wider mode") {
    const MountPlace place;
    const auto path = (place.folder / "src").string();
    const auto made = mounts_of(std::vector{FilePlace{path, FileMode::kReadWrite, "a"},
                                            FilePlace{path, FileMode::kReadOnly, "b"}},
                                place.reserved);
    REQUIRE(made.has_value());
    CHECK(access_at(*made, path) == Access::kReadWrite);
  }

  TEST_CASE("protected names stay read-only in a writable folder, at any depth") {
    const MountPlace place;
    place.write(".git/config");
    place.write("src/deep/.envrc");
    place.write("src/deep/main.cpp");
    place.write("mcpac.json");
    place.write("servers/a.hpp");
    const auto made = place.grant(place.folder, FileMode::kReadWrite);
    REQUIRE(made.has_value());
    CHECK(access_at(*made, place.folder) == Access::kReadWrite);
    CHECK(access_at(*made, place.folder / ".git") == Access::kRead);
    CHECK(access_at(*made, place.folder / "src/deep/.envrc") == Access::kRead);
    CHECK(access_at(*made, place.folder / "mcpac.json") == Access::kRead);
    CHECK(access_at(*made, place.folder / "servers") == Access::kRead);
    CHECK(made->mounts.size() == 5);
  }

  TEST_CASE("a tree deeper than a process may have files open is looked through, and granted") {
    const MountPlace place;
    // As a program can make it: name by name. At some levels a folder beside the way down.
    const auto dig = [&](const fs::path& at, const char* name, int levels) {
      UniqueFd folder(::open(at.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      for (int i = 0; i < levels; ++i) {
        REQUIRE(::mkdirat(folder.get(), name, 0700) == 0);
        if (i % 400 == 399) REQUIRE(::mkdirat(folder.get(), "zz", 0700) == 0);
        if (i % 400 == 399) REQUIRE(::mkdirat(folder.get(), "zz/.vscode", 0700) == 0);
        folder = UniqueFd(::openat(folder.get(), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        REQUIRE(folder);
      }
      return folder;
    };
    dig(place.folder / "src", "d", 1'500);
    const UniqueFd bottom = dig(place.folder, "longer-name", 2'000);  // longer than any path
    const UniqueFd root(::open(place.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const auto found = project::find_protected(root.get(), place.folder);
    REQUIRE(found.has_value());
    CHECK(found->closed.empty());
    CHECK(std::ranges::count_if(found->names, [](const fs::path& name) {
            return name.filename() == ".vscode";
          }) == 8);
    CHECK(found->names.back().parent_path().filename() == "zz");
    CHECK(refusal(place.grant(place.folder / "src", FileMode::kReadWrite)) == "granted");
    // What removes a temporary folder opens each level.
    REQUIRE(std::system(("rm -rf '" + place.folder.string() + "'").c_str()) == 0);
  }

  TEST_CASE("a folder that is only read needs nothing held in it") {
    const MountPlace place;
    place.write(".git/config");
    const auto made = place.grant(place.folder, FileMode::kReadOnly);
    REQUIRE(made.has_value());
    CHECK(made->mounts.size() == 1);
  }

  TEST_CASE("a protected or reserved place can be read, and not be written") {
    const MountPlace place;
    const auto hooks = place.write(".git/hooks/post-merge");
    const auto config = place.write("mcpac.json");
    CHECK(place.grant(hooks, FileMode::kReadOnly).has_value());
    CHECK(has(refusal(place.grant(hooks, FileMode::kReadWrite)), "cannot be granted read-write"));
    CHECK(has(refusal(place.grant(config, FileMode::kReadWrite)), "cannot be granted read-write"));
    place.write("servers/a.hpp");
    CHECK(has(refusal(place.grant(place.folder / "servers/a.hpp", FileMode::kReadWrite)),
              "cannot be granted read-write"));
  }

  TEST_CASE("devices are the kernel's under whatever path they are mounted") {
    const auto mounts = read_file("/proc/self/mountinfo", std::size_t{8} << 20U);
    REQUIRE(mounts.has_value());
    std::istringstream lines(*mounts);
    bool found = false;
    for (std::string line; std::getline(lines, line);)
      found = found || (has(line, " / /dev ") && has(line, " - devtmpfs "));
    if (!found) {
      MESSAGE("skipped: /dev is no devtmpfs here");
      return;
    }
    const UniqueFd devices(::open("/dev", O_PATH | O_DIRECTORY | O_CLOEXEC));
    CHECK(project::kernel_mount_in(devices.get(), "/elsewhere").value() == "/dev");
    const MountPlace place;
    const UniqueFd plain(::open(place.folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    CHECK(project::kernel_mount_in(plain.get(), place.folder).value().empty());
  }

  TEST_CASE("mcpac's own is known under another name, too") {
    if (::geteuid() != 0) {
      MESSAGE("skipped: mounts need root");
      return;
    }
    const MountPlace place;
    place.write("mcpac.json");
    fs::create_directories(place.home.path() / "state/audit");
    const auto other = [&](const char* what) {
      const fs::path at = place.home.path() / "other";
      fs::create_directories(at);
      return ::mount((place.home.path() / what).c_str(), at.c_str(), nullptr, MS_BIND, nullptr) == 0
                 ? at
                 : fs::path();
    };
    const auto state = other("state");
    if (state.empty()) {
      MESSAGE("skipped: nothing can be mounted here");
      return;
    }
    CHECK(has(refusal(place.grant(state, FileMode::kReadOnly)), "mcpac's own"));
    CHECK(has(refusal(place.grant(state / "audit", FileMode::kReadOnly)), "mcpac's own"));
    CHECK(::umount2(state.c_str(), MNT_DETACH) == 0);
    const auto work = other("work");
    const auto made = place.grant(work, FileMode::kReadWrite);
    REQUIRE(made.has_value());
    CHECK(access_at(*made, work / "mcpac.json") == Access::kRead);
    const auto table = project::MountTable::read();
    REQUIRE(table.has_value());
    const std::vector<fs::path> shown{work / "mcpac.json"};
    CHECK(table->elsewhere(place.folder / "mcpac.json") == shown);
    // Where the file cannot be opened, the table alone says which mount it lies in.
    rlimit files{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &files) == 0);
    const rlimit none{.rlim_cur = 0, .rlim_max = files.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    const auto by_table = table->elsewhere(place.folder / "mcpac.json");
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &files) == 0);
    CHECK(by_table == shown);
    CHECK(::umount2(work.c_str(), MNT_DETACH) == 0);
  }

  TEST_CASE("mcpac's own is held where a mount in a granted folder shows it again") {
    if (::geteuid() != 0) {
      MESSAGE("skipped: mounts need root");
      return;
    }
    const MountPlace place;
    place.write("mcpac.json");
    fs::create_directories(place.home.path() / "state/audit");
    const fs::path granted = place.home.path() / "granted";
    const fs::path at = granted / "sub/at";
    fs::create_directories(at);
    const auto show = [&](const fs::path& what) {
      return ::mount(what.c_str(), at.c_str(), nullptr, MS_BIND, nullptr) == 0;
    };
    if (!show(place.home.path() / "state/audit")) {
      MESSAGE("skipped: nothing can be mounted here");
      return;
    }
    for (const FileMode mode : {FileMode::kReadOnly, FileMode::kReadWrite})
      CHECK(has(refusal(place.grant(granted, mode)), "in it is "));
    CHECK(::umount2(at.c_str(), MNT_DETACH) == 0);
    REQUIRE(show(place.folder));
    const auto made = place.grant(granted, FileMode::kReadWrite);
    REQUIRE(made.has_value());
    CHECK(access_at(*made, at / "mcpac.json") == Access::kRead);
    CHECK(::umount2(at.c_str(), MNT_DETACH) == 0);
    CHECK(place.grant(granted, FileMode::kReadWrite)->mounts.size() == 1);
  }

  TEST_CASE("what is reserved is held by every name that mounts in a granted folder give it") {
    const MountPlace place;
    const auto mount_at = [&](const char* what, const char* to) {
      const fs::path at = place.home.path() / to;
      fs::create_directories(at);
      return ::mount((place.home.path() / what).c_str(), at.c_str(), nullptr, MS_BIND, nullptr) ==
             0;
    };
    place.write("mcpac.json");
    place.write("own.policy");
    fs::create_directories(place.home.path() / "state/audit");
    ReservedPlaces reserved = place.reserved;
    reserved.obeyed = {place.folder / "own.policy"};
    const fs::path data = place.home.path() / "data";
    const auto grant = [&](FileMode mode) {
      return mounts_of(std::vector{FilePlace{data.string(), mode, "--files"}}, reserved);
    };
    if (!mount_at("work", "data/project")) {
      MESSAGE("skipped: nothing can be mounted here");
      return;
    }
    std::ofstream(data / "plain") << "text";
    REQUIRE(::mount((place.folder / "mcpac.json").c_str(), (data / "plain").c_str(), nullptr,
                    MS_BIND, nullptr) == 0);
    const auto made = grant(FileMode::kReadWrite);
    CHECK(::umount2((data / "plain").c_str(), MNT_DETACH) == 0);
    REQUIRE(made.has_value());
    CHECK(access_at(*made, data / "plain") == Access::kRead);
    CHECK(access_at(*made, data / "project/mcpac.json") == Access::kRead);
    CHECK(access_at(*made, data / "project/own.policy") == Access::kRead);
    // A part of what is closed is shown to nobody either.
    REQUIRE(mount_at("state/audit", "data/records"));
    CHECK(has(refusal(grant(FileMode::kReadOnly)), "data/records in it is "));
    // Also where it was bound before another mount hid it.
    REQUIRE(::mount("none", (place.home.path() / "state").c_str(), "tmpfs", 0, nullptr) == 0);
    CHECK(has(refusal(grant(FileMode::kReadOnly)), "data/records in it is "));
    CHECK(::umount2((place.home.path() / "state").c_str(), MNT_DETACH) == 0);
    CHECK(::umount2((data / "records").c_str(), MNT_DETACH) == 0);
    // And by a mount that shows folders of others, beside it or around what is granted.
    fs::create_directories(data / "merged");
    const std::string layers = "lowerdir=" + place.home.path().string() + ":/usr/share";
    if (::mount("overlay", (data / "merged").c_str(), "overlay", 0, layers.c_str()) == 0) {
      CHECK(has(refusal(grant(FileMode::kReadOnly)), "data/merged/state in it is "));
      CHECK(::umount2((data / "merged").c_str(), MNT_DETACH) == 0);
    } else {
      MESSAGE("skipped: no overlay here");
    }
    CHECK(::umount2((data / "project").c_str(), MNT_DETACH) == 0);
  }

  TEST_CASE("a folder that other runs work in is writable in parts only") {
    MountPlace place;
    place.reserved.shared = {place.folder};
    CHECK(has(refusal(place.grant(place.folder, FileMode::kReadWrite)),
              "read-write | grant a folder in it"));
    CHECK(place.grant(place.folder, FileMode::kReadOnly).has_value());
    CHECK(place.grant(place.folder / "src", FileMode::kReadWrite).has_value());
  }

  TEST_CASE("a protected name may be a link, but not one into what is granted") {
    const MountPlace place;
    fs::create_directory_symlink(place.home.path() / "elsewhere", place.folder / ".git");
    CHECK(place.grant(place.folder, FileMode::kReadWrite).has_value());
    fs::remove(place.folder / ".git");
    fs::create_directory_symlink(place.folder / "src", place.folder / ".git");
    CHECK(
        has(refusal(place.grant(place.folder, FileMode::kReadWrite)), "without what it leads to"));
    CHECK(place.grant(place.folder, FileMode::kReadOnly).has_value());
  }

  // What is written there is applied by somebody who takes no such name.
  TEST_CASE("with a changeset a protected name may be a link, but not one into what is granted") {
    const MountPlace place;
    fs::create_directory_symlink(place.home.path() / "elsewhere", place.folder / ".git");
    REQUIRE(::mkfifo((place.folder / ".envrc").c_str(), 0600) == 0);
    CHECK(place.grant_changes(place.folder).has_value());
    for (const fs::path& target : {place.folder / "src", place.folder / "not-there-yet",
                                   fs::path("src/../other"), fs::path(".claude")}) {
      CAPTURE(target);
      fs::remove(place.folder / ".claude");
      fs::create_symlink(target, place.folder / ".claude");
      CHECK(has(refusal(place.grant_changes(place.folder)), "without what it leads to"));
    }
  }

  TEST_CASE("the root, the kernel's places and mcpac's own cannot be granted") {
    const MountPlace place;
    for (const char* system : {"/", "/proc", "/proc/self/../1", "/sys/kernel", "/dev/shm"}) {
      CAPTURE(system);
      CHECK(has(refusal(place.grant(system, FileMode::kReadOnly)), "cannot be granted"));
    }
    fs::create_directories(place.home.path() / "state/audit");
    CHECK(has(refusal(place.grant(place.home.path() / "state/audit", FileMode::kReadOnly)),
              "mcpac's own"));
    CHECK(has(refusal(place.grant(place.home.path(), FileMode::kReadOnly)), "lies in it"));
    // A name that only begins the same is another place.
    fs::create_directory(place.home.path() / "state-of-things");
    CHECK(place.grant(place.home.path() / "state-of-things", FileMode::kReadOnly).has_value());
  }

  TEST_CASE("a link is not granted, neither at the end nor on the way; its target is named") {
    const MountPlace place;
    const auto file = place.write("src/a.txt");
    fs::create_directory_symlink(place.folder / "src", place.folder / "link");
    CHECK(has(refusal(place.grant(place.folder / "link", FileMode::kReadOnly)),
              (place.folder / "src").string()));
    CHECK(
        has(refusal(place.grant(place.folder / "link/a.txt", FileMode::kReadOnly)), file.string()));
  }

  TEST_CASE("what is not there, or neither file nor folder, cannot be granted") {
    const MountPlace place;
    CHECK(
        has(refusal(place.grant(place.folder / "none", FileMode::kReadOnly)), "cannot be opened"));
    CHECK(has(refusal(place.grant(place.folder / "none", FileMode::kReadOnly)),
              "mkdir " + (place.folder / "none").string()));
    REQUIRE(::mkfifo((place.folder / "pipe").c_str(), 0600) == 0);
    CHECK(has(refusal(place.grant(place.folder / "pipe", FileMode::kReadOnly)), "neither"));
    CHECK(has(refusal(place.grant("relative", FileMode::kReadOnly)), "not an absolute path"));
  }

  TEST_CASE(
      "of more protected names than there is room for the nearest are mounted, all are known") {
    const MountPlace place;
    for (int i = 0; i < 70; ++i) place.write("p" + std::to_string(i) + "/.envrc");
    place.write(".git/config");
    for (const auto& made :
         {place.grant(place.folder, FileMode::kReadWrite), place.grant_changes(place.folder)}) {
      REQUIRE(made.has_value());
      CHECK(made->mounts.size() == 56);
      CHECK(access_at(*made, place.folder / ".git") == Access::kRead);
      CHECK(project::new_protected_names(*made).value().names.empty());
    }
    // Of what is written directly the folders stay where they are, also those for which there is no
    // mount that would hold them.
    const auto direct = place.grant(place.folder, FileMode::kReadWrite);
    REQUIRE(direct.has_value());
    CHECK(direct->folders_of_kept.size() == 70);
  }

  TEST_CASE("a repository that only its contents give away is mounted first, or refused") {
    const MountPlace place;
    for (int i = 0; i < 60; ++i) place.write("p" + std::to_string(i) + "/.envrc");
    const auto make_bare = [&](const fs::path& name) {
      for (const char* part : {"HEAD", "config", "objects/x", "refs/x"}) place.write(name / part);
      return place.folder / name;
    };
    // Further down than all names, and in a second place, which comes last.
    const auto bare = make_bare("z/y/x/repository");
    fs::create_directories(place.home.path() / "zone");
    const auto other = place.home.path() / "zone/repository";
    fs::copy(bare, other, fs::copy_options::recursive);
    const auto made = mounts_of(
        std::vector{FilePlace{place.folder.string(), FileMode::kReadWrite, "a"},
                    FilePlace{(place.home.path() / "zone").string(), FileMode::kReadWrite, "b"}},
        place.reserved);
    REQUIRE(made.has_value());
    CHECK(made->mounts.size() == 56);
    CHECK(access_at(*made, bare) == Access::kRead);
    CHECK(access_at(*made, other) == Access::kRead);
    CHECK(made->kept.size() == 62);
    for (int i = 0; i < 60; ++i) make_bare("b" + std::to_string(i));
    const auto refused = place.grant(place.folder, FileMode::kReadWrite);
    CHECK(has(refusal(refused), "is a git repository by what it holds, and there is no room"));
    if (!refused) CHECK(refused.error().fix == "--changeset");
    // What applies changes looks at contents itself.
    CHECK(place.grant_changes(place.folder).has_value());
    CHECK(place.grant(place.folder, FileMode::kReadOnly).has_value());
  }

  TEST_CASE("a folder that folds case, or may, is written with a changeset only") {
    const MountPlace place;
    place.write("Readme.md");
    const auto folds = [&](const fs::path& at) {
      const UniqueFd folder(::open(at.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      FoldingDevices known;
      FoldingLook look(folder.get(), at.native());
      for (const auto& entry : fs::directory_iterator(at))
        look.add(entry.path().filename().native());
      CHECK(folds_case(at) == look.folds(known));  // what rules about paths ask
      return look.folds(known);
    };
    CHECK_FALSE(folds(place.folder));
    CHECK_FALSE(folds(place.folder / "src"));
    CHECK(place.grant(place.folder, FileMode::kReadWrite).has_value());
    const testing::FoldingDisk disk(place.folder / "disk");
    if (!disk.why_not().empty()) {
      MESSAGE("skipped: " << disk.why_not());
      return;
    }
    CHECK(folds(place.folder / "disk"));
    for (const auto& at : {place.folder, place.folder / "disk"}) {
      CAPTURE(at);
      const auto refused = place.grant(at, FileMode::kReadWrite);
      CHECK(has(refusal(refused), "differ in case"));
      if (!refused) CHECK(refused.error().fix == "--changeset");
      CHECK(place.grant_changes(at).has_value());
      CHECK(place.grant(at, FileMode::kReadOnly).has_value());
    }
  }

  TEST_CASE("a protected name that was made meanwhile is found, one that was there is not news") {
    const MountPlace place;
    place.write("a/.envrc");
    const auto made = place.grant(place.folder, FileMode::kReadWrite);
    REQUIRE(made.has_value());
    CHECK(project::new_protected_names(*made).value().names.empty());
    const auto evil = place.write("b/.git/hooks/post-merge").parent_path().parent_path();
    CHECK(project::new_protected_names(*made).value().names == std::vector<fs::path>{evil});
    // The folder of one that was there is moved away, and another takes its place.
    fs::rename(place.folder / "a", place.folder / "c");
    const auto other = place.write("a/.envrc");
    CHECK(project::new_protected_names(*made).value().names ==
          std::vector<fs::path>{other, evil, place.folder / "c/.envrc"});
    fs::create_symlink("/", place.folder / ".vscode");
    CHECK(project::new_protected_names(*made).value().names.back() == place.folder / ".vscode");
  }

  TEST_CASE("a folder that is closed to its own user is not taken for an empty one") {
    const MountPlace place;
    place.write("sub/.git/config");
    place.write("open/text.txt");
    for (const auto& entry : fs::recursive_directory_iterator(place.home.path()))
      AsNobody::give(entry.path());
    AsNobody::give(place.home.path());
    const AsNobody nobody;
    const auto close = [&](const char* name) {
      REQUIRE(::chmod((place.folder / name).c_str(), 0300) == 0);
    };
    const auto made = place.grant(place.folder, FileMode::kReadWrite);
    REQUIRE(made.has_value());
    CHECK(project::new_protected_names(*made).value().closed.empty());
    // A program that may change modes closes it and opens it again in the next run.
    close("sub");
    CHECK(
        has(refusal(place.grant(place.folder, FileMode::kReadWrite)), "cannot be looked through"));
    CHECK(place.grant(place.folder, FileMode::kReadOnly).has_value());
    // After its run nobody says that there is nothing, and what is seen beside it is still named.
    place.write("open/.envrc");
    const auto after = project::new_protected_names(*made);
    REQUIRE(after.has_value());
    CHECK(after->closed == std::vector<fs::path>{place.folder / "sub"});
    CHECK(after->names == std::vector<fs::path>{place.folder / "open/.envrc"});
    // The place itself, too.
    REQUIRE(::chmod(place.folder.c_str(), 0300) == 0);
    CHECK(project::new_protected_names(*made).value().closed ==
          std::vector<fs::path>{place.folder});
    CHECK(
        has(refusal(place.grant(place.folder, FileMode::kReadWrite)), "cannot be looked through"));
    REQUIRE(::chmod(place.folder.c_str(), 0700) == 0);
    REQUIRE(::chmod((place.folder / "sub").c_str(), 0700) == 0);
  }

  TEST_CASE("a folder of somebody else's that lets nobody in stands in nobody's way") {
    if (::geteuid() != 0) {
      MESSAGE("skipped: needs root");
      return;
    }
    const MountPlace place;
    place.write("database/.git/config");
    REQUIRE(::chmod((place.folder / "database").c_str(), 0700) == 0);
    for (const auto& path : {place.home.path(), place.folder, place.folder / "src"})
      AsNobody::give(path);
    const AsNobody nobody;
    CHECK(place.grant(place.folder, FileMode::kReadWrite).has_value());
  }

  TEST_CASE("a folder that git takes for a repository is held like one, whatever it is called") {
    const MountPlace place;
    place.write("docs/HEAD");
    place.write("docs/objects/x");
    const auto made = place.grant(place.folder, FileMode::kReadWrite);
    REQUIRE(made.has_value());
    CHECK(access_at(*made, place.folder / "docs") == std::nullopt);
    place.write("docs/refs/x");
    CHECK(project::new_protected_names(*made).value().names ==
          std::vector<fs::path>{place.folder / "docs"});
    const auto again = place.grant(place.folder, FileMode::kReadWrite);
    REQUIRE(again.has_value());
    CHECK(access_at(*again, place.folder / "docs") == Access::kRead);
    CHECK(project::new_protected_names(*again).value().names.empty());
    CHECK(has(refusal(place.grant(place.folder / "docs", FileMode::kReadWrite)),
              "is a git repository by what it holds"));
    // Where case is not folded, another case is another name.
    for (const char* part : {"plain/HEAD", "plain/objects/x", "plain/Refs/x"}) place.write(part);
    CHECK(project::new_protected_names(*again).value().names.empty());
    // Its objects may be another's.
    place.write("other/HEAD");
    place.write("other/commondir");
    CHECK(project::new_protected_names(*again).value().names ==
          std::vector<fs::path>{place.folder / "other"});
  }

  TEST_CASE("the manual names all protected names") {
    const auto manual = read_file(testing::in_source("docs/files.md"));
    REQUIRE(manual.has_value());
    for (const auto& known : project::protected_names()) {
      CAPTURE(known.name);
      CHECK(has(*manual, std::string(known.name)));
    }
  }

  TEST_CASE(
      "each protected name is written as it is compared, says who obeys it and where that stands") {
    std::set<std::string_view> seen;
    for (const auto& known : project::protected_names()) {
      CAPTURE(known.name);
      CHECK(folded(known.name) == known.name);
      CHECK(seen.insert(known.name).second);
      CHECK_FALSE(known.obeyed_by.empty());
      CHECK(known.source.find('.') != std::string_view::npos);
      CHECK(project::is_protected_name(known.name));
    }
    for (const char* name : {"AGENTS.md", "Makefile", "package.json", "README.md", "Cargo.toml",
                             "build.rs", ".gitignore", ".editorconfig", "tsconfig.json",
                             "CMakeLists.txt", "node_modules", "docker-compose.yml", ".env.example",
                             ".gitattributes", "pyproject.toml", "go.mod", ".dockerignore"}) {
      CAPTURE(name);
      CHECK_FALSE(project::is_protected_name(name));
    }
  }

  // Found missing by an attack.
  TEST_CASE("what tools read on entering, opening or pushing a folder is protected") {
    for (const char* name : {".merlin",
                             "hie.yaml",
                             ".factorypath",
                             ".RData",
                             "rust-analyzer.toml",
                             ".htaccess",
                             ".user.ini",
                             ".env.local",
                             ".lfsconfig",
                             ".env.production",
                             ".kilocode",
                             ".build.yml",
                             "appveyor.yml",
                             ".semaphore",
                             ".kilocoderules",
                             ".zuul.yaml",
                             ".tekton",
                             ".azure-pipelines",
                             ".bundle",
                             ".gitlab-ci-local.yml",
                             ".lazy.lua",
                             ".repo",
                             ".lsp",
                             ".emacs.d",
                             "lint-staged.config.mjs",
                             ".pre-commit-config.yml"}) {
      CAPTURE(name);
      CHECK(project::is_protected_name(name));
    }
  }

  TEST_CASE("names of prose beside a tool's own are not protected") {
    for (const char* name :
         {".root", ".rootless.txt", ".bashful", "lefthook-notes.md", "lefthook.md", ".cursors",
          "mise.md", "mise.lock", "captainhook.md", "simple-git-hooks.md", "nano-staged.md",
          "lint-staged.config.md", "directory.build.md", "rust-toolchain.md", "grumphp.md"}) {
      CAPTURE(name);
      CHECK_FALSE(project::is_protected_name(name));
    }
    for (const char* name : {".roo",
                             ".roorules-code",
                             ".bashrc",
                             ".bash_profile",
                             "lefthook.yml",
                             "lefthook-local.toml",
                             ".cursor",
                             ".cursorrules",
                             "mise.toml",
                             "mise.local.toml",
                             "MISE.ci.toml",
                             "captainhook.json",
                             "captainhook.config.json",
                             "simple-git-hooks.cjs",
                             "nano-staged.js",
                             "lint-staged.config.mjs",
                             "Directory.Build.props",
                             "rust-toolchain",
                             "pnpm-workspace.yaml",
                             "prek.toml",
                             "latexmkrc",
                             "gradle.properties",
                             ".run",
                             ".serena"}) {
      CAPTURE(name);
      CHECK(project::is_protected_name(name));
    }
  }

  TEST_CASE("a file is known by its name and itself: one that is made again is another") {
    const TemporaryFolder folder =
        std::move(TemporaryFolder::create("/tmp", "mcpac-test-made-again").value());
    const fs::path path = folder.path() / ".envrc";
    std::set<std::string> seen;
    for (int time = 0; time < 3; ++time) {
      std::ofstream(path) << "one";
      const std::string made = project::file_with_name(path);
      CHECK(seen.insert(made).second);
      std::ofstream(path) << "another";
      fs::permissions(path, fs::perms::owner_all);
      CHECK(project::file_with_name(path) == made);
      // Its inode stays in use: a birth has the time of a clock that stands still for milliseconds.
      fs::create_hard_link(path, folder.path() / ("kept-" + std::to_string(time)));
      fs::remove(path);
      CHECK(project::file_with_name(path) == path.string());
    }
  }

  TEST_CASE("names are protected whole, not by what they contain") {
    CHECK(project::is_protected_name(".git"));
    CHECK(project::is_protected_name(".bashrc"));
    CHECK(project::is_protected_name(".mcpac-anything"));
    CHECK(project::is_protected_name(".claude"));
    CHECK(project::is_protected_name(".cargo"));
    // The same names where case is folded, and what nobody sees is left out.
    for (const char* name :
         {".GIT", ".Git", ".BashRC", ".mcp.JSON", ".\u017f\u017fh", ".hus\u212ay", ".g\u200cit",
          ".git\ufeff", ".\u00dfh", ".pro\ufb01le"}) {
      CAPTURE(name);
      CHECK(project::is_protected_name(name));
    }
    CHECK_FALSE(project::is_protected_name(".gi\u0165"));
    CHECK_FALSE(project::is_protected_name(".gi\xff"));
    CHECK_FALSE(project::is_protected_name(".gitignore"));
    CHECK_FALSE(project::is_protected_name("git"));
    CHECK(project::has_protected_name("/a/.git/b"));
    CHECK_FALSE(project::has_protected_name("/a/x.git/b"));
  }
}
