// What a program can do to the file system while a path is decided.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "policy/support_world.h"

namespace mcpac::policy::testing {
namespace {

constexpr int kFlips = 100'000;

// Exchanges two names of a folder, at once, again and again (renameat2(2)).
class Flipper {
 public:
  Flipper(std::string one, std::string other)
      : thread_([this, one = std::move(one), other = std::move(other)] {
          for (int i = 0; i < kFlips; ++i) {
            if (::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) != 0)
              failed_ = true;
          }
          done_ = true;
        }) {}
  ~Flipper() { thread_.join(); }
  Flipper(const Flipper&) = delete;
  Flipper& operator=(const Flipper&) = delete;
  [[nodiscard]] bool done() const { return done_; }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  std::atomic<bool> done_ = false;
  std::atomic<bool> failed_ = false;
  std::thread thread_;
};

}  // namespace

TEST_CASE("a link that flips between inside and outside is never resolved to outside") {
  const World world;
  world.put("data/inside/key", "file");
  world.put("outside/key", "file");
  world.put("data/flip", "-> inside");
  world.put("data/other", "-> ../outside");
  const SystemPathResolver resolver;
  const std::string base = world.base() + "/data";
  int inside = 0;
  int refused = 0;
  const Flipper flipper(base + "/flip", base + "/other");
  while (!flipper.done()) {
    const auto resolved = resolver.resolve_beneath(base, {"flip", "key"});
    refused += resolved ? 0 : 1;
    inside += resolved ? 1 : 0;
    if (resolved) REQUIRE(*resolved == base + "/inside/key");
  }
  CHECK_FALSE(flipper.failed());
  CHECK(inside > 0);
  CHECK(refused > 0);
}

TEST_CASE("a folder that flips with a link to outside is admitted as the folder or not at all") {
  const World world;
  world.put("data/flip/key", "file");
  world.put("outside/key", "file");
  world.put("data/other", "-> ../outside");
  auto authority = world.grant({"filesystem.read_text_file(path within ./data)"}).value();
  const auto read = Permission::parse("filesystem.read_text_file").value();
  const SystemPathResolver resolver;
  const std::string base = world.base() + "/data";
  int allowed = 0;
  int refused = 0;
  const Flipper flipper(base + "/flip", base + "/other");
  while (!flipper.done()) {
    const auto resolved = resolver.resolve_beneath(base, {"flip", "key"});
    if (resolved) REQUIRE(*resolved == base + "/flip/key");
    (authority.decide(read, {{"path", "data/flip/key"}}).allowed() ? allowed : refused)++;
  }
  CHECK_FALSE(flipper.failed());
  CHECK(allowed > 0);
  CHECK(refused > 0);
  // What really leads outside is refused whenever nothing moves.
  CHECK_FALSE(authority.decide(read, {{"path", "data/other/key"}}).allowed());
}

}  // namespace mcpac::policy::testing
