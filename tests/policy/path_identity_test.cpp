// Places by what they are and not by what they are called; the folders that relative paths are
// counted from; folders above a denied place.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "policy/match/path_value.h"
#include "policy/policy_record.h"
#include "policy/support_mounts.h"
#include "policy/support_world.h"

namespace mcpac::policy::testing {
namespace {

namespace fs = std::filesystem;

const Permission kReadText = Permission::parse("filesystem.read_text_file").value();
const Permission kList = Permission::parse("filesystem.list_directory").value();
const Permission kMove = Permission::parse("filesystem.move_file").value();
const Permission kAnything = Permission::parse("gateway.invoke_tool").value();

LayerText layer_with(const World& world, std::vector<std::string> grants,
                     std::vector<std::string> denies) {
  for (auto* rules : {&grants, &denies}) {
    for (auto& rule : *rules) rule = world.fill(rule);
  }
  return {.name = "the command line",
          .grants = std::move(grants),
          .asks = {},
          .denies = std::move(denies),
          .files = {}};
}

Decision decide(const World& world, const std::vector<std::string>& grants,
                const std::vector<std::string>& denies, const Permission& tool, Json arguments) {
  auto authority = world.load({layer_with(world, grants, denies)}).value();
  return authority.decide(tool, world.fill(std::move(arguments)));
}

// Is a call that everything else admits caught?
bool caught(const World& world, const std::string& deny, const std::string& path,
            const Permission& tool = kReadText) {
  return !decide(world, {"filesystem.*", "gateway.*"}, {deny}, tool, {{"path", path}}).allowed();
}
bool admitted(const World& world, const std::string& test, const std::string& path,
              const Permission& tool = kReadText) {
  return decide(world, {fmt::format("{}({})", tool.text(), test)}, {}, tool, {{"path", path}})
      .allowed();
}

// Of what should hold, what does not.
class Findings {
 public:
  void expect(bool holds, std::string_view what) {
    if (!holds) text_ += fmt::format("{}\n", what);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

TEST_CASE("a folder that is mounted elsewhere as well is denied and excepted there, too") {
  const World world;
  world.put("secret/key", "file");
  world.put("secret/deep/key", "file");
  world.put("data/mine", "dir");
  world.put("home2", "dir");
  CHECK(in_own_mounts([&]() -> std::string {
          if (auto skipped = bind_mount(world.base() + "/secret", world.base() + "/data/mine");
              !skipped.empty())
            return skipped;
          Findings found;
          const std::string deny = "*.*(* within ./secret)";
          found.expect(caught(world, deny, "data/mine/key"), "the file behind the mount");
          found.expect(caught(world, deny, "${BASE}/data/mine/deep/key"), "a file further down");
          found.expect(caught(world, deny, "data/mine/new"), "a new file there");
          found.expect(caught(world, deny, "data/mine", kList), "the mounted folder itself");
          found.expect(caught(world, "filesystem.*(path matches ./secret/*)", "data/mine/key"),
                       "a glob below the folder");
          found.expect(!caught(world, "filesystem.*(path matches ./secret/*.txt)", "data/mine/key"),
                       "another glob below the folder lets it through");
          found.expect(!caught(world, deny, "data/other"), "another file passes");
          found.expect(!admitted(world, "path within ./ except {./secret}", "data/mine/key"),
                       "an allow that excepts the folder");
          found.expect(admitted(world, "path within ./ except {./secret}", "data/other"),
                       "an allow that excepts another");
          // The rule names the mount, the call the folder.
          found.expect(caught(world, "*.*(* within ./data/mine)", "secret/key"), "the other way");
          return found.text();
        }) == "");
  // A folder above the denied one, by its other name.
  CHECK(in_own_mounts([&]() -> std::string {
          if (auto skipped = bind_mount(world.base(), world.base() + "/home2"); !skipped.empty())
            return skipped;
          Findings found;
          found.expect(caught(world, "*.*(* within ./secret)", "home2/secret/key"), "below it");
          found.expect(caught(world, "*.*(* within ./secret/deep)", "home2/secret", kList),
                       "between it and the denied folder");
          found.expect(!caught(world, "*.*(* within ./secret)", "home2/data", kList), "beside it");
          return found.text();
        }) == "");
}

TEST_CASE("a file that a rule names is known by its other names on the disk") {
  const World world;
  world.put("secret/key", "file");
  world.put("data/a", "file");
  fs::create_hard_link(world.base() + "/secret/key", world.base() + "/data/link");
  CHECK(caught(world, "filesystem.*(path within ./secret/key)", "data/link"));
  CHECK(caught(world, "*.*(* within ./secret/key)", "data/link"));
  CHECK_FALSE(caught(world, "*.*(* within ./secret/key)", "data/a"));
  CHECK(caught(world, "*.*(* matches ./secret/key)", "data/link"));
  CHECK_FALSE(caught(world, "*.*(* matches ./secret/key)", "data/a"));
  CHECK_FALSE(admitted(world, "path within ./ except {./secret/key}", "data/link"));
  CHECK(admitted(world, "path within ./ except {./secret/key}", "data/a"));
  // An allow of one name is no allow of another, though it is the same file.
  CHECK(admitted(world, "path within ./data/link", "data/link"));
  CHECK_FALSE(admitted(world, "path within ./data/link", "secret/key"));
}

TEST_CASE("on a disk that folds case a name in the other case is the same place") {
  const World world;
  world.put("disk", "dir");
  CHECK(in_own_mounts([&]() -> std::string {
          FoldingFolder disk;
          if (auto skipped = disk.mount(world.base() + "/disk"); !skipped.empty()) return skipped;
          Findings found;
          const std::string deny = "*.*(* within ./disk/secret)";
          for (const char* path : {"disk/secret/key", "disk/SECRET/key", "disk/Secret/new",
                                   "disk/SECRET", "${BASE}/disk/sEcret/KEY"})
            found.expect(caught(world, deny, path), path);
          found.expect(!caught(world, deny, "disk/open/a.key"), "another folder passes");
          found.expect(!caught(world, deny, "disk/OPEN/a.key"), "it passes in the other case, too");
          const std::string glob = "filesystem.*(path matches ./disk/open/*.key)";
          for (const char* path :
               {"disk/open/a.key", "disk/open/A.KEY", "disk/OPEN/A.key", "disk/OPEN/new.KEY"})
            found.expect(caught(world, glob, path), fmt::format("a glob: {}", path));
          const std::string allow = "path within ./disk except {./disk/secret, ./disk/**/*.key}";
          found.expect(!admitted(world, allow, "disk/SECRET/x"), "an exception in the other case");
          found.expect(!admitted(world, allow, "disk/open/A.KEY"), "a glob of an exception");
          found.expect(admitted(world, allow, "disk/open/b.txt"), "what is not excepted");
          // A folder that is not there yet will be there by both names.
          found.expect(caught(world, "*.*(* within ./disk/open/later)", "disk/open/LATER/x"),
                       "a denied place that is missing, below a folder known to fold");
          // No step of the path has two cases here: the folder itself is asked.
          found.expect(caught(world, "*.*(* within ./disk/later)", "disk/LATER/x"),
                       "a denied place that is missing at the root of a disk that folds");
          return found.text();
        }) == "");
}

TEST_CASE("a disk that does not fold keeps names in two cases apart") {
  const World world;
  world.put("secret/key", "file");
  world.put("SECRET/key", "file");
  CHECK(caught(world, "*.*(* within ./secret)", "secret/key"));
  CHECK_FALSE(caught(world, "*.*(* within ./secret)", "SECRET/key"));
  CHECK_FALSE(caught(world, "*.*(* within ./secret)", "Secret/new"));
}

// U+16D68 is of Unicode 16: tables of before do not know that U+16D67 U+16D67 is the same.
TEST_CASE("names of characters that our Unicode does not know yet are admitted by nothing") {
  const World world;
  const std::string unknown = "data/\xF0\x96\xB5\xA8/x";
  if (!has_unassigned(unknown)) {
    MESSAGE("skipped: libunistring has Unicode 16");
    return;
  }
  CHECK_FALSE(admitted(world, "path within ./data", unknown));
  CHECK(caught(world, "filesystem.*(path within ./secret)", unknown));
  CHECK(world.grant({"filesystem.read_text_file(path within ./\xF0\x96\xB5\xA8)"}).error().id ==
        ErrorId::kRuleSyntax);
  // Under "*" most strings are no paths: such a name may be a denied one that is not ASCII itself.
  CHECK_FALSE(caught(world, "*.*(* within ./secret)", "a new sign: \xF0\x96\xB5\xA8"));
  CHECK(caught(world, "*.*(* within ./data/caf\xC3\xA9)", unknown));
  CHECK_FALSE(caught(world, "*.*(* within ./other/caf\xC3\xA9)", unknown));
}

TEST_CASE("a folder that a denied place lies in is denied to tools that may reach into it") {
  const World world;
  world.put("home/.ssh/id", "file");
  world.put("home/notes/n.txt", "file");
  world.put("file", "file");
  const std::string deny = "*.*(* within ~/.ssh)";
  for (const char* path :
       {"${HOME}", "${HOME}/", "${HOME}/.", "${HOME}/notes/..", "/", "home", "./home", ".", "./",
        "home/notes/../../home", "~", "~/", "file://${HOME}", "x\n/../home"}) {
    CAPTURE(path);
    CHECK(caught(world, deny, path, kList));
    CHECK_FALSE(
        decide(world, {"filesystem.*"}, {deny}, kMove, {{"source", path}, {"destination", "x"}})
            .allowed());
  }
  // Not in it, no folder, or not there: it holds nothing that is denied.
  for (const char* path : {"${HOME}/notes", "${HOME}/notes/n.txt", "file", "${BASE}/missing",
                           "homes", "data", "~/notes"}) {
    CAPTURE(path);
    CHECK_FALSE(caught(world, deny, path, kList));
  }
  CHECK(caught(world, "filesystem.*(path matches ./home/.ssh/id*)", "home/.ssh", kList));
  CHECK(caught(world, "filesystem.*(path matches ./home/*/id)", "home/notes", kList));
  CHECK_FALSE(caught(world, "filesystem.*(path matches ./home/*/id)", "home/notes/n.txt"));
  CHECK(caught(world, "filesystem.*(path matches ./**/*.pem)", "home", kList));
}

TEST_CASE("a folder above what an allow excepts is not admitted") {
  const World world;
  world.put("src/.git/config", "file");
  world.put("src/a/b.cpp", "file");
  const std::string allow = "path within ./src except {./src/.git}";
  for (const char* path : {"src", "src/", "./src/.", "src/a/..", "${BASE}/src"}) {
    CAPTURE(path);
    CHECK_FALSE(admitted(world, allow, path, kList));
  }
  CHECK(admitted(world, allow, "src/a", kList));
  CHECK(admitted(world, allow, "src/a/b.cpp"));
  CHECK(admitted(world, allow, "src/new"));
  CHECK(admitted(world, "path within ./src", "src", kList));
}

TEST_CASE("a tool that acts on one entry alone may have the folder above, by the user's word") {
  World world;
  world.put("home/.ssh/id", "file");
  const std::string deny = "*.*(* within ~/.ssh)";
  world.bases.entry_only.insert(kList);
  CHECK_FALSE(caught(world, deny, "${HOME}", kList));
  CHECK(admitted(world, "path within ./ except {./home/.ssh}", "home", kList));
  // That place itself stays denied to it, and the folder to every other tool.
  CHECK(caught(world, deny, "${HOME}/.ssh", kList));
  CHECK_FALSE(admitted(world, "path within ./ except {./home/.ssh}", "home/.ssh", kList));
  CHECK_FALSE(
      decide(world, {"filesystem.*"}, {deny}, kMove, {{"source", "${HOME}"}, {"destination", "x"}})
          .allowed());
}

TEST_CASE("a denial for the folder above says so, and how to say that a tool acts on one entry") {
  const World world;
  world.put("home/.ssh/id", "file");
  const auto denied =
      decide(world, {"filesystem.*"}, {"*.*(* within ~/.ssh)"}, kList, {{"path", "${HOME}"}});
  CHECK(denied.remark.find("home\" contains the denied ~/.ssh") != std::string::npos);
  CHECK(denied.remark.find("mcpac server set filesystem --entry-only list_directory") !=
        std::string::npos);
  const auto plain =
      decide(world, {"filesystem.*"}, {"*.*(* within ~/.ssh)"}, kList, {{"path", "${HOME}/.ssh"}});
  CHECK(plain.reason == "it is denied by a rule");
  const auto missed =
      decide(world, {"filesystem.list_directory(path within ./ except {./home/.ssh})"}, {}, kList,
             {{"path", "home"}});
  CHECK(missed.remark.find("contains what is excepted: ./home/.ssh") != std::string::npos);
  CHECK(missed.remark.find("--entry-only list_directory") != std::string::npos);
  CHECK(missed.would_grant.empty());
}

TEST_CASE("a tool that moves or lists a tree is told what to do instead") {
  const World world;
  world.put("home/.ssh/id", "file");
  const auto denied = decide(world, {"filesystem.*"}, {"*.*(* within ~/.ssh)"}, kMove,
                             {{"source", "${HOME}"}, {"destination", "x"}});
  CHECK(denied.remark.find("may reach all that is in it") != std::string::npos);
  CHECK(denied.remark.find("--entry-only") == std::string::npos);
}

TEST_CASE("a rule's path without an anchor is told one that works") {
  World world;
  world.put("data/x", "dir");
  for (const char* path :
       {"../x", "data/../other", "$PWD/data", "${DOLLAR}{PWD}", ".", "~", "$HOME/data", "@server",
        "file:///srv/x", "data", "./data/../../x", "~/../y"}) {
    CAPTURE(std::string(path));
    std::string text = path;
    if (const auto at = text.find("${DOLLAR}"); at != std::string::npos) text.replace(at, 9, "$");
    world.bases.roots["filesystem"] = world.base();
    const auto refused =
        world.grant({"filesystem.read_text_file(path within " + Json(text).dump() + ")"});
    REQUIRE_FALSE(refused);
    const std::string fix = refused.error().fix;
    CAPTURE(fix);
    CHECK(world.grant({"filesystem.read_text_file(path within " + Json(fix).dump() + ")"}));
  }
  CHECK(world.grant({"filesystem.read_text_file(path within $DATA/x)"}).error().fix ==
        "write the whole path, from /");
}

TEST_CASE("what a remote server has is decided by the text: every path may be a folder") {
  World world;
  world.bases.remote_servers.insert("filesystem");
  CHECK(caught(world, "filesystem.*(path within /srv/secret)", "/srv", kList));
  CHECK_FALSE(caught(world, "filesystem.*(path within /srv/secret)", "/srv/other", kList));
  CHECK_FALSE(admitted(world, "path within /srv except {/srv/secret}", "/srv", kList));
  CHECK(admitted(world, "path within /srv except {/srv/secret}", "/srv/a", kList));
}

TEST_CASE("a relative path is read below every folder that the server was given") {
  World world;
  world.put("project/x", "file");
  world.put("notes/secret/x", "file");
  world.put("home/.ssh/id", "file");
  world.bases.current_directory = world.base() + "/project";
  const std::string deny = "*.*(* within ${BASE}/notes/secret)";
  CHECK_FALSE(caught(world, deny, "secret/x"));
  world.bases.given_folders["filesystem"] = {world.base() + "/notes"};
  CHECK(caught(world, deny, "secret/x"));
  CHECK(caught(world, "filesystem.*(path within ${BASE}/notes/secret)", "secret/x"));
  CHECK_FALSE(caught(world, deny, "other/x"));
  // Of another server nothing changes.
  CHECK(decide(world, {"gateway.*"}, {deny}, kAnything,
               {{"name", "n"}, {"arguments", {{"path", "secret/x"}}}})
            .allowed());
  // An allow wants it inside for both.
  CHECK_FALSE(admitted(world, "path within ./", "x"));
  CHECK_FALSE(admitted(world, "path within ${BASE}/notes", "x"));
  CHECK(admitted(world, "path within ./", "${BASE}/project/x"));
  world.bases.given_folders["filesystem"] = {world.base() + "/project/data"};
  CHECK(admitted(world, "path within ./", "x"));
  CHECK_FALSE(admitted(world, "path within ./data", "x"));
  CHECK(admitted(world, "path within ./data", "data/x"));
  // The home, as in README's rule.
  world.bases.given_folders["filesystem"] = {world.base() + "/home"};
  CHECK(caught(world, "*.*(* within ~/.ssh)", ".ssh/id"));
}

TEST_CASE("of several folders the declared root is one") {
  World world;
  world.put("a/x", "file");
  world.put("b/secret/x", "file");
  world.bases.roots["filesystem"] = world.base() + "/a";
  CHECK(admitted(world, "path within @server/", "x"));
  CHECK_FALSE(caught(world, "*.*(* within ./b/secret)", "secret/x"));
  world.bases.given_folders["filesystem"] = {world.base() + "/b"};
  CHECK(caught(world, "*.*(* within ./b/secret)", "secret/x"));
  CHECK(caught(world, "*.*(* within ./b/secret)", "../b/secret/x"));
  CHECK(caught(world, "*.*(* within ./b/secret)", "../secret/x") == false);
  CHECK_FALSE(admitted(world, "path within @server/", "x"));
  CHECK(admitted(world, "path within ./", "x") == true);
  CHECK(admitted(world, "path within @server/", "${BASE}/a/x"));
}

TEST_CASE("of a path that is read in several ways no rule with its text is foreseen to help") {
  World world;
  const auto foresee = [&](const std::string& rule, const char* path) {
    auto authority = world.grant({world.fill(rule)}).value();
    CallInSource call;
    call.known["path"] = path;
    return authority.foresee(kReadText, call);
  };
  const std::string rule = "filesystem.read_text_file(path within ${BASE}/a)";
  CHECK_FALSE(foresee(rule, "docs/a.md").would_grant.empty());
  world.bases.given_folders["filesystem"] = {world.base() + "/a", world.base() + "/b"};
  const auto found = foresee(rule, "docs/a.md");
  CHECK(found.outlook == Outlook::kDenied);
  CHECK(found.would_grant.empty());
  CHECK(found.no_grant.find("absolute path") != std::string::npos);
}

TEST_CASE("an explanation names every folder that a relative path may be counted from") {
  World world;
  world.bases.given_folders["filesystem"] = {world.base() + "/notes"};
  auto authority = world.grant({"filesystem.read_text_file(path within ./data)"}).value();
  const auto explanation = authority.explain(kReadText, {{"path", "data/x"}});
  REQUIRE(explanation.paths);
  CHECK(explanation.paths->admit_base == world.base());
  CHECK(explanation.paths->further_bases == std::vector{world.base() + "/notes"});
  CHECK(explanation.paths->catch_bases == std::vector{world.base(), world.base() + "/notes"});
  CHECK_FALSE(explanation.paths->has_root);
}

TEST_CASE("a decision that rested on what a place is can be made again from its record") {
  World world;
  world.put("secret/key", "file");
  world.put("data/a", "file");
  fs::create_hard_link(world.base() + "/secret/key", world.base() + "/data/link");
  world.bases.given_folders["filesystem"] = {world.base() + "/data"};
  world.bases.entry_only.insert(kList);
  const std::vector<LayerText> layers = {
      layer_with(world, {"filesystem.* audit args"}, {"*.*(* within ./secret/key)"})};
  auto authority = world.load(layers).value();
  const Json record = policy_record(authority);
  const auto read = read_policy_record(record).value();
  CHECK(read.bases == world.bases);
  for (const auto& [path, allowed] :
       {std::pair{"data/link", false}, {"data/a", true}, {"link", false}}) {
    CAPTURE(path);
    Evidence evidence;
    CHECK(authority.decide(kReadText, {{"path", path}}, {}, evidence).allowed() == allowed);
    REQUIRE_FALSE(evidence.paths.empty());
    // Through the text of a record, on a machine that has none of it.
    Json list = Json::array();
    for (const auto& fact : evidence.paths) list.push_back(to_json(fact));
    auto facts = read_path_facts(parse_json(to_text(list)).value()).value();
    CHECK(facts == evidence.paths);
    RecordedPaths recorded;
    facts.insert(facts.end(), read.paths.begin(), read.paths.end());
    recorded.set(std::move(facts));
    Environment then = world.environment();
    then.resolver = &recorded;
    then.bases = read.bases;
    then.is_replay = true;
    auto again = Authority::load(read.layers, then).value();
    Evidence now;
    CHECK(again.decide(kReadText, {{"path", path}}, {}, now).allowed() == allowed);
    CHECK_FALSE(recorded.missed_any());
  }
}

TEST_CASE("what an older mcpac recorded is decided as it was then") {
  World world;
  world.put("secret/key", "file");
  fs::create_hard_link(world.base() + "/secret/key", world.base() + "/link");
  Json record = policy_record(world.load({layer_with(world, {"filesystem.*"}, {})}).value());
  record["bases"].erase("by_identity");
  const auto old = read_policy_record(record).value();
  CHECK_FALSE(old.bases.by_identity);
  CHECK_FALSE(to_json(old.bases).contains("by_identity"));
  world.bases.by_identity = false;
  CHECK_FALSE(caught(world, "*.*(* within ./secret/key)", "link"));
  CHECK_FALSE(caught(world, "*.*(* within ./secret)", ".", kList));
}

TEST_CASE("which policy admits more counts folders above a denied place") {
  const World world;
  const auto load = [&](std::vector<std::string> grants, std::vector<std::string> denies) {
    return world.load({layer_with(world, std::move(grants), std::move(denies))}).value();
  };
  const auto beyond = [&](const Authority& wider, const Authority& narrower) {
    return !std::holds_alternative<Included>(wider.includes(narrower));
  };
  const auto all = load({"filesystem.list_directory"}, {});
  const auto denied =
      load({"filesystem.list_directory"}, {"filesystem.*(path within /srv/secret)"});
  const auto above = load({R"(filesystem.list_directory(path == "/srv"))"}, {});
  const auto beside = load({R"(filesystem.list_directory(path == "/srv/other"))"}, {});
  CHECK_FALSE(beyond(all, denied));
  CHECK(beyond(denied, all));
  CHECK(beyond(denied, above));
  CHECK_FALSE(beyond(denied, beside));
  // Whether "/srv" is a folder the text does not say: what denies it where it is one admits it
  // where it is none.
  const auto but_srv =
      load({"filesystem.list_directory"},
           {R"(filesystem.*(path == "/srv"))", "filesystem.*(path within /srv/secret)"});
  CHECK(beyond(but_srv, denied));
  CHECK_FALSE(beyond(denied, but_srv));
  const auto excepts =
      load({"filesystem.list_directory(path within /srv except {/srv/secret})"}, {});
  const auto whole = load({"filesystem.list_directory(path within /srv)"}, {});
  CHECK(beyond(excepts, whole));
  CHECK_FALSE(beyond(whole, excepts));
}

TEST_CASE("nothing is promised before the run of a path that may be a folder above") {
  World world;
  world.put("src/.git/config", "file");
  world.put("src/a", "dir");
  auto authority =
      world.grant({"filesystem.list_directory(path within ./src except {./src/.git})"}).value();
  const auto outlook = [&](const char* path) {
    CallInSource call;
    call.known["path"] = path;
    return authority.foresee(kList, call).outlook;
  };
  CHECK(outlook("src") == Outlook::kConditional);
  CHECK(outlook("src/a") == Outlook::kConditional);
  CHECK(outlook("src/.git") == Outlook::kDenied);
}

}  // namespace mcpac::policy::testing
