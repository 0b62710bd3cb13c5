// A folder whose changes land elsewhere: an overlay, with the same rights as a plain writable
// mount.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "core/file.h"
#include "sandbox/support_sandbox.h"

namespace mcpac::sandbox::test {
namespace {

using Access = Mount::Access;
namespace fs = std::filesystem;

struct Place {
  TemporaryFolder folder = TemporaryFolder::create("/tmp", "mcpac-test-overlay").value();
  fs::path lower = folder.path() / "lower";
  // Characters that an option of mount(2) could not hold.
  fs::path changes = folder.path() / "changes,x:y";

  Place() {
    fs::create_directories(lower / "inner");
    fs::create_directories(changes / "upper");
    fs::create_directories(changes / "work");
    std::ofstream(lower / "text") << "content";
    std::ofstream(lower / "inner" / "kept") << "kept";
    ::chmod((lower / "text").c_str(), 0600);
  }
  // The kernel's own folder in there lets nobody in, and could not be removed.
  ~Place() { ::chmod((changes / "work" / "work").c_str(), 0700); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
};

Spec in_overlay(const Place& place, std::vector<std::string> words) {
  Spec spec = hostile(std::move(words), kCompiler);
  spec.mounts = {{place.lower, "/w", Access::kReadWrite, {}, place.changes}};
  spec.work_directory = "/w";
  spec.limits.file_size = 1024;
  return spec;
}

std::string content(const fs::path& file) {
  auto text = read_file(file);
  return text ? *text : "absent";
}

}  // namespace

TEST_SUITE("sandbox/overlay") {
  TEST_CASE("what is written lands in the changes, and the folder stays as it was") {
    const Place place;
    auto warden = Warden::start(warden_program());
    REQUIRE(warden);
    const auto go = [&](std::vector<std::string> words) {
      return describe(run(*warden, in_overlay(place, std::move(words))));
    };
    CHECK(go({"show", "/w/text"}) == "exit 0 content");
    CHECK(go({"create", "/w/new"}) == "exit 0");
    CHECK(go({"create", "/w/inner/new"}) == "exit 0");
    CHECK_FALSE(fs::exists(place.lower / "new"));
    CHECK_FALSE(fs::exists(place.lower / "inner" / "new"));
    CHECK(fs::exists(place.changes / "upper" / "new"));
    CHECK(fs::exists(place.changes / "upper" / "inner" / "new"));
    struct stat made {};
    REQUIRE(::stat((place.changes / "upper" / "new").c_str(), &made) == 0);
    CHECK(made.st_uid == ::geteuid());
    CHECK(content(place.lower / "text") == "content");
    // The layers themselves are nowhere inside.
    CHECK(go({"stat", "/.mcpac-upper"}) == "exit 10 ENOENT");
    CHECK(go({"stat", "/.mcpac-lower"}) == "exit 10 ENOENT");
  }

  TEST_CASE("a read-only mount holds inside of an overlay") {
    const Place place;
    Spec spec = in_overlay(place, {"create", "/w/inner/kept"});
    spec.mounts.push_back({place.lower / "inner", "/w/inner"});
    CHECK(run_once(spec).starts_with("exit 10"));
    CHECK(content(place.lower / "inner" / "kept") == "kept");
    CHECK_FALSE(fs::exists(place.changes / "upper" / "inner" / "kept"));
  }

  TEST_CASE("an ordinary user gets an overlay, too") {
    const std::string answer = in_child([] {
      if (!become_user()) return std::string("cannot change ids");
      const Place place;
      const std::string how = run_once(in_overlay(place, {"create", "/w/new"}));
      struct stat made {};
      const bool own = ::stat((place.changes / "upper" / "new").c_str(), &made) == 0 &&
                       made.st_uid == ::geteuid();
      return how + (own ? ", ours" : ", not ours") +
             (fs::exists(place.lower / "new") ? ", written through" : "");
    });
    CHECK(answer == "exit 0, ours");
  }

  TEST_CASE("another file than the one that was seen is not mounted") {
    const Place place;
    Spec spec = in_overlay(place, {"show", "/w/text"});
    spec.mounts.front().identity = {.device = 1, .inode = 1};
    CHECK(run_once(spec).find("another file") != std::string::npos);
  }

  TEST_CASE("no overlay is made of a file, of a read-only place, or without its folders") {
    const Place place;
    Spec file = in_overlay(place, {"show", "/w"});
    file.mounts.front().host = place.lower / "text";
    CHECK(run_once(file).find("only a writable folder") != std::string::npos);
    Spec read_only = in_overlay(place, {"show", "/w/text"});
    read_only.mounts.front().access = Access::kRead;
    CHECK(run_once(read_only).find("only a writable folder") != std::string::npos);
    fs::remove(place.changes / "upper");
    CHECK(run_once(in_overlay(place, {"show", "/w/text"})).starts_with("error MCPAC-E0601"));
    CHECK(content(place.lower / "text") == "content");
  }

  TEST_CASE("without a mount namespace nothing runs with an overlay, and nothing is written") {
    const std::string answer = in_child([] {
      if (!lack(Lacking::kNamespaces)) return std::string("cannot lack");
      const Place place;
      Spec spec = in_overlay(place, {"create", (place.lower / "new").native()});
      spec.mounts.front().inside = place.lower;
      spec.lowest_tier = Tier::kB;
      return run_once(spec) + (fs::exists(place.lower / "new") ? ", written through" : "");
    });
    CHECK(answer.starts_with("error MCPAC-E0603"));
    CHECK(answer.find("written through") == std::string::npos);
  }
}

}  // namespace mcpac::sandbox::test
