// What one call may have looked up on the disk: how much, and that the rest is denied.
#include "policy/match/path_facts.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdint>

#include "policy/policy_record.h"
#include "policy/support_world.h"

namespace mcpac::policy::testing {
namespace {

const Permission kMany = Permission::parse("fs.read_many").value();

// Every path is where its text says, and costs what the test wants it to.
class CountingFiles final : public PathResolver {
 public:
  [[nodiscard]] Result<std::string> resolve(std::string_view path, Work* work) const override {
    return answer(std::string(path), work);
  }
  [[nodiscard]] Result<std::string> resolve_beneath(std::string_view base,
                                                    const std::vector<std::string>& components,
                                                    Work* work) const override {
    std::string path(base);
    for (const auto& component : components) path += "/" + component;
    return answer(std::move(path), work);
  }
  mutable std::size_t asked = 0;
  std::size_t cost = 0;

 private:
  Result<std::string> answer(std::string path, Work* work) const {
    ++asked;
    if (work != nullptr) work->spend(cost);
    return path;
  }
};

enum class Made : std::uint8_t { kNow, kFromRecord };

struct ManyPaths {
  explicit ManyPaths(const std::vector<std::string>& grants,
                     const std::vector<std::string>& denies = {}, Made made = Made::kNow) {
    tools.emplace(kMany, Json::parse(R"({"type": "object", "properties": {"paths":
        {"type": "array", "items": {"type": "string"}}}})"));
    Environment environment{.tools = &tools,
                            .resolver = &files,
                            .clock = nullptr,
                            .bases = {},
                            .is_replay = made == Made::kFromRecord};
    environment.bases.current_directory = "/srv";
    auto loaded = Authority::load({LayerText{.name = "the command line",
                                             .grants = grants,
                                             .asks = {},
                                             .denies = denies,
                                             .files = {}}},
                                  environment);
    REQUIRE(loaded);
    authority.emplace(std::move(*loaded));
    files.asked = 0;
  }

  Decision decide(const Json& arguments) {
    evidence = {};
    return authority->decide(kMany, arguments, {}, evidence);
  }

  ToolSchemas tools;
  CountingFiles files;
  std::optional<Authority> authority;
  Evidence evidence;
};

Json list_of(std::size_t count, std::string_view pattern = "/srv/data/{:06}") {
  Json paths = Json::array();
  for (std::size_t i = 0; i < count; ++i) paths.push_back(fmt::format(fmt::runtime(pattern), i));
  return {{"paths", std::move(paths)}};
}

}  // namespace

TEST_CASE("so many paths are looked up for one call, and one more is denied by no rule") {
  ManyPaths world({"fs.read_many(paths[*] within ./data)"});
  CHECK(world.decide(list_of(kPathsOfOneCall.questions)).allowed());
  CHECK(world.files.asked == kPathsOfOneCall.questions);
  world.files.asked = 0;
  const auto decision = world.decide(list_of(10 * kPathsOfOneCall.questions));
  CHECK(decision.effect == Effect::kDeny);
  CHECK(decision.too_large);
  CHECK(decision.rule.empty());
  CHECK(decision.would_grant.empty());
  CHECK(decision.reason.find("fewer") != std::string::npos);
  CHECK(world.evidence.layers.empty());
  CHECK(world.files.asked == kPathsOfOneCall.questions);
  // And the next call is decided as ever.
  CHECK(world.decide(list_of(3)).allowed());
}

TEST_CASE("too many paths are denied where a deny would have to look at them, too") {
  ManyPaths world({"fs.read_many"}, {"fs.read_many(paths[*] within ./secret)"});
  CHECK(world.decide(list_of(100)).allowed());
  CHECK(world.decide(list_of(2 * kPathsOfOneCall.questions)).too_large);
  CHECK_FALSE(
      world.authority->explain(kMany, list_of(2 * kPathsOfOneCall.questions)).decision.allowed());
}

TEST_CASE("a path that a call names again is not looked up again, and is not for nothing") {
  ManyPaths world({"fs.read_many(paths[*] within ./data)"});
  CHECK(world.decide(list_of(50'000, "/srv/data/a")).allowed());
  CHECK(world.files.asked == 1);
  CHECK(world.decide(list_of(1'000'000, "/srv/data/a")).too_large);
}

TEST_CASE("a denial looks nothing up that was looked up for it before") {
  ManyPaths world({"fs.read_many(paths[*] within ./data)"});
  Json arguments = list_of(500);
  arguments["paths"].push_back("/srv/other");
  CHECK_FALSE(world.decide(arguments).allowed());
  CHECK_FALSE(world.evidence.missed.empty());
  CHECK(world.files.asked == 500);
}

TEST_CASE("paths that take long to look up count for more") {
  ManyPaths world({"fs.read_many(paths[*] within ./data)"});
  world.files.cost = kPathsOfOneCall.work / 100;
  CHECK(world.decide(list_of(50)).allowed());
  CHECK(world.decide(list_of(150)).too_large);
  CHECK(world.files.asked < 250);
}

TEST_CASE("folders that must be read for a path, and links on its way, are work") {
  const World world;
  for (int i = 0; i < 1'000; ++i) world.put(fmt::format("data/{}", i), "file");
  world.put("data/0link", "-> 0link1");
  for (int i = 1; i < 20; ++i)
    world.put(fmt::format("data/0link{}", i), fmt::format("-> 0link{}", i + 1));
  world.put("data/0link20", "-> 1");
  const SystemPathResolver files;
  const std::string base = world.base() + "/data";
  const auto cost = [&](const std::string& name) {
    Work work(1'000'000);
    CHECK(files.resolve_beneath(base, {name}, &work).has_value());
    return 1'000'000 - work.left();
  };
  CHECK(cost("missing") > cost("1"));
  CHECK(cost("0link") > 20 * cost("1"));
  CHECK(cost("Kelvin") > cost("missing") + 10'000);
  // Where it does not suffice, nothing is admitted: not even a name that is not there.
  for (const std::string name : {"1", "missing", "0link", "Kelvin"}) {
    CAPTURE(name);
    Work work(cost(name) - 1);
    CHECK_FALSE(files.resolve_beneath(base, {name}, &work).has_value());
    CHECK(work.left() == 0);
    Work enough(cost(name));
    CHECK(files.resolve_beneath(base, {name}, &enough).has_value());
  }
}

TEST_CASE("what a record of paths takes is known to the byte") {
  std::vector<PathFact> facts = {{"", "/a\"b\n\xC3\xA9", "/x\x01"},
                                 {"/srv", "c", std::nullopt},
                                 {"", "/a", "/a", "own folder 803:2 803:12"},
                                 {"", "/b", std::nullopt, ""}};
  Json list = Json::array();
  for (const auto& fact : facts) list.push_back(to_json(fact));
  const auto text = to_text(list).size();
  CHECK(recorded_size(facts) >= text);
  CHECK(recorded_size(facts) < text + 12 * facts.size());
}

TEST_CASE("a call that is recorded has no more paths than a record holds") {
  const Json arguments = list_of(4'000, "/srv/data/" + std::string(80, 'x') + "{:06}");
  ManyPaths hashed({"fs.read_many(paths[*] within ./data)"});
  CHECK(hashed.decide(arguments).allowed());
  CHECK(hashed.evidence.paths.empty());
  ManyPaths whole({"fs.read_many(paths[*] within ./data) calls <= 2 audit args"});
  CHECK(whole.decide(list_of(1'000)).allowed());
  CHECK(whole.evidence.paths.size() == 1'000);
  const auto decision = whole.decide(arguments);
  CHECK(decision.too_large);
  CHECK(decision.reason.find("fewer") != std::string::npos);
  CHECK(whole.evidence.paths.empty());
  // It has used nothing up.
  CHECK(whole.decide(list_of(1)).allowed());
  CHECK_FALSE(whole.decide(list_of(1)).allowed());
}

// The record bounds what is asked: there is no more in it than there is.
TEST_CASE("a call of an older record is decided again, however many paths it had") {
  const std::vector<std::string> grants = {"fs.read_many(paths[*] within ./data) audit args"};
  const Json many = list_of(2 * kPathsOfOneCall.questions);
  CHECK(ManyPaths(grants).decide(many).too_large);
  ManyPaths again(grants, {}, Made::kFromRecord);
  CHECK(again.decide(many).allowed());
  CHECK(again.files.asked == 2 * kPathsOfOneCall.questions);
  CHECK(recorded_size(again.evidence.paths) > kMaxPathFactBytes);
  Json arguments = many;
  arguments["paths"].push_back("/etc/shadow");
  const auto denied = again.decide(arguments);
  CHECK_FALSE(denied.allowed());
  CHECK_FALSE(denied.too_large);
}

}  // namespace mcpac::policy::testing
