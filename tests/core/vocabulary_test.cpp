// The small words that every room uses: errors, permissions, ids, digests, times.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/hash.h"
#include "core/ids.h"
#include "core/permission.h"
#include "core/rfc3339.h"

namespace mcpac {
namespace {

class StandingClock final : public Clock {
 public:
  explicit StandingClock(std::chrono::microseconds since_epoch) : now_(since_epoch) {}
  void set(std::chrono::microseconds since_epoch) { now_ = since_epoch; }
  [[nodiscard]] std::chrono::steady_clock::time_point steady_now() const override { return {}; }
  [[nodiscard]] std::chrono::system_clock::time_point wall_now() const override {
    return std::chrono::system_clock::time_point(now_);
  }

 private:
  std::chrono::microseconds now_;
};

constexpr std::chrono::milliseconds kNoon(0x0192f3a4b5c6);

TEST_SUITE("core/error") {
  TEST_CASE("an error says its id, what, where, why and fix") {
    const Result<int> failed =
        fail(ErrorId::kLockDrift, "the tool changed",
             {.where = "mcpac.lock:3", .why = "it is pinned", .fix = "mcpac generate"});
    REQUIRE_FALSE(failed);
    CHECK(failed.error().to_text() ==
          "error[MCPAC-E0402]: the tool changed\n  --> mcpac.lock:3\n  why: it is pinned\n  fix: "
          "mcpac generate");
  }

  TEST_CASE("what an error does not know, it does not print") {
    const Result<int> failed = fail(ErrorId::kUsage, "no command");
    CHECK(failed.error().to_text() == "error[MCPAC-E1000]: no command");
  }

  TEST_CASE("an error passed on stays what it was") {
    Result<int> inner = fail(ErrorId::kJsonSyntax, "malformed", {.where = "a:1:1"});
    const Error before = inner.error();
    const Result<std::string> outer = pass_on(inner);
    REQUIRE_FALSE(outer);
    CHECK(outer.error() == before);
  }
}

TEST_SUITE("core/permission") {
  TEST_CASE("a permission is a server and a tool, parted by the first dot") {
    const auto permission = Permission::parse("file-system.read/a.b");
    REQUIRE(permission);
    CHECK(permission->server() == "file-system");
    CHECK(permission->tool() == "read/a.b");
    CHECK(permission->text() == "file-system.read/a.b");
    CHECK(*permission == *Permission::of("file-system", "read/a.b"));
  }

  TEST_CASE("what is not a permission is refused") {
    for (const std::string text :
         {"", "a", ".", "a.", ".b", "a b.c", "a/b.c", "\xc3\xa4.b", "a.b\n", "a.\x7f"}) {
      CAPTURE(text);
      CHECK_FALSE(Permission::parse(text));
    }
    CHECK_FALSE(Permission::of("a.b", "c"));
    CHECK_FALSE(Permission::of("a\xc3\xa4", "c"));
    CHECK(Permission::of("a b", "c"));
    CHECK_FALSE(Permission::of("a", std::string("b\0c", 3)));
  }

  TEST_CASE("names are bounded, and so is what an error repeats of them") {
    CHECK(Permission::of(std::string(64, 'a'), std::string(256, 'b')));
    CHECK_FALSE(Permission::of(std::string(65, 'a'), "b"));
    CHECK_FALSE(Permission::of("a", std::string(257, 'b')));
    // What an agent does beside tools has permissions of its own, which no server may claim.
    CHECK(Permission::parse("mcpac.spawn"));
    CHECK_FALSE(is_server_name("mcpac"));
    CHECK(is_server_name("mcpac2"));
    CHECK(Permission::parse(std::string(100'000, 'a')).error().to_text().size() < 400);
    CHECK(Permission::parse(std::string(100'000, 'a') + ".b").error().to_text().size() < 400);
  }
}

TEST_SUITE("core/ids") {
  TEST_CASE("an id is a UUID of version 7 that begins with its milliseconds") {
    const std::string id = new_uuid_v7(StandingClock(kNoon));
    REQUIRE(id.size() == 36);
    CHECK(id.starts_with("0192f3a4-b5c6-7"));
    CHECK(std::string("89ab").find(id[19]) != std::string::npos);
    for (const std::size_t dash : {8U, 13U, 18U, 23U}) CHECK(id[dash] == '-');
    CHECK(id.find_first_not_of("0123456789abcdef-") == std::string::npos);
  }

  TEST_CASE("ids of one millisecond differ") {
    const StandingClock clock(kNoon);
    std::set<std::string> ids;
    for (int i = 0; i < 1000; ++i) ids.insert(new_uuid_v7(clock));
    CHECK(ids.size() == 1000);
  }

  TEST_CASE("a sequence rises within a millisecond, over a step back and beyond it") {
    StandingClock clock(kNoon);
    UuidV7Sequence sequence;
    std::vector<std::string> ids;
    const auto take = [&](int count) {
      for (int i = 0; i < count; ++i) ids.push_back(sequence.next(clock));
    };
    take(5000);
    clock.set(kNoon - std::chrono::hours(1));
    take(5000);
    clock.set(kNoon + std::chrono::milliseconds(1));
    take(10);
    CHECK(std::ranges::adjacent_find(ids, std::greater_equal<>()) == ids.end());
    for (const auto& id : ids) {
      REQUIRE(id[14] == '7');
      REQUIRE(std::string("89ab").find(id[19]) != std::string::npos);
    }
    CHECK(ids.back().starts_with("0192f3a4-b5c7-7"));
  }
}

TEST_SUITE("core/hash") {
  TEST_CASE("the digests are those of FIPS 180-4") {
    CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  }
}

TEST_SUITE("core/rfc3339") {
  TEST_CASE("a time is written in UTC with six digits of a second") {
    using std::chrono::microseconds;
    using std::chrono::system_clock;
    CHECK(rfc3339_utc(system_clock::time_point(microseconds(0))) == "1970-01-01T00:00:00.000000Z");
    CHECK(rfc3339_utc(system_clock::time_point(microseconds(951'782'399'999'999))) ==
          "2000-02-28T23:59:59.999999Z");
    CHECK(rfc3339_utc(system_clock::time_point(microseconds(951'782'400'000'007))) ==
          "2000-02-29T00:00:00.000007Z");
  }
}

}  // namespace
}  // namespace mcpac
