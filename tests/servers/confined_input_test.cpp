// What people write into a "sandbox", and what lies on their disks: what works, and what is said.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "core/file.h"
#include "core/shell_quote.h"
#include "project/support_folding_disk.h"
#include "servers/confine/confine_servers.h"

using namespace mcpac;

namespace {

namespace fs = std::filesystem;

class InputDisk {
 public:
  explicit InputDisk(const std::string& project = "a project, ünï='x' $(1)") : project_(project) {
    fs::create_directories(path("data/inner"));
    fs::create_directories(path("beside"));
    std::ofstream(path("a file")) << "x";
    fs::create_directory_symlink("beside", path("link"));
    fs::create_directory_symlink(path(""), root() / "above");
  }
  [[nodiscard]] fs::path root() const { return folder_.path(); }
  [[nodiscard]] std::string path(const std::string& below) const {
    return (root() / project_ / below).lexically_normal().string();
  }
  // "rw", "ro" or "none" at each place that is asked for, or the error. `through`: the name of the
  // project's folder.
  std::string given(const std::vector<std::string>& files, const std::vector<std::string>& asked,
                    const std::string& through = "") const {
    const fs::path folder = root() / (through.empty() ? project_ : through);
    project::Project project;
    project.config_file = folder / "mcpac.json";
    project.folder = folder;
    project::Folders folders;
    folders.libexec = "/nowhere";
    folders.cache = root() / "cache";
    mcp::SpawnOptions options{.program = "/bin/sh"};
    options.arguments = {"sh"};
    options.working_directory = folder.string();
    options.confined = mcp::ConfinedSpawn{.confiner = nullptr, .server = "one", .places = files};
    const auto spec = servers::confined_spec(project, folders, options);
    if (!spec) return spec.error().to_text();
    std::string all;
    for (const auto& place : asked) {
      std::string access = "none";
      for (const auto& mount : spec->mounts) {
        if (mount.inside == path(place) && mount.kind == sandbox::Mount::Kind::kHost)
          access = mount.access == sandbox::Mount::Access::kReadWrite ? "rw" : "ro";
      }
      all += (all.empty() ? "" : " ") + access;
    }
    return all;
  }

 private:
  std::string project_;
  TemporaryFolder folder_ = std::move(
      TemporaryFolder::create(fs::canonical(fs::temp_directory_path()), "mcpac-test-input")
          .value());
};

}  // namespace

TEST_SUITE("execute/confined input") {
  TEST_CASE("places of a sandbox are those that were written, whatever their names are") {
    const InputDisk disk;
    CHECK(disk.given({"./data:rw", "beside"}, {"data", "beside", "link"}) == "rw ro none");
    // A file; a place in another, which keeps what it was given; the same twice.
    CHECK(disk.given({"./a file"}, {"a file"}) == "ro");
    CHECK(disk.given({"./a file:rw"}, {"a file"}) == "rw");
    CHECK(disk.given({"./data:rw", "./data/inner"}, {"data", "data/inner"}) == "rw ro");
    CHECK(disk.given({"./data", "./data/inner:rw"}, {"data", "data/inner"}) == "ro rw");
    CHECK(disk.given({"./data", "./data/:rw"}, {"data"}) == "rw");
    // By the real name of a project's folder, however that was reached.
    CHECK(disk.given({"./data:rw", "./data/../beside"}, {"data", "beside"}, "above") == "rw ro");
  }

  TEST_CASE("a place that cannot be given is refused with its id and what to write") {
    const InputDisk disk;
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"./link", "grant the real place"},
        {"./link/x", "leads through a link"},
        {"./gone:rw", "mkdir"},
        {"./data:wr", "is not there"},
        {"", "write \"./data\""},
        {"/", "cannot be granted"},
        // A home is never given as a whole; what only a shell reads is said.
        {"~", "never given as a whole"},
        {"~/:rw", "never given as a whole"},
        {"~/x:rw", "write \"" + project::home_of_user() + "/x:rw\""},
        {"~other/x", "read by no shell"},
        {"$HOME/x:rw", "read by no shell"},
        {"/proc/self", "kernel's view"},
        {disk.root().string() + "/cache/x", "mcpac's own"},
        {disk.root().string(), "lies in it"},
    };
    for (const auto& [file, said] : cases) {
      const std::string text = disk.given({file}, {});
      CAPTURE(text);
      CHECK(text.contains("MCPAC-E0720"));
      CHECK(text.contains(said));
      CHECK(text.contains("fix: "));
    }
    // One that vanishes between a start and the next: the next is refused, and not with less.
    CHECK(disk.given({"./data:rw"}, {"data"}) == "rw");
    fs::rename(disk.path("data"), disk.path("moved"));
    CHECK(disk.given({"./data:rw"}, {"data"}).contains("MCPAC-E0720"));
    // What came instead of it is judged anew.
    fs::create_directory_symlink("/etc", disk.path("data"));
    CHECK(disk.given({"./data:rw"}, {"data"}).contains("leads through a link"));
  }

  TEST_CASE("a chain of folders that a server made is refused in a few words, with what to do") {
    const InputDisk disk;
    // So deep that all the paths in it are more than is read; made as a program makes it.
    const std::string name(250, 'd');
    UniqueFd at(::open(disk.path("data").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    for (int i = 0; i < 760 && at; ++i) {
      REQUIRE(::mkdirat(at.get(), name.c_str(), 0755) == 0);
      at = UniqueFd(::openat(at.get(), name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    }
    at.reset();
    const std::string text = disk.given({"./data:rw"}, {"data"});
    CAPTURE(text);
    CHECK(text.contains("MCPAC-E0720"));
    CHECK(text.contains("folders one in the other"));
    CHECK(text.contains("rm -r "));
    CHECK(text.size() < 2'000);
    // What it says to do does it.
    const std::string chain = (fs::path(disk.path("data")) / name).string();
    CHECK(text.contains("rm -r " + shell_quoted(chain) + ";"));
    CHECK(std::system(("rm -r " + shell_quoted(chain)).c_str()) == 0);
    CHECK(disk.given({"./data:rw"}, {"data"}) == "rw");
  }

  TEST_CASE("a disk that folds case gives the place that was written, by one of its names") {
    const InputDisk disk("folding");
    const testing::FoldingDisk folding(disk.path("disk"));
    if (!folding.why_not().empty()) {
      MESSAGE("skipped: " << folding.why_not());
      return;
    }
    CHECK(disk.given({"./disk/Notes.txt"}, {"disk/Notes.txt"}) == "ro");
    CHECK(disk.given({"./disk"}, {"disk"}) == "ro");
  }
}
