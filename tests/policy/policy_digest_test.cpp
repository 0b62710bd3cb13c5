// What has its say in the digest that an approval is bound to.
#include "policy/policy_digest.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "policy/support_world.h"

namespace mcpac::policy::testing {
namespace {

LayerText layer(std::string name, std::vector<std::string> grants) {
  return {
      .name = std::move(name), .grants = std::move(grants), .asks = {}, .denies = {}, .files = {}};
}

std::string digest(const World& world, const std::vector<LayerText>& layers) {
  auto authority = world.load(layers);
  REQUIRE_MESSAGE(authority, (authority ? "" : authority.error().to_text()));
  return policy_digest(*authority);
}

}  // namespace

TEST_CASE("the same rules have the same digest, however they came in and were spelled") {
  const World world;
  const auto base = digest(world, {layer("run", {"kv.get(key == \"a\")", "kv.set"})});
  CHECK(base.size() == 64);
  CHECK(digest(world, {layer("run", {"kv.get( key==\"a\" )", "kv.set"})}) == base);
  LayerText file = layer("run", {});
  file.files = {"# a comment\nallow kv.get(key == \"a\")\n\npolicy \"p\" { allow kv.set }"};
  CHECK(digest(world, {file}) == base);
}

TEST_CASE("another rule, layer, effect, profile, place or price is another digest") {
  World world;
  const std::vector<LayerText> layers = {layer("run", {"kv.get"})};
  const auto base = digest(world, layers);
  CHECK(digest(world, {layer("run", {"kv.set"})}) != base);
  CHECK(digest(world, {layer("run", {"kv.get calls <= 3"})}) != base);
  CHECK(digest(world, {layer("other", {"kv.get"})}) != base);
  CHECK(digest(world, {layer("run", {}), layer("run", {"kv.get"})}) != base);
  CHECK(digest(world, {layers[0], layer("mcpac.policy", {"kv.*"})}) != base);
  LayerText asks = layer("run", {});
  asks.asks = {"kv.get"};
  CHECK(digest(world, {asks}) != base);

  SUBCASE("profiles") {
    LayerText run = layers[0];
    run.profile_files = {"profile \"small\" { allow kv.set }\nprofile \"wide\" { allow kv.* }"};
    CHECK(digest(world, {run}) == base);  // none of them is used
    run.profiles = {"small"};
    const auto small = digest(world, {run});
    CHECK(small != base);
    run.profiles = {"wide"};
    CHECK(digest(world, {run}) != small);
    CHECK(digest(world, {run}) != base);
  }
  SUBCASE("prices") {
    world.prices[Permission::parse("kv.get").value()] = Money{20'000, "USD"};
    const auto priced = digest(world, layers);
    CHECK(priced != base);
    world.prices[Permission::parse("kv.get").value()] = Money{20'001, "USD"};
    CHECK(digest(world, layers) != priced);
  }
  SUBCASE("places") {
    for (auto* place : {&world.bases.current_directory, &world.bases.home}) {
      const std::string before = std::exchange(*place, "/elsewhere");
      CHECK(digest(world, layers) != base);
      *place = before;
    }
    world.bases.roots["kv"] = "/data";
    const auto rooted = digest(world, layers);
    CHECK(rooted != base);
    world.bases.remote_servers.insert("kv");
    const auto remote = digest(world, layers);
    CHECK(remote != rooted);
    world.bases.working_directories["kv"] = "/work";
    CHECK(digest(world, layers) != remote);
  }
}

// An answer that was given for one folder is none for another that a link leads to since.
TEST_CASE("the base of a path test that leads to another folder is another digest") {
  const World world;
  world.put("A", "dir");
  world.put("B", "dir");
  const std::filesystem::path link = std::filesystem::path(world.base()) / "cur";
  const auto turn_to = [&](const char* target) {
    std::filesystem::remove(link);
    std::filesystem::create_directory_symlink(target, link);
  };
  for (const char* rule : {"kv.get(key within ./cur)", "kv.get(key matches ./cur/*.txt)",
                           "kv.get(key within ./ except {./cur/x})"}) {
    CAPTURE(rule);
    turn_to("A");
    const auto before = digest(world, {layer("run", {rule})});
    CHECK(digest(world, {layer("run", {rule})}) == before);
    turn_to("B");
    CHECK(digest(world, {layer("run", {rule})}) != before);
  }
  // A link that no rule names does not count, and neither does what self-tests look at.
  const auto other = digest(world, {layer("run", {"kv.get(key within ./A)"})});
  turn_to("A");
  CHECK(digest(world, {layer("run", {"kv.get(key within ./A)"})}) == other);
  LayerText tested = layer("run", {});
  tested.files = {"allow kv.get(key within ./A)\nnot_match kv.get {\"key\": \"./cur/../cur/x\"}"};
  CHECK(digest(world, {tested}) == other);
}

}  // namespace mcpac::policy::testing
