// Paths that text, kernel and server read apart.
#include <doctest/doctest.h>

#include "policy/support_world.h"

namespace mcpac::policy::testing {
namespace {

const Permission kRead = Permission::parse("filesystem.read_text_file").value();
const Permission kInvoke = Permission::parse("gateway.invoke_tool").value();

// Is this path admitted by an allow of these brackets, alone?
bool admits(const World& world, const std::string& test, const std::string& path) {
  auto authority = world.grant({"filesystem.read_text_file(" + world.fill(test) + ")"}).value();
  return authority.decide(kRead, {{"path", world.fill(path)}}).allowed();
}

// Is a call that everything else admits caught by this deny?
bool denies(const World& world, const std::string& deny, const Permission& tool, Json arguments) {
  auto authority = world
                       .load({LayerText{.name = "the command line",
                                        .grants = {"filesystem.*", "gateway.*"},
                                        .asks = {},
                                        .denies = {world.fill(deny)},
                                        .files = {}}})
                       .value();
  return !authority.decide(tool, world.fill(std::move(arguments))).allowed();
}
bool denies(const World& world, const std::string& deny, const std::string& path) {
  return denies(world, deny, kRead, {{"path", path}});
}

void put_links(const World& world) {
  world.put("secret/s.txt", "file");
  world.put("data/sub/deep/b.txt", "file");
  world.put("data/link", "-> sub/deep");
  world.put("data/x", "-> ../secret/s.txt");
  world.put("data/y.txt", "file");
  world.put("y", "-> secret/s.txt");
}

}  // namespace

TEST_CASE("an allow needs the place that the tidied text names, too") {
  const World world;
  put_links(world);
  // The kernel goes to data/sub/x, which is missing; a server that tidies first opens data/x.
  CHECK_FALSE(admits(world, "path within ./data", "${BASE}/data/link/../x"));
  CHECK(admits(world, "path within ./data", "${BASE}/data/link/../y.txt"));
  CHECK(admits(world, "path within ./data", "${BASE}/data/sub/../y.txt"));
}

TEST_CASE("a deny catches what the tidied text names") {
  const World world;
  put_links(world);
  const std::string deny = "filesystem.read_text_file(path within ./secret)";
  CHECK(denies(world, deny, "${BASE}/data/link/../x"));
  CHECK(denies(world, deny, "${BASE}/data/link/../../y"));
  CHECK_FALSE(denies(world, deny, "${BASE}/data/link/../y.txt"));
}

TEST_CASE("a home or a URL is no relative path: no allow admits it and every deny catches it") {
  World world;
  world.put("srv/data/a", "file");
  world.bases.roots["filesystem"] = world.base() + "/srv";
  for (const char* path : {"~", "~/.ssh/id", "~root/x", "file:///etc/passwd", "FILE:/etc/passwd",
                           "file:etc", "C:x", "vscode-remote:x"}) {
    CAPTURE(path);
    CHECK_FALSE(admits(world, "path within @server/", path));
    CHECK(denies(world, "filesystem.read_text_file(path within ./secret)", path));
  }
  for (const char* path : {"./~/x", "data/~x", "./file:x", "data/a:b", "12:30", "data"}) {
    CAPTURE(path);
    CHECK(admits(world, "path within @server/", path));
    CHECK_FALSE(denies(world, "filesystem.read_text_file(path within ./secret)", path));
  }
}

TEST_CASE("a deny over any string catches paths that no other test can read") {
  const World world;
  world.put("home/.ssh/id_rsa", "file");
  world.put("way", "-> home/.ssh");
  const std::string deny = "*.*(* within ~/.ssh)";
  std::string padded = "${HOME}/.ssh/";
  for (int i = 0; i < 2100; ++i) padded += "./";
  std::string detours = "${HOME}/";
  for (int i = 0; i < 1000; ++i) detours += "aa/../";
  for (const std::string& path :
       {std::string("${HOME}/.ssh/x\\/../id_rsa"), std::string("${HOME}/.ssh/\t/../id_rsa"),
        std::string("${HOME}/.ssh/a\nb"), padded + "id_rsa", detours + ".ssh/id_rsa",
        std::string("${BASE}/x\\/../way/id_rsa"), std::string("x\\/../home/.ssh/id_rsa"),
        std::string("~/.ssh/id_rsa"), std::string("~root/.ssh/id_rsa"),
        std::string("file://${HOME}/.ssh/id_rsa"), std::string(" FILE:${HOME}/.ssh/id_rsa"),
        std::string("fi\nle://localhost${HOME}/%2essh/id_rsa?x"),
        std::string("file:\\\\\\${HOME}\\.ssh/x"), std::string("file:///x?/../..${HOME}/.ssh/x")}) {
    CAPTURE(path);
    CHECK(denies(world, deny, path));
    CHECK(denies(world, deny, kInvoke, {{"name", "x"}, {"arguments", {{"text", path}}}}));
  }
}

TEST_CASE("a deny over any string finds a name in every Unicode normal form") {
  const World world;
  CHECK(denies(world, "*.*(* within ./caf\xC3\xA9)", "${BASE}/cafe\xCC\x81/x"));
}

TEST_CASE("a deny over any string lets ordinary texts through") {
  const World world;
  world.put("home/.ssh/id_rsa", "file");
  const std::string long_text(10'000, 'x');
  std::string long_prose;
  for (int i = 0; i < 2'000; ++i) long_prose += "either/or, and so on\n";
  for (const std::string& text :
       {std::string(), std::string("Two lines\nof text / with a slash"), std::string("a\tb\\c"),
        std::string("/* a comment\n * of C */"), std::string("~5 minutes"),
        std::string("file: see below\nthere"), std::string("caf\xCC\x81"), std::string("~/.sshrc"),
        long_text, "/" + long_prose}) {
    CAPTURE(text);
    CHECK_FALSE(denies(world, "*.*(* within ~/.ssh)", kInvoke,
                       {{"name", "x"}, {"arguments", {{"text", text}}}}));
  }
}

}  // namespace mcpac::policy::testing
