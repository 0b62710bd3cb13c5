// Calls with lists of paths: however long they are, they are decided, recorded and told of.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "gate/support_gate.h"

using namespace mcpac;
using namespace mcpac::gate;
using namespace mcpac::gate::testing;

namespace {

// Every path is where its text says. Counts what it is asked.
class PlainFiles final : public policy::PathResolver {
 public:
  [[nodiscard]] Result<std::string> resolve(std::string_view path, Work*) const override {
    ++asked;
    return std::string(path);
  }
  [[nodiscard]] Result<std::string> resolve_beneath(std::string_view base,
                                                    const std::vector<std::string>& components,
                                                    Work*) const override {
    ++asked;
    std::string path(base);
    for (const auto& component : components) path += "/" + component;
    return path;
  }
  mutable std::size_t asked = 0;
};

class SaysYes final : public Approver {
 public:
  void ask(const Question&, Done done) override {
    ++asked;
    done({Answered::kOnce, {}, "a script", ""});
  }
  void cancel() override {}
  int asked = 0;
};

Json list_of(std::size_t count, std::string_view last) {
  Json paths = Json::array();
  for (std::size_t i = 1; i < count; ++i) paths.push_back(fmt::format("/srv/data/{:07}", i));
  paths.push_back(last);
  return {{"paths", std::move(paths)}};
}

World::Options options_of(const PlainFiles& files, const std::string& grant) {
  World::Options options;
  options.declared = {"fs.read_many"};
  options.grants = {grant};
  options.resolver = &files;
  return options;
}

constexpr const char* kArgs = "fs.read_many(paths[*] within /srv/data) audit args";
constexpr const char* kHash = "fs.read_many(paths[*] within /srv/data)";
constexpr const char* kHere = "fs.read_many(paths[*] within ./data)";

}  // namespace

TEST_SUITE("gate/many paths") {
  TEST_CASE("a denied call stands in the log and its user hears of it, however long its list is") {
    const PlainFiles files;
    for (const char* grant : {kArgs, kHash}) {
      for (const std::size_t count : {1U, 1'000U, 5'000U, 9'999U, 20'000U, 100'000U}) {
        CAPTURE(grant);
        CAPTURE(count);
        World world(options_of(files, grant));
        const auto answer = world.call("fs.read_many", list_of(count, "/etc/shadow"));
        REQUIRE(answer);
        REQUIRE_FALSE(answer->has_value());
        CHECK(answer->error().kind == ErrorKind::kDenied);
        REQUIRE(world.audit.of("CapabilityCheck").size() == 1);
        CHECK(world.audit.of("CapabilityCheck")[0].at("allowed") == false);
        CHECK(world.told.size() == 1);
        CHECK(world.upstream.calls.empty());
      }
    }
  }

  TEST_CASE("an allowed call with a list is recorded before it is made, or refused") {
    const PlainFiles files;
    for (const char* grant : {kArgs, kHash}) {
      for (const std::size_t count : {1U, 5'000U, 10'000U, 20'000U}) {
        CAPTURE(grant);
        CAPTURE(count);
        World world(options_of(files, grant));
        world.call("fs.read_many", list_of(count, "/srv/data/z"));
        const auto checks = world.audit.of("CapabilityCheck");
        REQUIRE(checks.size() == 1);
        CHECK(world.upstream.calls.size() == (checks[0].at("allowed") == true ? 1 : 0));
        if (checks[0].at("allowed") == false) CHECK(world.told.size() == 1);
      }
    }
  }

  TEST_CASE("a call with too many paths is recorded as too large, without them, and told so") {
    const PlainFiles files;
    for (const char* grant : {kArgs, kHash}) {
      CAPTURE(grant);
      World world(options_of(files, grant));
      const auto answer = world.call("fs.read_many", list_of(20'000, "/srv/data/z"));
      REQUIRE(answer);
      CHECK(answer->error().message.find("fewer of them in a call") != std::string::npos);
      const Json check = world.audit.of("CapabilityCheck").at(0);
      CHECK(check.at("decided_by") == "too_large");
      CHECK_FALSE(check.contains("arguments"));
      CHECK_FALSE(check.contains("paths"));
      CHECK(check.at("arguments_digest").is_string());
      CHECK(to_text(check).size() < 4096);
    }
  }

  TEST_CASE("what is too large to be decided is not let through where rules are only observed") {
    const PlainFiles files;
    auto options = options_of(files, kHash);
    options.mode = Mode::kObserve;
    World world(options);
    world.call("fs.read_many", list_of(20'000, "/srv/data/z"));
    CHECK(world.upstream.calls.empty());
    world.call("fs.read_many", list_of(10, "/etc/shadow"));
    CHECK(world.upstream.calls.size() == 1);
  }

  TEST_CASE("a call that turns out to be too large after a yes is refused, and recorded so") {
    const PlainFiles files;
    SaysYes approver;
    auto options = options_of(files, kArgs);
    options.asks = {"fs.read_many(paths[*] within /srv/data)"};
    options.asking.approver = &approver;
    options.asking.binding = {"p", "h", "l", "r", "e"};
    World world(options);
    world.call("fs.read_many", list_of(10, "/srv/data/z"));
    CHECK(world.upstream.calls.size() == 1);
    world.call("fs.read_many", list_of(20'000, "/srv/data/z"));
    CHECK(approver.asked == 2);
    CHECK(world.upstream.calls.size() == 1);
    const Json check = world.audit.of("CapabilityCheck").at(1);
    CHECK(check.at("decided_by") == "too_large");
    CHECK(check.at("allowed") == false);
    CHECK_FALSE(check.contains("arguments"));
    CHECK(world.told.size() == 1);
  }

  TEST_CASE("a denial that cannot be recorded is one that its user hears of") {
    const PlainFiles files;
    World world(options_of(files, kHash));
    world.audit.full = true;
    const auto answer = world.call("fs.read_many", list_of(3, "/etc/shadow"));
    REQUIRE(answer);
    CHECK(answer->error().kind == ErrorKind::kInternal);
    CHECK(world.told.size() == 1);
  }

  TEST_CASE("a denial is explained once, and those like it are counted") {
    const PlainFiles files;
    World world(options_of(files, kHere));
    const auto deny = [&](std::size_t n) {
      world.call("fs.read_many", {{"paths", {"data/ok", fmt::format("other/{}", n)}}});
    };
    deny(1);
    REQUIRE(world.told.size() == 1);
    CHECK(world.told[0].taken_for.find("/srv/other/1") != std::string::npos);
    files.asked = 0;
    for (int i = 0; i < 100; ++i) deny(1);
    CHECK(world.told.size() == 101);
    CHECK(files.asked == 100);  // once to decide, and never to explain
    // A program that invents kinds without end has the first of them explained, and decisions made.
    files.asked = 0;
    for (std::size_t i = 0; i < 1'000; ++i) deny(100 + i);
    CHECK(world.told[105].taken_for.find("/srv/other/104") != std::string::npos);
    CHECK(world.told.back().taken_for.empty());
    CHECK(files.asked < 1'100);
  }

  TEST_CASE("what nobody hears of is not explained") {
    const PlainFiles files;
    auto options = options_of(files, kHere);
    options.mode = Mode::kObserve;
    World world(options);
    world.call("fs.read_many", {{"paths", {"data/ok", "other"}}});
    CHECK(world.told.empty());
    const auto observed = files.asked;
    files.asked = 0;
    World told(options_of(files, kHere));
    told.call("fs.read_many", {{"paths", {"data/ok", "other"}}});
    CHECK(observed < files.asked);
  }
}
