#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/file.h"
#include "policy/explain/taken_for.h"
#include "policy/support_world.h"

namespace mcpac::policy::testing {
namespace {

Permission tool(std::string_view text) {
  return Permission::parse(text).value();
}

LayerText rules(std::string name, std::vector<PolicyFile> files) {
  return {
      .name = std::move(name), .grants = {}, .asks = {}, .denies = {}, .files = std::move(files)};
}

}  // namespace

TEST_CASE("an explanation tells of every rule that speaks of the tool, and where it stands") {
  World world;
  world.put("data/a.txt", "file");
  auto authority =
      world
          .load(
              {rules("the command line",
                     {PolicyFile("# reading\nallow filesystem.read_text_file(path within ./data)"
                                 "\nallow kv.get\nallow filesystem.*(path within ./pub, ..)",
                                 "mine.policy")}),
               rules("mcpac.policy", {PolicyFile("allow *.*\ndeny *.*(* within ./data/secret)")})})
          .value();
  const auto found = authority.explain(tool("filesystem.read_text_file"), {{"path", "data/a.txt"}});
  CHECK(found.decision.effect == Effect::kAllow);
  CHECK(found.decision.place == "mine.policy:2");
  REQUIRE(found.layers.size() == 2);
  const auto& run = found.layers[0];
  CHECK(run.effect == Effect::kAllow);
  CHECK(run.place == "mine.policy:2");
  REQUIRE(run.rules.size() == 2);
  CHECK(run.rules[0].kind == RuleStanding::Kind::kMatches);
  CHECK(run.rules[0].why.empty());
  CHECK(run.rules[1].kind == RuleStanding::Kind::kMisses);
  CHECK(run.rules[1].place == "mine.policy:4");
  CHECK(run.rules[1].argument == "path");
  CHECK(run.rules[1].value == "\"data/a.txt\"");
  CHECK(run.rules[1].test == "within ./pub");
  CHECK(run.rules[1].why == "path \"data/a.txt\" is not within ./pub");
  CHECK(found.layers[1].place == "mcpac.policy:1");
  REQUIRE(found.layers[1].rules.size() == 2);
  const auto denying = std::ranges::find(found.layers[1].rules, Effect::kDeny,
                                         [](const RuleStanding& rule) { return rule.effect; });
  REQUIRE(denying != found.layers[1].rules.end());
  CHECK(denying->why == "'* within ./data/secret' does not hold");
}

TEST_CASE("a relative path that was denied says what it was taken for") {
  World world;
  world.put("data", "dir");
  const auto taken = [&](const std::string& grant, const std::string& path) {
    auto authority = world.grant({grant}).value();
    const auto found = authority.explain(tool("filesystem.read_text_file"), {{"path", path}});
    CHECK_FALSE(found.decision.allowed());
    return taken_for(tool("filesystem.read_text_file"), found);
  };
  const std::string within_data = "filesystem.read_text_file(path within ./data)";
  const std::string here = world.bases.current_directory;
  world.bases.roots.clear();
  CHECK(taken(within_data, "sub/../a.txt") ==
        "it is " + here + "/a.txt, counted from the current folder, as filesystem has no --root");
  CHECK(taken("filesystem.read_text_file(path within " + here + "/data)", "data/a.txt") ==
        "it is " + here +
            "/data/a.txt, counted from the current folder, as filesystem has no "
            "--root: then only a rule with ./ admits a relative path");
  CHECK(taken(within_data, "/etc/passwd").empty());
  CHECK(taken(within_data, "~/a").empty());
  world.bases.home = "/home/of-account";
  const std::string is_home = "~ in a rule is /home/of-account, the home of the account";
  const std::string within_home = "filesystem.read_text_file(path within ~/data)";
  CHECK(taken(within_home, "/tmp/other/data/x") == is_home);
  CHECK(taken(within_home, "x").ends_with("; " + is_home));
  world.bases.roots["filesystem"] = "/srv";
  CHECK(taken(within_data, "a.txt") == "it is /srv/a.txt, counted from the root of filesystem");
}

TEST_CASE("of a link that was denied is said where it leads") {
  World world;
  const auto folder =
      TemporaryFolder::create(std::filesystem::temp_directory_path(), "taken-").value();
  const auto here = std::filesystem::canonical(folder.path());
  std::filesystem::create_directories(here / "data");
  std::ofstream(here / "secret.txt") << "secret";
  std::ofstream(here / "data/plain.txt") << "plain";
  std::filesystem::create_symlink("../secret.txt", here / "data/link.txt");
  world.bases.roots["filesystem"] = here.string();
  Explanation found;
  found.decision.effect = Effect::kDeny;
  found.decision.layer = "run";
  found.paths = PathReading{.admit_base = here.string(), .catch_bases = {"", ""}, .has_root = true};
  const auto taken = [&](const std::string& path) {
    LayerExplanation layer;
    layer.name = "run";
    RuleStanding rule;
    rule.value = Json(path).dump();
    rule.test = "within ./data";
    layer.rules.push_back(std::move(rule));
    found.layers = {std::move(layer)};
    return taken_for(tool("filesystem.read_text_file"), found);
  };
  CHECK(taken("data/link.txt") == "it is " + (here / "data/link.txt").string() + ", a link to " +
                                      (here / "secret.txt").string() +
                                      ", counted from the root of filesystem");
  CHECK(taken("data/plain.txt") ==
        "it is " + (here / "data/plain.txt").string() + ", counted from the root of filesystem");
  for (const char* path : {".", "./", "data/.."})
    CHECK(taken(path) == "it is " + here.string() + ", counted from the root of filesystem");
}

TEST_CASE("a call that a rule admits, or that no path decides, was taken for nothing else") {
  World world;
  auto authority = world.grant({"kv.get(key == \"a\")"}).value();
  CHECK(taken_for(tool("kv.get"), authority.explain(tool("kv.get"), {{"key", "a"}})).empty());
  CHECK(taken_for(tool("kv.get"), authority.explain(tool("kv.get"), {{"key", "b"}})).empty());
}

TEST_CASE("a tool that a wildcard leaves out hears by which rule, and what it does not have") {
  World world;
  auto authority = world.grant({"filesystem.*(path within ./data, ..)"}).value();
  const auto move = tool("filesystem.list_allowed_directories");
  const std::string why =
      "filesystem.list_allowed_directories has no argument path, and a rule with a wildcard covers "
      "the tools that have what it tests";
  const auto found = authority.explain(move, Json::object());
  CHECK_FALSE(found.decision.allowed());
  CHECK(found.decision.rule == "allow filesystem.*(path within ./data, ..)");
  CHECK(found.decision.reason == why);
  CHECK(found.decision.would_grant == "filesystem.list_allowed_directories()");
  CHECK(found.layers.at(0).rules.at(0).why == why);
  const auto foreseen = authority.foresee(move, {});
  CHECK(foreseen.reason == why);
  CHECK(foreseen.rule == found.decision.rule);
}

TEST_CASE("explaining charges no meter, and shows what is used of each") {
  World world;
  auto authority = world.grant({"kv.get calls <= 2 rate 5/min for 15m"}).value();
  const Json arguments = {{"key", "a"}};
  for (int i = 0; i < 5; ++i)
    CHECK(authority.explain(tool("kv.get"), arguments).decision.allowed());
  CHECK(authority.decide(tool("kv.get"), arguments).allowed());
  world.clock.set(std::chrono::seconds(3));
  auto found = authority.explain(tool("kv.get"), arguments);
  const auto& meters = found.layers.at(0).rules.at(0).meters;
  REQUIRE(meters.size() == 3);
  CHECK(meters[0].meter == "calls");
  CHECK(meters[0].used == "1");
  CHECK(meters[0].limit == "2");
  CHECK(meters[1].used == "1");
  CHECK(meters[2].used == "3000 ms");
  CHECK(authority.decide(tool("kv.get"), arguments).allowed());
  found = authority.explain(tool("kv.get"), arguments);
  CHECK(found.decision.effect == Effect::kDeny);
  CHECK(found.layers.at(0).rules.at(0).kind == RuleStanding::Kind::kUsedUp);
  CHECK(found.decision.reason == "its 2 calls per run are used up");
}

TEST_CASE("a decision tells what it rested on as it was before its own charge") {
  World world;
  auto authority = world.grant({"kv.get calls <= 1"}).value();
  Explanation found;
  CHECK(authority.decide(tool("kv.get"), {{"key", "a"}}, &found).allowed());
  CHECK(found.decision.allowed());
  CHECK(found.layers.at(0).rules.at(0).meters.at(0).used == "0");
  CHECK_FALSE(authority.decide(tool("kv.get"), {{"key", "a"}}, &found).allowed());
  CHECK(found.layers.at(0).rules.at(0).kind == RuleStanding::Kind::kUsedUp);
}

TEST_CASE("what relative paths count from is told, and that a remote server's files are not seen") {
  World world;
  world.bases.roots["filesystem"] = world.base() + "/root";
  world.bases.working_directories["filesystem"] = world.base() + "/work";
  const std::string rule = "filesystem.read_text_file(path within @server/sub)";
  const Json arguments = {{"path", "a"}};
  const auto local =
      world.grant({rule}).value().explain(tool("filesystem.read_text_file"), arguments);
  REQUIRE(local.paths.has_value());
  CHECK(local.paths->admit_base == world.base() + "/root");
  CHECK(local.paths->catch_bases ==
        std::vector<std::string>{world.base() + "/root", world.base() + "/work"});
  CHECK_FALSE(local.paths->lexical_only);
  world.bases.remote_servers.insert("filesystem");
  const auto remote =
      world.grant({rule}).value().explain(tool("filesystem.read_text_file"), arguments);
  CHECK(remote.paths->lexical_only);
  CHECK(remote.paths->catch_bases == std::vector<std::string>{world.base() + "/root"});
  CHECK_FALSE(world.grant({"kv.get"}).value().explain(tool("kv.get"), {{"key", "a"}}).paths);
}

TEST_CASE("an unknown tool has no layers to explain") {
  const World world;
  auto authority = world.grant({"kv.get"}).value();
  const auto found = authority.explain(tool("kv.nothing"), Json::object());
  CHECK(found.decision.layer == "lock");
  CHECK(found.layers.empty());
}

TEST_CASE("explain and decide give the same answer to every call of the shared vectors") {
  int asked = 0;
  for (const Json& line : vectors()) {
    if (!line.contains("call") || line.contains("calls")) continue;
    const auto world = world_of(line);
    auto authority = world->load(layers_of(*world, line));
    const auto permission = permission_of(line["call"]["permission"].get<std::string>());
    if (!authority || !permission || !world->tools.contains(*permission)) continue;
    Json arguments = world->fill(line["call"]["arguments"]);
    const auto schema = JsonSchema::compile(world->tools.at(*permission)).value();
    if (authority->complete(*permission, *schema, arguments)) continue;
    const auto explained = authority->explain(*permission, arguments);
    const auto decided = authority->decide(*permission, arguments);
    CHECK(explained.decision.effect == decided.effect);
    CHECK(explained.decision.rule == decided.rule);
    CHECK(explained.decision.reason == decided.reason);
    CHECK(explained.decision.place == decided.place);
    REQUIRE_FALSE(explained.layers.empty());
    ++asked;
  }
  CHECK(asked > 100);
}

}  // namespace mcpac::policy::testing
