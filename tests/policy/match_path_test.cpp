// Paths that text, kernel and server read apart.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>

#include "core/json.h"
#include "policy/match/path_readings.h"
#include "policy/match/readings.h"
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

TEST_CASE("an allow, an exception and a deny know what a server makes of a pattern of a shell") {
  World world;
  world.put("srv/notes/secret/x", "file");
  world.bases.roots["filesystem"] = world.base() + "/srv";
  const std::string rule = "path within @server/notes";
  for (const char* path : {"notes/[.][.]/x", "notes/.[.]/x", "notes/{pub,..}/x",
                           "notes/{a,../../x}.md", "{notes/a,/etc/x}", "notes/{a,.?}/x"}) {
    CAPTURE(path);
    CHECK_FALSE(admits(world, rule, path));
  }
  for (const char* path : {"notes/[id].tsx", "notes/{a,b}.txt", "notes/*.md", "notes/a?.txt",
                           "notes/{id}/x", "notes/what?"}) {
    CAPTURE(path);
    CHECK(admits(world, rule, path));
  }
  for (const char* path :
       {"notes/s*/x", "notes/[s]ecret/x", "notes/se?ret/x", "notes/{pub,secret}/x"}) {
    CAPTURE(path);
    CHECK_FALSE(admits(world, rule + " except {@server/notes/secret}", path));
    CHECK(denies(world, "filesystem.read_text_file(path within @server/notes/secret)", path));
  }
  for (const char* path : {"notes/p*/x", "notes/[p]ub/x", "notes/{pub,own}/x"}) {
    CAPTURE(path);
    CHECK(admits(world, rule + " except {@server/notes/secret}", path));
    CHECK_FALSE(denies(world, "filesystem.read_text_file(path within @server/notes/secret)", path));
  }
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
  for (const char* path :
       {"~", "~/.ssh/id", "~root/x", "file:///etc/passwd", "FILE:/etc/passwd", "file:etc", "C:x",
        "vscode-remote:x", "$HOME/.ssh/id", "$(pwd)/x", "$X"}) {
    CAPTURE(path);
    CHECK_FALSE(admits(world, "path within @server/", path));
    CHECK(denies(world, "filesystem.read_text_file(path within ./secret)", path));
  }
  for (const char* path :
       {"./~/x", "data/~x", "./$HOME", "$id.tsx", "./file:x", "data/a:b", "12:30", "data"}) {
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

// A server that is given places, texts and commands, by what its schema says of them.
struct Parameter {
  const char* name;
  const char* description = "";
};

struct RunWorld : World {
  explicit RunWorld(const std::vector<Parameter>& parameters) {
    Json properties = Json::object();
    for (const auto& one : parameters)
      properties[one.name] = {{"type", "string"}, {"description", one.description}};
    add_tools({{"t.run", {{"type", "object"}, {"properties", properties}}}});
    put("home/.ssh/id", "file");
    put("secret/key", "file");
  }
};
using Parameters = std::vector<Parameter>;

bool denies_run(const World& world, const std::string& deny, const Json& arguments) {
  auto authority = world
                       .load({LayerText{.name = "the command line",
                                        .grants = {"t.*"},
                                        .asks = {},
                                        .denies = {world.fill(deny)},
                                        .files = {}}})
                       .value();
  return !authority.decide(Permission::parse("t.run").value(), world.fill(arguments)).allowed();
}

// What a text may be made of one path, by means other than path_readings.cpp takes it apart with.
const std::vector<const char*>& ways_to_name() {
  static const std::vector<const char*> kWays = {
      // Schemes, with an authority or none.
      "file:{}", "file://{}", "URL:file:{}", "git+file:{}", "jar:file:{}!/x", "view-source:file:{}",
      "zip:{}", "sqlite:{}", "x-1.y:a+b:{}", "fi\nle:{}", " sqlite:{}", "zip:{}?x#y",
      // Lists in a text.
      "ok/a,{}", "{},ok/a", "ok/a;{}", "ok/a:{}", "ok/a\n{}", "ok/a {}", "ok/a|{}", "ok/a\t{}",
      "a,b,c,{},d",
      // Values of options and members.
      "{}:ro", "{}=x", "key={}", "--file={}", "--file {}", "-f{}", "-f {}", "@{}", "-d@{}",
      "a=b&c={}", "x?y={}",
      // JSON with a comment before it, and what is cut at a NUL.
      "/* c */ [\"{}\"]", "// c\n{{\"path\": \"{}\"}}", "# c\npath: \"{}\"",
      // Commands.
      "cat {}", "cat '{}'", "cat \"{}\"", "true;cat {}", "true && cat<{}", "echo $(cat {})",
      "cat `echo {}`", "cat {}>x", "(cat {})", "cat {}|sort", "A=1 cat {}"};
  return kWays;
}

TEST_CASE("a deny over any string catches what it denies wherever a word or a command names it") {
  const RunWorld world(Parameters{{"key"}, {"path"}, {"command"}, {"content"}});
  const std::string deny = "*.*(* within ./secret)";
  for (const char* place : {"secret/key", "./secret/key", "${BASE}/secret/key", "x/../secret/key",
                            "secret/new", "secret/../secret/key"}) {
    for (const char* way : ways_to_name()) {
      const std::string text = fmt::format(fmt::runtime(way), world.fill(std::string(place)));
      CAPTURE(text);
      for (const char* name : {"key", "path", "command"})
        CHECK(denies_run(world, deny, {{name, text}}));
      // The same of a name that no schema has, and in a list of words.
      CHECK(denies_run(world, deny, {{"key", "x"}, {"more", {{"words", {"a", text}}}}}));
    }
  }
  // What is denied itself, and asked about.
  for (const char* way : ways_to_name()) {
    const std::string text = fmt::format(fmt::runtime(way), "open/key");
    CAPTURE(text);
    for (const char* name : {"key", "path", "content"})
      CHECK_FALSE(denies_run(world, deny, {{name, text}}));
  }
}

TEST_CASE("a deny over any string knows what stands for the home, and what a shell expands") {
  const RunWorld world(Parameters{{"key"}});
  const std::string deny = "*.*(* within ~/.ssh)";
  for (const char* text : {"$HOME/.ssh/id",
                           "${DOLLAR}{HOME}/.ssh/id",
                           "$(HOME)/.ssh/id",
                           "${DOLLAR}{HOME:-x}/.ssh/id",
                           "%USERPROFILE%/.ssh/id",
                           "%userprofile%\\.ssh",
                           "$env:HOME/.ssh/id",
                           "~user/.ssh/id",
                           "~root/.ssh/id",
                           "cat $HOME/.ssh/id",
                           "cd ~/.ssh && cat id",
                           "~/.s*h/id",
                           "~/.s?h/id",
                           "~/.[s]sh/id",
                           "~/.{ssh,x}/id",
                           "~/{a,.ss{g,h}}/id",
                           "cat ~/.s*/id",
                           "${HOME}/.s*h/id",
                           "file://~/.ssh/id",
                           "file:~/.ssh",
                           "notes://${HOME}/.ssh/id",
                           "file:///~/.ssh/id",
                           "file:%2e%73sh/../home/%2essh/id",
                           "file:home/%252essh/id",
                           "--key=~/.ssh/id",
                           "cat ${HOME}/.s''sh/id",
                           "cat ${HOME}/.s\\sh/id",
                           "cat \"${HOME}\"/.ssh/id"}) {
    std::string filled = text;
    if (const auto at = filled.find("${DOLLAR}"); at != std::string::npos)
      filled.replace(at, 9, "$");
    CAPTURE(filled);
    CHECK(denies_run(world, deny, {{"key", filled}}));
  }
  const RunWorld other(Parameters{{"key"}});
  for (const char* text :
       {"$PWD/secret/key", "$(pwd)/secret/key", "`pwd`/secret/key", "~+/secret/key", "%CD%/secret",
        "cat $PWD/secret/key", "sqlite:///secret/key", "file://secret/key", "notes:///secret/key",
        "notes://a/secret/key", "rm -rf secret", "cd secret && cat key", "sort <secret"}) {
    CAPTURE(std::string(text));
    CHECK(denies_run(other, "*.*(* within ./secret)", {{"key", text}}));
  }
  // A NUL ends a name to what is written in C.
  CHECK(denies_run(other, "*.*(* matches ./secret/key)",
                   {{"key", std::string("./secret/key\0y", 14)}}));
}

TEST_CASE("of what is plainly no path a deny over any string says nothing") {
  const RunWorld world(Parameters{{"separator"},
                                  {"content"},
                                  {"newText"},
                                  {"message"},
                                  {"query"},
                                  {"pattern"},
                                  {"title"},
                                  {"url"},
                                  {"path"}});
  const std::string home = "*.*(* within ~/.ssh)";
  for (const auto& [name, text] : std::initializer_list<std::pair<const char*, std::string>>{
           {"separator", "/"},
           {"separator", "."},
           {"content", "~"},
           {"content", ""},
           {"content", "."},
           {"newText", ""},
           {"newText", "/"},
           {"message", "Cannot read ~/.ssh/config on this machine"},
           {"title", "Where is ~/.ssh/config?"},
           {"pattern", "*"},
           {"pattern", "**/*.md"},
           {"query", ""},
           {"query", "label:bug author:@me sort:updated-desc"},
           {"query", "either/or and/or"},
           {"url", "https://example.com/home/user/.ssh?x=/a#~"},
           {"path", "notes/a (1) [draft], v2; it's.txt"},
           {"path", "src/*.cpp"},
           {"path", "app/[id]/page.tsx"},
           {"path", "routes/$id.tsx"}}) {
    CAPTURE(std::string(name));
    CAPTURE(text);
    CHECK_FALSE(denies_run(world, home, {{name, text}}));
  }
  // A page that mentions the place in a sentence, whatever its argument is called.
  std::string page = "How to set it up. ";
  for (int i = 0; i < 20; ++i) page += "Read the manual, then go on. ";
  page += "The keys are in ~/.ssh/id, and the hosts in /etc/hosts.\n";
  for (const char* name : {"content", "query", "unknown"}) {
    CHECK_FALSE(denies_run(world, home, {{name, page}}));
    CHECK_FALSE(denies_run(world, "*.*(* within /etc)", {{name, page}}));
  }
}

std::string numbered(std::string_view front, int count, std::string_view behind) {
  std::string text;
  for (int i = 0; i < count; ++i) text.append(front).append(std::to_string(i)).append(behind);
  return text;
}

TEST_CASE("a deny over any string reads each line of a command, whatever quotes stand before it") {
  const RunWorld world(Parameters{{"key"}, {"command"}});
  for (const char* name : {"key", "command"}) {
    for (const char* text :
         {"# it's\ncat ~/.s''sh/id", "# it's \\\ncat ~/.s''sh/id", "# say \"\ncat ~/.s\"\"sh/id",
          "cat <<E\nit's\nE\ncat ~/.s''sh/id", "# it's\necho 'a\nb' ~/.s''sh/id",
          "# it's\necho \"a\nb\" ~/.s''sh/id", "cat ~/.s\\\nsh/id", "# it's\ncat ~/.s\\\nsh/id",
          "cat \"$HOME\"/.s\\\nsh/id"}) {
      CAPTURE(std::string(text));
      CHECK(denies_run(world, "*.*(* within ~/.ssh)", {{name, text}}));
    }
  }
  for (const char* text : {"# it's\ncat ~/.x''sh/id", "cat <<'E'\nit's 5 o'clock\nE\nls src",
                           "echo 'a\nb' \"c\nd\" \\\n  e", "find src -exec grep x {} \\;"}) {
    CAPTURE(std::string(text));
    CHECK_FALSE(denies_run(world, "*.*(* within ~/.ssh)", {{"command", text}}));
  }
}

TEST_CASE("a command that names more than is read is caught, and a document is held by its text") {
  const RunWorld world(Parameters{{"key"}, {"command"}, {"content"}});
  const std::string deny = "*.*(* within ~/.ssh)";
  const auto caught = [&](const char* name, const std::string& text) {
    return denies_run(world, deny, {{name, text}});
  };
  // 64 KiB, and nothing else about it.
  const std::string comment = " #" + std::string(65'536, 'x');
  CHECK(caught("command", "cat ~/.ssh/id" + comment));
  CHECK(caught("command", "cat notes" + comment));
  CHECK_FALSE(caught("command", "cat notes" + comment.substr(0, 60'000)));
  CHECK_FALSE(caught("content", "cat ~/.ssh/id" + comment));
  // 64 alternatives in braces.
  const std::string more = "~/.s{" + numbered("", 70, ",") + "sh}/id";
  for (const char* name : {"key", "command", "content"}) CHECK(caught(name, more));
  CHECK(caught("command", "cd ~ && cat .{" + numbered("", 70, ",") + "x}"));
  CHECK_FALSE(caught("key", "{" + numbered("", 70, ",") + "x}"));
  // A link is found behind any number of words, of a command.
  namespace fs = std::filesystem;
  fs::create_directory_symlink(world.base() + "/home/.ssh", world.base() + "/link");
  const std::string words = numbered("w", 100, " ");
  CHECK(caught("command", "echo " + words + "; cat link/id"));
  CHECK(caught("command", "cat link/id; echo " + words));
  CHECK_FALSE(caught("command", "echo " + words + "; cat open/id"));
  CHECK_FALSE(caught("key", numbered("w", 100, "/x\n") + "link/id"));
  CHECK(caught("key", numbered("w", 10, "/x\n") + "link/id"));
  // As many words as a long file has that a command writes; more are too many.
  CHECK_FALSE(caught("command", "cat >x <<E\n" + numbered("word", 2'000, "\n") + "E"));
  CHECK(caught("command", "cat >x <<E\n" + numbered("w", 5'000, "\n") + "E"));
  // Documents of many members, on one line.
  const std::string json =
      "{\"a\":{" + numbered("\"k", 80, "\":\"src/x\",") + "\"z\":1},\"p\":\"/srv\"}";
  for (const char* name : {"key", "content"}) CHECK_FALSE(caught(name, json));
  CHECK_FALSE(caught("command", "curl -d '" + json + "' localhost"));
}

TEST_CASE("what is read of a text for paths is a multiple of its size, and read once a call") {
  const std::string names = numbered("n", 59, ",");
  const std::string bomb = "q:a:b:c:d:e:f:g:{" + names + "x}?" + numbered("/a", 600, "");
  const auto most = [](const std::string& text) {
    return kLeastPathBudget + (kPathBudgetPerByte + 1) * text.size();
  };
  for (const auto& text : {bomb, "cat " + bomb, bomb + " " + bomb, numbered("a:", 1'500, ""),
                           "{" + names + "}{" + names + "}/" + std::string(3'000, 'a')}) {
    CAPTURE(text.substr(0, 40));
    for (const auto meant : {MeantAs::kUnknown, MeantAs::kCommand}) {
      const auto readings = path_readings(text, "/home/user", meant);
      CHECK(readings.read <= most(text));
      CHECK(readings.named.size() <= kMostPathReadings + 8);
    }
  }
  CHECK(path_readings(bomb, "/home/user").unclear);
  const RunWorld world(Parameters{{"key"}});
  CHECK(denies_run(world, "*.*(* within ~/.ssh)", {{"key", bomb}}));
  // Beyond no bound: what honest values multiply to.
  for (const auto& text : std::initializer_list<std::string>{
           "SHA256 " + numbered("A", 32, ":"), "key: value\n" + std::string(300'000, 'x'),
           "PATH=" + numbered("/usr/local/bin", 60, ":"), "a=1&" + numbered("k=", 200, "&"),
           "src/{a,b,c}/{d,e}/*.{cpp,h}", "aa:bb:cc:dd:ee:ff:gg:hh:ii:jj"}) {
    CAPTURE(text.substr(0, 40));
    CAPTURE(path_readings(text, "/home/user").read);
    CHECK_FALSE(path_readings(text, "/home/user").unclear);
  }
  // All rules have one reading.
  KnownReadings known;
  const Json value = bomb;
  const auto& first = known.paths_in(value, "/home/user", MeantAs::kUnknown);
  CHECK(&known.paths_in(value, "/home/user", MeantAs::kUnknown) == &first);
  CHECK(&known.paths_in(value, "/home/user", MeantAs::kCommand) != &first);
}

TEST_CASE("an empty value is the start of relative paths, of an argument that is for a path") {
  RunWorld world(Parameters{{"path"}, {"where", "The folder to list"}, {"name"}, {"content"}});
  world.bases.given_folders["t"] = {world.base() + "/home"};
  for (const char* deny : {"*.*(* within ~/.ssh)", "*.*(* within ${BASE}/home)"}) {
    CAPTURE(std::string(deny));
    for (const std::string& text :
         {std::string(), std::string(" "), std::string("\t\n"), std::string("\"\""),
          std::string("\u200b"), std::string("."), std::string("./"), std::string("./.")}) {
      CAPTURE(text);
      CHECK(denies_run(world, deny, {{"path", text}}));
      CHECK(denies_run(world, deny, {{"where", text}}));
      CHECK(denies_run(world, deny, {{"path", "x"}, {"where", text}}));
    }
    for (const char* name : {"name", "content"}) CHECK_FALSE(denies_run(world, deny, {{name, ""}}));
  }
  CHECK_FALSE(denies_run(world, "*.*(* within /srv/other)", {{"path", ""}}));
  CHECK(denies_run(world, "t.*(path within ~/.ssh)", {{"path", ""}}));
}

TEST_CASE("which policy admits more knows what an argument is for, and what a part of it names") {
  RunWorld world(Parameters{{"path"}, {"name"}});
  world.bases.given_folders["t"] = {world.base() + "/home"};
  const auto load = [&](const std::string& grant, std::vector<std::string> denies) {
    for (auto& deny : denies) deny = world.fill(deny);
    return world
        .load({LayerText{.name = "the command line",
                         .grants = {grant},
                         .asks = {},
                         .denies = std::move(denies),
                         .files = {}}})
        .value();
  };
  const auto includes = [](const Authority& wider, const Authority& narrower) {
    return std::holds_alternative<Included>(wider.includes(narrower));
  };
  const auto denied = load("t.run", {"*.*(* within ~/.ssh)"});
  CHECK_FALSE(includes(denied, load("t.run(path == \"\")", {})));
  CHECK(includes(denied, load("t.run(name == \"\")", {})));
  CHECK_FALSE(includes(denied, load("t.run(name == \"a,~/.ssh/id\")", {})));
  CHECK_FALSE(includes(denied, load("t.run(name == \"notes://~/.ssh/id\")", {})));
  CHECK(includes(denied, load("t.run(name == \"a,~/.sshrc\")", {})));
  CHECK(includes(denied, denied));
  CHECK(includes(load("t.run", {}), denied));
  CHECK_FALSE(includes(denied, load("t.run", {})));
  CHECK_FALSE(includes(denied, load("t.run(name like \"*\")", {})));
}

TEST_CASE("of a remote server a deny over any string takes no text for a path that is none") {
  RunWorld world(Parameters{{"path"}, {"text"}, {"name"}, {"command"}});
  world.bases.remote_servers.insert("t");
  const std::string deny = "*.*(* within /srv/secret)";
  for (const char* name : {"text", "name", "command"})
    CHECK_FALSE(denies_run(world, deny, {{name, "ls -la words"}}));
  for (const char* name : {"path", "name", "command"}) {
    CHECK(denies_run(world, deny, {{name, "/srv/secret/x"}}));
    CHECK(denies_run(world, deny, {{name, "a,/srv/secret/x"}}));
  }
  // From whichever folder above the place, and beside it.
  for (const char* path : {"../../srv/secret/x", "srv/secret/x", "secret/x", "./secret",
                           "../secret/x", "a/../secret/x", " secret/x"})
    CHECK(denies_run(world, deny, {{"path", path}}));
  for (const char* path : {"x", "acme", "README.md", "src/index.ts", ".", "/", "secrets/x",
                           "https://example.com/secret/x", "x/secret"})
    CHECK_FALSE(denies_run(world, deny, {{"path", path}}));
  CHECK(denies_run(world, "*.*(* matches /srv/**/.env)", {{"path", "a/.env"}}));
  CHECK(denies_run(world, "t.run(path within /srv/secret, ..)", {{"path", "x"}}));
}

}  // namespace mcpac::policy::testing
