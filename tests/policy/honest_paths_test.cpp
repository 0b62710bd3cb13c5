// What honest users send every day under a deny over paths, each beside its hostile neighbour; and
// paths that begin where another argument, or a command, says.
#include <doctest/doctest.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "core/json.h"
#include "policy/match/path_facts.h"
#include "policy/match/system_path_resolver.h"
#include "policy/support_world.h"

namespace mcpac::policy::testing {
namespace {

// A project below the home, with a tool whose members are described, and one of a gateway.
struct DailyWorld : World {
  DailyWorld() {
    add_tools(Json::parse(R"({
      "t.run": {"type": "object", "properties": {
        "path": {"type": "string"}, "key": {"type": "string"}, "name": {"type": "string"},
        "query": {"type": "string"}, "data": {"type": "string"}, "sep": {"type": "string"},
        "old_string": {"type": "string"}, "new_str": {"type": "string"},
        "input": {"type": "string"}, "url": {"type": "string"}, "command": {"type": "string"},
        "content": {"type": "string"}, "prompt": {"type": "string"},
        "ask": {"type": "string", "description": "The question to ask, in a few sentences"},
        "file": {"type": "string"}, "files": {"type": "array"}, "args": {"type": "array"},
        "cwd": {"type": "string"}, "dir": {"type": "string"}, "repo_path": {"type": "string"},
        "repo": {"type": "string"}, "base": {"type": "string"}, "options": {},
        "pipeline": {"type": "array"}}},
      "t.say": {"type": "object", "properties": {
        "pattern": {"type": "string"}, "regex": {"type": "string"}, "search": {"type": "string"},
        "query": {"type": "string"}, "expr": {"type": "string",
          "description": "Regular expression to look for"},
        "excludePatterns": {"type": "array"}, "exclude": {"type": "array"},
        "ignoreFile": {"type": "string"}, "patterns": {"type": "array"},
        "include": {"type": "string"}, "glob": {"type": "string"}, "files": {"type": "array"},
        "message": {"type": "string"}, "title": {"type": "string"}, "body": {"type": "string"},
        "text": {"type": "string"}, "content": {"type": "string"}, "edits": {"type": "array",
          "items": {"type": "object", "properties": {
            "oldText": {"type": "string"}, "newText": {"type": "string"}}}},
        "entities": {"type": "array", "items": {"type": "object", "properties": {
          "name": {"type": "string"}, "observations": {"type": "array"}}}},
        "prompt": {"type": "string"}, "version": {"type": "string"}, "path": {"type": "string"},
        "key": {"type": "string"}, "command": {"type": "string"}}},
      "gateway.invoke": {"type": "object", "properties": {"arguments": {}}},
      "forge.get": {"type": "object", "properties": {
        "owner": {"type": "string"}, "repo": {"type": "string"},
        "path": {"type": "string", "default": "/"}}}})"));
    put("home/.ssh/id_rsa", "file");
    put("home/proj/secret/key", "file");
    put("home/proj/src/a.cpp", "file");
    put("home/proj/data/x", "file");
    bases.current_directory = base() + "/home/proj";
  }

  [[nodiscard]] Effect effect(const LayerText& layer, const std::string& tool,
                              const Json& arguments) const {
    return load({layer}).value().decide(Permission::parse(tool).value(), fill(arguments)).effect;
  }
  [[nodiscard]] bool denies(const std::string& deny, const Json& arguments,
                            const std::string& tool = "t.run") const {
    const LayerText layer{.name = "the command line",
                          .grants = {"t.*", "gateway.*", "forge.*"},
                          .asks = {},
                          .denies = {fill(deny)},
                          .files = {}};
    return effect(layer, tool, arguments) == Effect::kDeny;
  }
  [[nodiscard]] bool allows(const std::string& grant, const Json& arguments) const {
    const LayerText layer{
        .name = "the command line", .grants = {fill(grant)}, .asks = {}, .denies = {}, .files = {}};
    return effect(layer, "t.run", arguments) == Effect::kAllow;
  }
};

constexpr const char* kNoKeys = "*.*(* within ~/.ssh)";
constexpr const char* kNoSecret = "*.*(* within ./secret)";
constexpr const char* kNoEnv = "*.*(* matches ./**/.env)";
constexpr std::array<const char*, 3> kDaily = {kNoKeys, kNoSecret, kNoEnv};

}  // namespace

TEST_CASE("a sign is no folder where nothing says that its place is for one") {
  const DailyWorld world;
  for (const char* sign : {"/", "~", ".", "//", "..", "~/", "./", "$home", "$HOME", "$cd"}) {
    CAPTURE(std::string(sign));
    for (const char* name : {"key", "name", "query", "data", "sep", "old_string", "new_str",
                             "content", "input", "url"}) {
      CAPTURE(std::string(name));
      CHECK_FALSE(world.denies(kNoKeys, {{name, sign}}));
      CHECK_FALSE(world.denies(kNoSecret, {{name, sign}}));
    }
    CHECK_FALSE(world.denies(kNoKeys, {{"arguments", {{"sep", sign}}}}, "gateway.invoke"));
    CHECK_FALSE(world.denies(kNoKeys, {{"options", {{"between", {sign, sign}}}}}));
    // Its place is for one, by the schema or by the name that a server looks for.
    CHECK(world.denies(kNoKeys, {{"arguments", {{"path", sign}}}}, "gateway.invoke") ==
          world.denies(kNoKeys, {{"path", sign}}));
  }
  for (const char* folder : {"/", "~", "$HOME", "..", "~/"}) {
    CAPTURE(std::string(folder));
    CHECK(world.denies(kNoKeys, {{"path", folder}}));
    CHECK(world.denies(kNoKeys, {{"dir", folder}}));
    CHECK(world.denies(kNoKeys, {{"arguments", {{"dirs", {folder}}}}}, "gateway.invoke"));
    CHECK(world.denies(kNoKeys, {{"args", {"-r", "x", folder}}}));
  }
  // What is more than a sign is a folder wherever it stands, and what is denied itself is caught.
  for (const char* name : {"key", "name", "query", "data", "input", "url", "unknown"}) {
    CAPTURE(std::string(name));
    CHECK(world.denies(kNoKeys, {{name, "${HOME}"}}));
    CHECK(world.denies(kNoKeys, {{name, "${HOME}/.ssh/id_rsa"}}));
    CHECK(world.denies(kNoKeys, {{name, "~/.ssh"}}));
    CHECK(world.denies(kNoKeys, {{name, "$HOME/.ssh"}}));
    CHECK(world.denies("*.*(* within ~/)", {{name, "~"}}));
    CHECK(world.denies("*.*(* within ~/)", {{name, "$HOME"}}));
    CHECK(world.denies("*.*(* within /)", {{name, "/"}}));
  }
  CHECK(world.denies(kNoKeys, {{"arguments", {{"key", "${HOME}/.ssh/id_rsa"}}}}, "gateway.invoke"));
}

TEST_CASE("fields of a database are no variables of a shell") {
  const DailyWorld world;
  const Json pipeline = Json::parse(R"([{"$match": {"$expr": {"$eq": ["$home", "$user"]}}},
    {"$group": {"_id": "$path", "all": {"$push": "$$ROOT"}, "of": "$cd", "by": "$username"}},
    {"$project": {"a": "$home.city", "b": "$pwd"}}])");
  for (const char* deny : {kNoKeys, kNoSecret, "*.*(* matches ./**/.env)"}) {
    CAPTURE(std::string(deny));
    CHECK_FALSE(world.denies(deny, {{"pipeline", pipeline}}));
    CHECK_FALSE(world.denies(deny, {{"arguments", {{"pipeline", pipeline}}}}, "gateway.invoke"));
    CHECK_FALSE(world.denies(deny, {{"query", pipeline.dump()}}));
  }
  CHECK(world.denies(kNoKeys, {{"pipeline", {{{"$out", "$home/.ssh/id"}}}}}));
  CHECK(world.denies(kNoSecret, {{"pipeline", {{{"$out", "$pwd/secret"}}}}}));
}

TEST_CASE("an empty text names nothing where its place is for no folder") {
  DailyWorld daily;
  daily.bases.given_folders["t"] = {daily.base() + "/home"};
  for (const char* name : {"input", "url", "name", "key", "query", "content", "prompt"}) {
    CAPTURE(std::string(name));
    for (const char* text : {"", " ", "\n"}) CHECK_FALSE(daily.denies(kNoKeys, {{name, text}}));
  }
  for (const char* name : {"path", "dir", "cwd", "repo_path", "repo"}) {
    CAPTURE(std::string(name));
    for (const char* text : {"", " ", "\n"}) CHECK(daily.denies(kNoKeys, {{name, text}}));
  }
}

TEST_CASE("a sentence that begins with a place is a sentence, in a parameter for prose") {
  const DailyWorld world;
  for (const char* name : {"prompt", "ask", "content"}) {
    CAPTURE(std::string(name));
    for (const char* text :
         {"~/.ssh is where keys live, please explain how I make one",
          "~/.ssh/config is where all of the hosts are listed, one a paragraph",
          "${HOME}/.ssh/config holds the hosts; why is it not read by my client?"})
      CHECK_FALSE(world.denies(kNoKeys, {{name, text}}));
    for (const char* text : {"~/.ssh/id_rsa", "${HOME}/.ssh/config", "~/.ssh/my old key",
                             "\"~/.ssh/id_rsa\"", "~/.ssh/tax return of 2025.pdf"})
      CHECK(world.denies(kNoKeys, {{name, text}}));
  }
  for (const char* name : {"prompt", "ask"})
    CHECK(world.denies(kNoKeys, {{name, "cat ~/.ssh/id_rsa"}}));
  // Of a place and of what is not known a name has any number of words, also in JSON.
  const char* many_words = "~/.ssh/all that I have to say about my keys";
  CHECK(world.denies(kNoKeys, {{"path", many_words}}));
  CHECK(world.denies(kNoKeys, {{"key", many_words}}));
  CHECK(world.denies(kNoKeys, {{"key", Json({{"path", many_words}}).dump()}}));
}

TEST_CASE("of a command a folder counts where the command goes below it") {
  const DailyWorld world;
  for (const char* command : {"df -h /",
                              "df -h / | tail -1",
                              "sudo df /",
                              "awk -F/ '{print $NF}' list",
                              "awk -F / x",
                              "awk -F/ '{print $1 \"/\" $2}' list",
                              "cut -d/ -f1 list",
                              "tr / _ < list",
                              "test -d /",
                              "[ -d / ] && echo yes",
                              "test -d ~",
                              "git add .",
                              "git status .",
                              "git add . && git commit -m done",
                              "jq . package.json",
                              "jq -r . x.json | head",
                              "find . -name '*.md'",
                              "find . -name x | sort",
                              "find . -type f | wc -l",
                              "ls",
                              "ls .",
                              "ls -la ~",
                              "ls /",
                              "stat .",
                              "du -sh .",
                              "mkdir -p .",
                              "cat list | grep / | sort -r",
                              "sed 's|/|_|g' list",
                              "echo 'tests / lint'",
                              "cd . && npm test",
                              "cd ${HOME}/proj && npm test",
                              "cd src && npm test",
                              "cd / && ls",
                              "realpath ~",
                              "sed 's/a/b/' list",
                              "LC_ALL=C df /",
                              "df -h / && ls src; stat /",
                              "touch x # see /"}) {
    CAPTURE(std::string(command));
    CHECK_FALSE(world.denies(kNoKeys, {{"command", command}}));
    CHECK_FALSE(world.denies(kNoSecret, {{"command", command}}));
  }
  for (const char* command : {"cat -r /",
                              "grep -r x /",
                              "grep -rn x ~",
                              "tar c ~",
                              "tar -cf x.tar /",
                              "cp -r ~ x",
                              "cp -r / x",
                              "rm -rf ~",
                              "mv ~ x",
                              "rsync -a ~ x",
                              "unknown /",
                              "unknown ~",
                              "ls -R ~",
                              "ls --recursive /",
                              "find / -exec cat {} +",
                              "find ~ -delete",
                              "find ~ -name id | xargs cat",
                              "cat $(find ~)",
                              "cat `find ~`",
                              "df / | sh",
                              "echo / | xargs cat",
                              "df $(grep -r x /)",
                              "df \"$(grep -r x /)\"",
                              "df `tar c /`",
                              "awk 'BEGIN{system(\"tar c / \")}'",
                              "awk 'BEGIN{\"tar c / \" | getline x}'",
                              "sed '1e tar c /' list",
                              "echo 'tar c /' | sed e",
                              "if true; then tar c /; fi",
                              "sh -c 'tar c /'",
                              "python3 -c 'walk(\"/\")'",
                              "find ~ > x; xargs cat < x",
                              "cd / && tar c x",
                              "cd ~ && npm test",
                              "cd .. && npm test",
                              "env df=1 tar c /",
                              "df <(tar c /)",
                              "git clean -fdx /",
                              "git archive ~",
                              "git grep x ~",
                              "DF=df; $DF /",
                              "time tar c /",
                              "sudo tar c /",
                              "df /; tar c /",
                              "tar c /; df /",
                              "df / || tar c /",
                              "df /\ntar c /",
                              "eval df /",
                              "echo 'tar c /' > x; sh x",
                              "find ~ -fprint x",
                              "alias df='tar c'; df /",
                              "df() { tar c $1; }; df /",
                              "for f in $(ls /); do cat $f; done",
                              "/tmp/df /",
                              "./df /",
                              "PATH=.:$PATH df /"}) {
    CAPTURE(std::string(command));
    CHECK(world.denies(kNoKeys, {{"command", command}}));
  }
  for (const char* command :
       {"grep -r x .", "tar c .", "cp -r . /tmp/x", "rm -rf .", "git clean -fdx .", "git grep x .",
        "ls -R .", "eslint .", "zip -r x ."}) {
    CAPTURE(std::string(command));
    CHECK(world.denies(kNoSecret, {{"command", command}}));
  }
  // What is denied itself, whatever the command does.
  for (const char* command :
       {"df ~/.ssh", "test -d ~/.ssh", "git add ${HOME}/.ssh/id_rsa", "ls ~/.ssh", "find ~/.ssh",
        "jq . ~/.ssh/id_rsa", "cat ~/.ssh/id_rsa"}) {
    CAPTURE(std::string(command));
    CHECK(world.denies(kNoKeys, {{"command", command}}));
  }
}

TEST_CASE("a document of many texts is data where its place is for text, whatever its form") {
  const DailyWorld world;
  Json flat = Json::array();
  Json deep = Json::object();
  for (int i = 0; i < 12'000; ++i) {
    flat.push_back("/srv/item/" + std::to_string(i));
    deep["key " + std::to_string(i)] = "src/" + std::to_string(i);
  }
  for (const auto& document : {flat.dump(), deep.dump(2)}) {
    CHECK_FALSE(world.denies(kNoKeys, {{"content", document}}));
    CHECK_FALSE(world.denies(kNoSecret, {{"content", document}}));
    CHECK(world.denies(kNoKeys, {{"key", document}}));
  }
  flat.erase(flat.begin() + 5'000, flat.end());
  CHECK_FALSE(world.denies(kNoKeys, {{"content", flat.dump()}}));
  flat.push_back("~/.ssh/id_rsa");
  CHECK(world.denies(kNoKeys, {{"content", flat.dump()}}));
}

TEST_CASE(
    "the root that a schema fills in says nothing of a machine whose folders none was given") {
  DailyWorld world;
  const auto denies = [&](const Json& arguments) {
    return world.denies(kNoKeys, arguments, "forge.get");
  };
  const Json place = {{"owner", "acme"}, {"repo", "web"}};
  Json with_path = place;
  CHECK_FALSE(denies(place));
  with_path["path"] = "/";
  CHECK_FALSE(denies(with_path));
  for (const char* path : {"~", "${HOME}", "/home/../", "~/.ssh/id_rsa", "${HOME}/.ssh"}) {
    CAPTURE(std::string(path));
    with_path["path"] = path;
    CHECK(denies(with_path));
  }
  // A server that was given folders reads its own machine, and so does one of another tool.
  with_path["path"] = "/";
  world.bases.given_folders["forge"] = {world.base() + "/home/proj"};
  CHECK(denies(with_path));
  world.bases.given_folders.clear();
  world.bases.roots["forge"] = world.base();
  CHECK(denies(with_path));
  CHECK(world.denies(kNoKeys, {{"path", "/"}}));
}

TEST_CASE("a relative path counts from the folder that another argument names, too") {
  DailyWorld world;
  struct Case {
    const char* deny;
    Json arguments;
  };
  for (const auto& [deny, arguments] : std::initializer_list<Case>{
           {"t.*(files[*] within ~/.ssh, ..)",
            {{"repo_path", "${HOME}"}, {"files", {".ssh/id_rsa"}}}},
           {"t.*(name within ~/.ssh, ..)", {{"dir", "${HOME}/.ssh"}, {"name", "id_rsa"}}},
           {"t.*(name within ~/.ssh, ..)",
            {{"options", {{"cwd", "${HOME}"}}}, {"name", ".ssh/id_rsa"}}},
           {"*.*(* within ~/.ssh)",
            {{"dir", "/srv"}, {"base", "${HOME}/proj/src"}, {"file", "../../.ssh/x"}}},
           {"*.*(* within ~/.ssh)",
            {{"cwd", "${HOME}/proj/src"}, {"command", "cat ../../.ssh/id_rsa"}}},
           {"*.*(* within ~/.ssh)",
            {{"cwd", "${HOME}/proj"}, {"dir", "src"}, {"name", "../../.ssh/x"}}},
           {"*.*(* within ~/.ssh)", {{"cwd", "src"}, {"name", "../../.ssh/x"}}},
           {"*.*(* within ~/.ssh)", {{"repo", "src"}, {"name", "../../.ssh/x"}}},
           {"*.*(* within ./secret)", {{"cwd", "~/proj/data"}, {"file", "../secret/key"}}}}) {
    CAPTURE(std::string(deny));
    CAPTURE(arguments.dump());
    world.bases.current_directory = world.base() + "/home/proj";
    CHECK(world.denies(deny, arguments));
    Json other = arguments;
    for (const char* name : {"cwd", "dir", "base", "repo", "repo_path", "options"}) {
      if (other.contains(name)) other[name] = "/srv/elsewhere";
    }
    CHECK_FALSE(world.denies(deny, other));
  }
  const std::string grant = "t.run(name within ./data, ..)";
  CHECK(world.allows(grant, {{"name", "data/x"}}));
  CHECK(world.allows(grant, {{"name", "data/x"}, {"cwd", "${HOME}/proj"}}));
  CHECK(world.allows(grant, {{"name", "data/x"}, {"cwd", "."}}));
  CHECK(world.allows(grant, {{"name", "${HOME}/proj/data/x"}, {"cwd", "/etc"}}));
  CHECK(world.allows(grant, {{"name", "data/x"}, {"repo", "web"}, {"base", "main"}}));
  for (const char* cwd : {"/etc", "~", "${HOME}", "..", "src"}) {
    CAPTURE(std::string(cwd));
    CHECK_FALSE(world.allows(grant, {{"name", "data/x"}, {"cwd", cwd}}));
  }
  CHECK_FALSE(world.allows(grant, {{"name", "data/x"}, {"repo", "/etc"}}));
  auto authority = world.grant({world.fill(grant)}).value();
  const auto denied =
      authority.decide(Permission::parse("t.run").value(), {{"name", "data/x"}, {"cwd", "/etc"}});
  CAPTURE(denied.remark);
  CHECK(denied.remark.contains("counts from /etc as well, which another argument names"));
  // The folder itself is no path that counts from itself.
  CHECK(world.allows("t.run(dir matches ./d*)", {{"dir", "data"}}));
}

TEST_CASE("a folder that another argument names is read in every dress that a place has") {
  const DailyWorld world;
  for (const auto& cwd : {Json(" secret"),
                          Json("\"secret\""),
                          Json("'secret'"),
                          Json("<secret>"),
                          Json("`secret`"),
                          Json("[\"secret\"]"),
                          Json("{secret,x}"),
                          Json("notes,secret"),
                          Json("secret;notes"),
                          Json("*"),
                          Json("**"),
                          Json("s*"),
                          Json("\ufeffsecret"),
                          Json("secret\n"),
                          Json("./secret/."),
                          Json("{\"x\": [\"secret\"]}"),
                          Json("{'x': 'secret'}"),
                          Json({{"x", {"secret"}}}),
                          Json({{"path", "secret"}}),
                          Json("file://${HOME}/proj/secret"),
                          Json("file://${HOME}/proj/%73ecret"),
                          Json("file:secret"),
                          Json({"src", "secret"})}) {
    CAPTURE(cwd.dump());
    for (const char* deny : {"t.run(name within ./secret, ..)", kNoSecret}) {
      CHECK(world.denies(deny, {{"name", "key"}, {"cwd", cwd}}));
      CHECK(world.denies(deny, {{"name", "key"}, {"options", {{"cwd", cwd}}}}));
    }
    const std::string grant = "t.run(name within ./ except {./secret}, ..)";
    CHECK_FALSE(world.allows(grant, {{"name", "key"}, {"options", {{"cwd", cwd}}}}));
  }
  for (const char* cwd : {"src", " src", "\"src\"", "[\"src\"]", "{src,data}", "src,data"}) {
    CAPTURE(std::string(cwd));
    CHECK_FALSE(world.denies("t.run(name within ./secret, ..)", {{"name", "key"}, {"cwd", cwd}}));
    CHECK_FALSE(world.denies(kNoSecret, {{"name", "key"}, {"cwd", cwd}}));
  }
  const std::string grant = "t.run(name within ./, ..)";
  for (const char* cwd :
       {" /etc", "\"/etc\"", "'/etc'", "<..>", "[\"/etc\"]", "{/etc,src}", "src,/etc", "[.][.]",
        "$WORK", "~other", "src\\..", "file:///etc", "{\"x\": \"/etc\"}"}) {
    CAPTURE(std::string(cwd));
    CHECK_FALSE(world.allows(grant, {{"name", "passwd"}, {"cwd", cwd}}));
    CHECK(world.allows(grant, {{"name", "${HOME}/proj/passwd"}, {"cwd", cwd}}));
  }
  for (const char* cwd : {"src", "./src", " src", "My Folder", "src, data",
                          "${HOME}/proj/My Folder", "[\"src\"]", "src/*"}) {
    CAPTURE(std::string(cwd));
    CHECK(world.allows(grant, {{"name", "a.cpp"}, {"cwd", cwd}}));
  }
  // What no path test reads is caught where the rule names the argument.
  CHECK(world.denies("t.run(name within ./secret, ..)", {{"name", "key"}, {"cwd", "$WORK"}}));
  CHECK_FALSE(world.denies("t.run(name within ./secret, ..)",
                           {{"name", "${HOME}/proj/src/a.cpp"}, {"cwd", "$WORK"}}));
  // Names of repositories and projects are no folders to an allow.
  for (const char* repo : {"web", "acme/web", "https://forge.example/acme/web", "my project, 2"}) {
    CAPTURE(std::string(repo));
    CHECK(world.allows("t.run(name within ./data, ..)", {{"name", "data/x"}, {"repo", repo}}));
  }
}

TEST_CASE("a folder in JSON in a text is one that a relative path counts from") {
  const DailyWorld world;
  for (const char* options :
       {R"({"cwd":"/etc"})", R"( {"cwd": "/etc"})", R"('{"cwd":"/etc"}')", R"({'cwd':'/etc'})",
        R"({"a":{"dir":"/etc"}})", R"([{"cwd":"/etc"}])", R"({"cwd":"/etc","cwd":"src"})",
        R"({"cwd":" /etc"})", R"("{\"cwd\":\"/etc\"}")", R"({"o":"{\"cwd\":\"/etc\"}"})",
        R"(["git","-C","/etc"])", R"({"\u0063wd":"/etc"})", R"({"cwd":"/etc","n":NaN})"}) {
    CAPTURE(std::string(options));
    CHECK_FALSE(
        world.allows("t.run(name within ./, ..)", {{"name", "passwd"}, {"options", options}}));
    CHECK(world.denies("t.run(name within /etc, ..)", {{"name", "passwd"}, {"options", options}}));
    CHECK(world.denies("*.*(* within /etc/x)", {{"name", "x/y"}, {"options", options}}));
    // The content of a file, or what is said, is no argument of a server.
    CHECK(world.allows("t.run(name within ./, ..)", {{"name", "passwd"}, {"content", options}}));
  }
  // Deeper than is looked at.
  constexpr std::size_t kDeep = 200'000;
  const std::string deep = std::string(kDeep, '[') + R"({"cwd":"/etc"})" + std::string(kDeep, ']');
  CHECK(world.denies("t.run(name within /etc, ..)", {{"name", "passwd"}, {"options", deep}}));
  CHECK_FALSE(world.allows("t.run(name within ./, ..)", {{"name", "passwd"}, {"options", deep}}));
  for (const char* options : {R"({"cwd":"src"})", R"({"depth":3})", R"({"a":["b"],"mode":"x"})",
                              "[x](y)", "{a}", "[1,2]"}) {
    CAPTURE(std::string(options));
    CHECK(world.allows("t.run(name within ./, ..)", {{"name", "a"}, {"options", options}}));
    CHECK_FALSE(
        world.denies("t.run(name within ./secret, ..)", {{"name", "key"}, {"options", options}}));
  }
}

TEST_CASE("a folder that a call leaves out is its default to the paths beside it") {
  for (const char* options :
       {R"({"anyOf": [{"type": "object", "properties": {"cwd": {"default": "secret"}}}]})",
        R"({"type": "object", "properties": {"cwd": {"type": "string", "default": "secret"}}})",
        R"({"$ref": "#/$defs/o"})", R"({"anyOf": [{"$ref": "#/$defs/o"}, {"type": "string"}]})",
        R"({"oneOf": [{"default": {"cwd": "secret"}}, {"type": "null"}]})",
        R"({"default": {"cwd": "secret"}})",
        R"({"properties": {"in": {"properties": {"dir": {"default": "secret"}}}}})"}) {
    CAPTURE(std::string(options));
    DailyWorld world;
    world.add_tools(
        {{"d.run",
          {{"type", "object"},
           {"$defs",
            {{"o", {{"type", "object"}, {"properties", {{"cwd", {{"default", "secret"}}}}}}}}},
           {"properties", {{"path", {{"type", "string"}}}, {"options", Json::parse(options)}}}}}});
    const auto effect = [&](const char* allow, const char* deny, const Json& arguments) {
      LayerText layer{
          .name = "the command line", .grants = {allow}, .asks = {}, .denies = {}, .files = {}};
      if (deny != nullptr) layer.denies = {deny};
      return world.effect(layer, "d.run", arguments);
    };
    const Json open = {{"path", "key"}};
    CHECK(effect("d.*", "d.run(path within ./secret, ..)", open) == Effect::kDeny);
    CHECK(effect("d.*", "d.run(path within ./private, ..)", open) == Effect::kAllow);
    CHECK(effect("d.run(path within ./ except {./secret}, ..)", nullptr, open) == Effect::kDeny);
    CHECK(effect("d.run(path within ./, ..)", nullptr, open) == Effect::kAllow);
    const Json said = {{"path", "key"}, {"options", {{"cwd", "src"}, {"in", {{"dir", "src"}}}}}};
    CHECK(effect("d.*", "d.run(path within ./secret, ..)", said) == Effect::kAllow);
    CHECK(effect("d.run(path within ./ except {./secret}, ..)", nullptr, said) == Effect::kAllow);
    const Json whole = {{"path", world.base() + "/home/proj/src/a.cpp"}};
    CHECK(effect("d.*", "d.run(path within ./secret, ..)", whole) == Effect::kAllow);
  }
}

TEST_CASE("folders that two arguments name stand below each other, in either order") {
  const DailyWorld world;
  const std::string deny = "t.*(name within ./notes/private, ..)";
  for (const auto& [one, other] : std::initializer_list<std::pair<const char*, const char*>>{
           {"notes", "private"}, {"private", "notes"}, {" notes", "\"private\""}}) {
    const Json call = {{"name", "k"}, {"repo_path", one}, {"dir", other}};
    CHECK(world.denies(deny, call));
    CHECK(world.denies("*.*(* within ./notes/private)", call));
    CHECK_FALSE(world.allows("t.run(name within ./ except {./notes/private}, ..)", call));
    CHECK(world.denies(deny, {{"name", "k"}, {"args", {"-C", one, "-C", other}}}));
  }
  CHECK_FALSE(world.denies(deny, {{"name", "k"}, {"repo_path", "notes"}, {"dir", "public"}}));
  // Items of one list are beside each other.
  CHECK_FALSE(world.denies(deny, {{"name", "k"}, {"options", {{"dirs", {"notes", "private"}}}}}));
  CHECK(world.allows("t.run(name within ./, ..)",
                     {{"name", "k"}, {"repo_path", "notes"}, {"dir", "private"}}));
  Json many = Json::object();
  for (int i = 0; i < 20; ++i)
    many[std::string(1, static_cast<char>('a' + i)) + "_dir"] = "x" + std::to_string(i);
  CHECK(world.denies(deny, {{"name", "k"}, {"options", many}}));
}

TEST_CASE("a parameter names a folder that others count from in any of the usual spellings") {
  const DailyWorld world;
  for (const char* name :
       {"cwd", "workDir", "work_dir", "work_tree", "workTree", "worktree", "searchPath",
        "search_path", "relativeTo", "relative_to", "docroot", "doc_root", "pwd", "directories",
        "cwds", "folders", "base_dirs", "repositories_dir"}) {
    CAPTURE(std::string(name));
    for (const Json& folder : {Json("secret"), Json({"src", "secret"})})
      CHECK(world.denies("t.run(name within ./secret, ..)",
                         {{"name", "key"}, {"options", {{name, folder}}}}));
    CHECK_FALSE(world.allows("t.run(name within ./, ..)",
                             {{"name", "passwd"}, {"options", {{name, "/etc"}}}}));
  }
  for (const char* name : {"redir", "base64", "address", "mkdirp", "pathological", "date"}) {
    CAPTURE(std::string(name));
    CHECK_FALSE(world.denies("t.run(name within ./secret, ..)",
                             {{"name", "key"}, {"options", {{name, "secret"}}}}));
  }
}

TEST_CASE("a folder counts to a pattern where it holds such an entry, as the disk has it") {
  const DailyWorld world;
  const std::string deny = "*.*(* matches ./**/.env)";
  world.put("home/proj/app/deep/er/.env", "file");
  world.put("home/proj/linked/to", "-> ${HOME}/proj/app/deep/er/.env");
  world.put("home/proj/linked/out/folder", "-> ${HOME}/proj/app");
  world.put("home/proj/lib/link", "-> ./nothing");
  world.put("home/proj/lib/other", "-> ../src/a.cpp");
  for (const char* folder : {"src/", "src", "${HOME}/proj/data", "lib", "missing", "./src/."}) {
    CAPTURE(std::string(folder));
    CHECK_FALSE(world.denies(deny, {{"files", {folder}}}));
    CHECK_FALSE(world.denies(deny, {{"path", folder}}));
    CHECK(world.denies(deny, {{"path", std::string(folder) + "/.env"}}));
  }
  for (const char* folder : {"app", "app/deep/", "app/deep/er", ".", "~", "${HOME}/proj", "linked",
                             "linked/out", "/", "../proj/app"}) {
    CAPTURE(std::string(folder));
    CHECK(world.denies(deny, {{"files", {folder}}}));
    CHECK(world.denies(deny, {{"path", folder}}));
  }
  // More than are looked at may hold one.
  for (int i = 0; i < 10'001; ++i) world.put("home/proj/many/" + std::to_string(i), "file");
  CHECK(world.denies(deny, {{"path", "many"}}));
  // A rule that names its argument means folders as well, whatever is in them.
  CHECK(world.denies("t.*(path matches ./**/.env, ..)", {{"path", "src"}}));
}

TEST_CASE("what a folder held is recorded, and told again when the disk is another") {
  DailyWorld world;
  world.put("home/proj/app/.env", "file");
  const SystemPathResolver disk;
  PathWitness witness(disk);
  const auto is_meant = [](const std::string& path) { return path.ends_with("/.env"); };
  const std::string app = world.base() + "/home/proj/app";
  const std::string src = world.base() + "/home/proj/src";
  witness.begin(kPathsOfOneCall);
  CHECK(witness.holds(app, "./**/.env", is_meant).value());
  CHECK_FALSE(witness.holds(src, "./**/.env", is_meant).value());
  CHECK_FALSE(witness.holds(src, "./**/.key", is_meant).value());
  CHECK_FALSE(witness.holds(app + "/none", "./**/.env", is_meant).has_value());
  world.put("home/proj/src/.env", "file");
  CHECK_FALSE(witness.holds(src, "./**/.env", is_meant).value());  // as it was told
  RecordedPaths recorded;
  recorded.set(witness.take());
  CHECK(recorded.holds(app, "./**/.env", is_meant).value());
  CHECK_FALSE(recorded.holds(src, "./**/.env", is_meant).value());
  CHECK_FALSE(recorded.holds(app + "/none", "./**/.env", is_meant).has_value());
  CHECK_FALSE(recorded.missed_any());
  CHECK_FALSE(recorded.holds(src, "./**/.pem", is_meant).has_value());
  CHECK(recorded.missed_any());
}

TEST_CASE("of a remote server a relative path counts from the folders that its call names") {
  DailyWorld world;
  world.bases.remote_servers.insert("t");
  CHECK(world.denies("*.*(* within /srv/a/b)", {{"cwd", "/srv/a/x"}, {"command", "cat ../b/key"}}));
  CHECK(world.denies("*.*(* within /srv/a/b)", {{"command", "cd /srv/a/x && cat ../b/key"}}));
  CHECK_FALSE(
      world.denies("*.*(* within /srv/a/b)", {{"cwd", "/srv/a/x"}, {"command", "cat b/y"}}));
}

TEST_CASE("more than 64 folders in one call are taken for any folder") {
  const DailyWorld world;
  Json many = Json::object();
  for (int i = 0; i < 100; ++i)
    many["dir" + std::to_string(i)] = {{"cwd", "/srv/" + std::to_string(i)}};
  CHECK(world.denies("t.*(name within ~/.ssh, ..)", {{"options", many}, {"name", "x"}}));
  CHECK_FALSE(
      world.allows("t.run(name within ./data, ..)", {{"options", many}, {"name", "data/x"}}));
  CHECK(world.allows("t.run(name within ./data, ..)",
                     {{"options", many}, {"name", "${HOME}/proj/data/x"}}));
}

TEST_CASE("the words of a command count from the folder that it goes to, too") {
  const DailyWorld world;
  for (const char* command : {"cd ~ && cat .ssh/id_rsa",
                              "cd ${HOME} && cat .ssh/id_rsa",
                              "cd && cat .ssh/id_rsa",
                              "cd; cat .ssh/id_rsa",
                              "cd\ncat .ssh/id_rsa",
                              "cd -- ~; cat .ssh/x",
                              "cd $HOME; cat .ssh/x",
                              "cd ~/proj && cat ../.ssh/x",
                              "cd ~/proj; cd ..; cat .ssh/x",
                              "pushd ~ && cat .ssh/x",
                              "git -C ${HOME}/proj/src show ../../.ssh/x",
                              "tar -C ~ -c .ssh",
                              "tar --directory=${HOME} -c .ssh",
                              "git --git-dir=${HOME}/.git show :.ssh/x",
                              "git --work-tree ~ add .ssh",
                              "env --chdir=/srv/../${HOME} cat .ssh/x",
                              "cd src && cat ../../.ssh/x",
                              "cd src/x && cd ../.. && cat ../.ssh/x",
                              "(cd ~; cat .ssh/x)",
                              "true;cd ~;cat .ssh/x"}) {
    CAPTURE(std::string(command));
    CHECK(world.denies(kNoKeys, {{"command", command}}));
  }
  CHECK(world.denies(kNoKeys, {{"key", "cd ~/proj && cat ../.ssh/x"}}));
  CHECK(world.denies(kNoKeys, {{"command", {"cd ~/proj && cat ../.ssh/x"}}}));
  CHECK(
      world.denies(kNoKeys, {{"cwd", "${HOME}/proj/src"}, {"command", "cd .. && cat ../.ssh/x"}}));
  for (const char* command :
       {"cd src && cat ../../ssh/x", "cd ~/proj && cat .ssh/x", "cd /srv && cat .ssh/x",
        "git -C src show HEAD:a.cpp", "grep -C 3 x src/a.cpp", "make -C src ../x"}) {
    CAPTURE(std::string(command));
    CHECK_FALSE(world.denies(kNoKeys, {{"command", command}}));
  }
}

TEST_CASE("an expression or a glob of what is looked for is no pattern of a shell") {
  const DailyWorld world;
  for (const char* deny : kDaily) {
    CAPTURE(std::string(deny));
    for (const char* text :
         {"(foo|bar)", "(?:a|b)", "(import|from) ", R"((\w+)\.(ts|js))", R"((src|test)/.*\.ts)",
          R"((foo|bar)\()", ".*", "[a-z]*", "?*", "*.*", R"(process\.env)", R"(.*\.env)",
          R"(src/.*\.env)", "!**/node_modules/**"}) {
      CAPTURE(std::string(text));
      for (const char* name : {"pattern", "regex", "search", "query", "expr"})
        CHECK_FALSE(world.denies(deny, {{name, text}}, "t.say"));
    }
    for (const char* name : {"excludePatterns", "exclude"}) {
      const Json globs = {".env", "**/.*", "**/.env", "!**/x/**", "node_modules", "*.*", "secret"};
      CHECK_FALSE(world.denies(deny, {{name, globs}}, "t.say"));
    }
    for (const char* glob : {"!**/node_modules/**", "!**/dist/**", "!dist/**"}) {
      CHECK_FALSE(world.denies(deny, {{"include", glob}}, "t.say"));
      CHECK_FALSE(world.denies(deny, {{"files", {"src/*.ts", glob}}}, "t.say"));
    }
  }
  for (const char* name : {"pattern", "regex", "search", "query", "exclude", "expr"}) {
    CAPTURE(std::string(name));
    for (const char* text : {"${HOME}/.ssh/id_rsa", "~/.ssh/id_rsa", "~/.ssh/*", "~/.ss[h]/*"})
      CHECK(world.denies(kNoKeys, {{name, text}}, "t.say"));
    for (const char* text : {"secret/key", "./secret/key", R"(secret\key)"})
      CHECK(world.denies(kNoSecret, {{name, text}}, "t.say"));
  }
  for (const char* name : {"search", "query"}) {
    CHECK(world.denies(kNoKeys, {{name, "COPY t FROM '${HOME}/.ssh/id_rsa'"}}, "t.say"));
    CHECK(world.denies(kNoKeys, {{name, "${HOME}"}}, "t.say"));
  }
  // What is read is a place, and so is the file that says what is left out.
  for (const char* glob : {".env", "config/.env", "x/{.env,y}", ".en?", "**/.env"}) {
    CAPTURE(std::string(glob));
    for (const char* name : {"glob", "include", "path"})
      CHECK(world.denies(kNoEnv, {{name, glob}}, "t.say"));
    for (const char* name : {"files", "patterns"})
      CHECK(world.denies(kNoEnv, {{name, {glob}}}, "t.say"));
    CHECK(world.denies(kNoEnv, {{"ignoreFile", glob}}, "t.say"));
  }
  CHECK(world.denies(kNoEnv, {{"path", "!(x)/.env"}}, "t.say"));
}

TEST_CASE("a name behind ~ that no user has is a version or a name of a file") {
  const DailyWorld world;
  for (const char* text : {"~1.2.3", "~2h", "~100", "~18.2.0", "foo@~1.2.3", "x@~1", "'a/b:~2.0'",
                           "'~> 2.0'", "~> 2.0", "~=1.4", "~100.md"}) {
    CAPTURE(std::string(text));
    for (const char* deny : kDaily) {
      for (const char* name : {"version", "key", "path"})
        CHECK_FALSE(world.denies(deny, {{name, text}}, "t.say"));
      const std::string quoted = text[1] == '>' ? "'" + std::string(text) + "'" : text;
      CHECK_FALSE(world.denies(deny, {{"command", "npm install " + quoted}}, "t.say"));
    }
    CHECK_FALSE(world.denies("t.say(path within ~/.ssh, ..)", {{"path", text}}, "t.say"));
  }
  CHECK(world.allows("t.run(path within ./)", {{"path", "~100.md"}}));
  for (const char* path : {"~root/.ssh/x", "~/x", "~", "~a", "~_x/y"}) {
    CAPTURE(std::string(path));
    CHECK_FALSE(world.allows("t.run(path within ./)", {{"path", path}}));
  }
  for (const char* text : {"~/.ssh/x", "~root/.ssh/x", "~_x/.ssh/x", "~+/../.ssh/x"}) {
    CAPTURE(std::string(text));
    CHECK(world.denies(kNoKeys, {{"key", text}}, "t.say"));
    CHECK(world.denies("t.say(key within ~/.ssh, ..)", {{"key", text}}, "t.say"));
  }
  CHECK(world.denies(kNoKeys, {{"command", "pushd ~; cd /; cat ~1/.ssh/x"}}));
}

TEST_CASE("a sentence in a parameter for prose is no file that a pattern means") {
  const DailyWorld world;
  for (const char* text :
       {"fix: read src/.env", "Remove config/.env", "node_modules\nconfig/.env\n",
        "COPY .env /app/.env", "import x from '../../.env'", "ignore .env"}) {
    CAPTURE(std::string(text));
    for (const char* name : {"message", "title", "body", "text", "content"})
      CHECK_FALSE(world.denies(kNoEnv, {{name, text}}, "t.say"));
    CHECK_FALSE(
        world.denies(kNoEnv, {{"edits", {{{"oldText", text}, {"newText", text}}}}}, "t.say"));
    CHECK_FALSE(world.denies(
        kNoEnv, {{"entities", {{{"name", "x"}, {"observations", {text, "uses ~/.ssh"}}}}}},
        "t.say"));
  }
  CHECK_FALSE(world.denies(kNoEnv, {{"edits", {{{"oldText", "config/.env"}}}}}, "t.say"));
  CHECK_FALSE(world.denies(kNoEnv, {{"content", "config/.env"}}, "t.say"));
  CHECK(world.denies(kNoEnv, {{"files", {"config/.env"}}}, "t.say"));
  for (const char* name : {"path", "key"}) {
    for (const char* text : {".env", "config/.env", "my config/.env", "x config/.env"})
      CHECK(world.denies(kNoEnv, {{name, text}}, "t.say"));
  }
  CHECK(world.denies(kNoEnv, {{"content", "${HOME}/proj/config/.env"}}, "t.say"));
  CHECK(world.denies(kNoEnv, {{"prompt", "read config/.env"}}, "t.say"));
  CHECK(world.denies(kNoSecret, {{"content", "secret/my key"}}, "t.say"));
  CHECK(world.denies(kNoKeys, {{"entities", {{{"observations", {"~/.ssh/id_rsa"}}}}}}, "t.say"));
}

TEST_CASE("what a command is told, leaves out or writes into a .gitignore is opened by nothing") {
  const DailyWorld world;
  for (const char* command :
       {"git commit -m 'ignore .env files'", "git commit -m 'docs: mention ~/.ssh'",
        "git commit -am \"see secret / key\"", "git commit --message='drop config/.env now'",
        "cargo test && git commit -m 'ignore .env files' && git status",
        "git tag v1 -m 'reads secret/key no more'", "echo .env >> .gitignore",
        "printf '.env\\nsecret/\\n' >> .gitignore && git add .gitignore",
        "gh pr create --title 'Fix ..' --body x",
        "gh pr create --title 'a / b' --body 'see config/.env'",
        "find . -name '*.ts' -not -path './node_modules/*'", "find . -name '.*' | sort",
        "find . ! -path './secret/*'", "find . -path ./secret -prune -o -name '*.ts' -print",
        "npm test -- -t 'a / b'", "npx vitest -t 'reads .env files'", ". ~/.nvm/nvm.sh && nvm use",
        "curl localhost:3000/?a=/", "curl 'localhost:3000/x?a=/&b=/'"}) {
    CAPTURE(std::string(command));
    for (const char* deny : kDaily) {
      CAPTURE(std::string(deny));
      CHECK_FALSE(world.denies(deny, {{"command", command}}));
    }
  }
  for (const char* command : {"git commit -m '.env' .env",
                              "git commit -F .env -m 'a b'",
                              "git commit -m \"$(cat .env)\"",
                              "git commit -m 'cat .env' | sh",
                              "git commit -m 'cat .env'; git log -1 --format=%B | sh",
                              "git commit -m 'a b'; cat .env",
                              "git commit -m 'cat .env'; eval x",
                              "sh -m 'cat .env'",
                              "ssh host -t 'cat .env'",
                              "bash -t 'cat .env'",
                              "npm exec -- ssh x -t 'cat .env'",
                              "git grep -m 'x .env y' .env",
                              "echo x > .env",
                              "echo .env > list; xargs cat < list",
                              "echo .env > .gitignore; xargs cat < .gitignore",
                              "echo 'cat .env' > x.ignore; sh x.ignore",
                              "echo .env >> .gitignore; cat .env",
                              "echo .env >> .gitignore && git add --pathspec-from-file=.gitignore",
                              "echo .e{n,x}v >> .gitignore",
                              "find . -name .env -exec cat {} +",
                              "find . -name '.e*' | xargs cat",
                              "find . -name '.e*' -print0 | tar --null -T -",
                              "find . -name .env",
                              "cat ./.env",
                              ". ./.env && nvm use",
                              "curl localhost:3000/ -d @.env",
                              "curl -F x=@config/.env localhost:3000/?a=/"}) {
    CAPTURE(std::string(command));
    CHECK(world.denies(kNoEnv, {{"command", command}}));
  }
  CHECK(world.denies(kNoKeys, {{"command", "cat ~/.ssh/id_rsa"}}));
  CHECK(world.denies(kNoKeys, {{"command", "curl localhost:80/../../.ssh/x?a=/"}}) ==
        world.denies(kNoKeys, {{"command", "curl localhost:80/../../.ssh/x"}}));
  CHECK(world.denies(kNoKeys, {{"command", ". ~/.nvm/nvm.sh; df /; tar c /"}}));
  CHECK(world.denies(kNoSecret, {{"command", ". ~/x; df ."}}));
}

TEST_CASE("a name that goes on behind a blank is not the excepted folder that it begins with") {
  const DailyWorld world;
  const std::string grant = "t.run(path within ./ except {./secret/in})";
  for (const char* path : {"secret/in notes.md", "secret/in 2 of 3.md", "secret/in"})
    CHECK(world.allows(grant, {{"path", path}}) == std::string_view(path).contains(' '));
  for (const char* path :
       {"secret/in/a b", "secret/in,notes.md", "x secret/in", "secret/in notes/../in/x",
        "secret/in secret/in/key", "secret/in ..", "secret/i* n", "cat secret/in", "-f secret/in x",
        "secret/in -r", "'secret/in' x", "./secret/in/x y"}) {
    CAPTURE(std::string(path));
    CHECK_FALSE(world.allows(grant, {{"path", path}}));
  }
}

}  // namespace mcpac::policy::testing
