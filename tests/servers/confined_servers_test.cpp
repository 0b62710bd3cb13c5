// What a confined server is given, by how it is started, and who starts it.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "core/file.h"
#include "core/shell_quote.h"
#include "project/files/file_mounts.h"
#include "project/files/kernel_mounts.h"
#include "project/files/protected_names.h"
#include "sandbox/observe.h"
#include "servers/confine/confine_servers.h"
#include "servers/confine/failed_calls.h"
#include "servers/confine/launch_profile.h"
#include "servers/confine/learn.h"
#include "servers/confine/learn_session.h"
#include "servers/confine/server_places.h"

using namespace mcpac;

namespace {

namespace fs = std::filesystem;

// Packages, a project and a home, as they lie on many machines.
class Disk {
 public:
  Disk() {
    file("home/.nvm/v20/bin/node",
         "\x7f"
         "ELF",
         true);
    file("home/.nvm/v20/lib/node_modules/npm/index.js");
    link("home/.nvm/current", "v20");
    file("home/project/mcpac.json", "{}");
    file("home/project/own.js");
    file("home/project/package.json", "{}");
    file("home/project/node_modules/a/package.json", "{}");
    file("home/project/node_modules/a/dist/index.js", "#!/usr/bin/env node\n", true);
    file("home/project/node_modules/a/node_modules/b/index.js");
    link("home/project/node_modules/.bin/a", "../a/dist/index.js");
    file("home/project/tool/src/main.js");
    file("home/project/tool/package.json", "{}");
    file("home/project/tool/node_modules/c/index.js");
    file("home/venv/pyvenv.cfg");
    link("home/venv/bin/python", "/usr/bin/python3");
    file("home/venv/bin/serve", fmt::format("#!{}\n", path("home/venv/bin/python")), true);
    link("home/bin/serve", "../venv/bin/serve");
    file("home/scripts/serve.py");
    file("home/scripts/run.sh", "#!/bin/sh\n", true);
    file("home/shims/python3", "#!/usr/bin/env bash\n", true);
  }
  [[nodiscard]] std::string path(const std::string& below) const {
    return (folder_.path() / below).string();
  }
  // Trees and links below the folder, or the error's words.
  [[nodiscard]] std::set<std::string> needed(std::string program,
                                             std::vector<std::string> arguments = {}) const {
    mcp::SpawnOptions options{.program = std::move(program)};
    options.arguments = std::move(arguments);
    options.arguments.insert(options.arguments.begin(), options.program);
    options.environment = {"PATH=" + path("home/.nvm/current/bin") + ":/usr/bin:/bin"};
    const auto found = servers::launch_profile_of(options, path("home/project"),
                                                  {path("home/project"), path("home")});
    std::set<std::string> names;
    if (!found) return {found.error().to_text()};
    for (const auto& tree : found->trees) names.insert(below(tree));
    for (const auto& [at, text] : found->links) names.insert(below(at) + " -> " + text.string());
    return names;
  }

  [[nodiscard]] std::set<std::string> trees(std::string program,
                                            std::vector<std::string> arguments = {}) const {
    auto all = needed(std::move(program), std::move(arguments));
    std::erase_if(all, [](const std::string& one) { return one.contains(" -> "); });
    return all;
  }

  // What the program is called.
  [[nodiscard]] std::set<std::string> names(std::string program,
                                            std::vector<std::string> arguments = {}) const {
    mcp::SpawnOptions options{.program = std::move(program)};
    options.arguments = std::move(arguments);
    options.arguments.insert(options.arguments.begin(), options.program);
    options.environment = {"PATH=/usr/bin:/bin"};
    const auto found = servers::launch_profile_of(options, path("home/project"),
                                                  {path("home/project"), path("home")});
    return found ? found->names : std::set<std::string>{found.error().to_text()};
  }
  // The lines of the network for one that dialled these.
  [[nodiscard]] std::vector<std::string> hosts(std::vector<sandbox::SeenHost> dialled) const {
    project::Project project;
    project.config_file = path("home/project/mcpac.json");
    project.folder = path("home/project");
    project::Folders folders;
    folders.libexec = "/nowhere";
    mcp::ServerConfig server;
    server.name = "one";
    server.command = "/usr/bin/true";
    server.working_directory = project.folder.string();
    sandbox::Seen seen;
    seen.hosts = std::move(dialled);
    const auto proposal =
        servers::propose({.project = project, .folders = folders, .server = server, .seen = &seen});
    if (!proposal) return {proposal.error().to_text()};
    std::vector<std::string> lines;
    for (const auto& line : proposal->network) lines.push_back(line.text);
    for (const auto& line : proposal->left) lines.push_back("- " + line.text);
    return lines;
  }

  void put(const std::string& name) const { file(name); }
  // HOME, as servers know it, for as long as it lives.
  class Home {
   public:
    explicit Home(const Disk& disk) {
      const char* before = ::getenv("HOME");
      if (before != nullptr) before_ = before;
      ::setenv("HOME", disk.path("home").c_str(), 1);
    }
    Home(const Home&) = delete;
    Home& operator=(const Home&) = delete;
    ~Home() { ::setenv("HOME", before_.c_str(), 1); }

   private:
    std::string before_;
  };
  // The lines for a Python server with these arguments that used these places; "- " before those
  // that are not proposed.
  [[nodiscard]] std::vector<std::string> proposed(
      const std::vector<std::pair<std::string, int>>& uses, std::vector<std::string> arguments,
      bool observed = true, std::optional<mcp::Confinement> has = std::nullopt,
      const std::string& name = "one") const {
    project::Project project;
    project.config_file = path("home/project/mcpac.json");
    project.folder = path("home/project");
    project::Folders folders;
    folders.libexec = "/nowhere";
    mcp::ServerConfig server;
    server.name = name;
    server.command = "/usr/bin/python3";
    server.arguments = std::move(arguments);
    server.arguments.insert(server.arguments.begin(), path("home/scripts/serve.py"));
    server.working_directory = project.folder.string();
    server.sandbox = std::move(has);
    sandbox::Seen seen;
    for (const auto& [place, use] : uses)
      seen.places.push_back({.path = place, .uses = static_cast<std::uint16_t>(use)});
    seen.hosts.push_back({.address = "192.0.2.1", .port = 443, .asked = "a.example"});
    if (uses.empty()) seen.hosts.clear();
    const auto proposal = servers::propose({.project = project,
                                            .folders = folders,
                                            .server = server,
                                            .seen = observed ? &seen : nullptr});
    if (!proposal) return {proposal.error().to_text()};
    std::vector<std::string> lines;
    for (const auto& line : proposal->files) lines.push_back(line.text);
    for (const auto& line : proposal->left) lines.push_back("- " + line.text);
    for (const auto& line : proposal->taken) lines.push_back("takes away " + line.text);
    if (!server.sandbox) return lines;
    for (const auto& line : proposal->network) lines.push_back(line.text);
    for (const auto& line : proposal->files) lines.push_back(line.reason);
    return lines;
  }

 private:
  [[nodiscard]] std::string below(const fs::path& place) const {
    return place.lexically_relative(folder_.path()).string();
  }
  void file(const std::string& name, const std::string& text = "", bool runs = false) const {
    const fs::path at = folder_.path() / name;
    fs::create_directories(at.parent_path());
    std::ofstream(at) << text;
    if (runs) fs::permissions(at, fs::perms(0755));
  }
  void link(const std::string& name, const std::string& text) const {
    const fs::path at = folder_.path() / name;
    fs::create_directories(at.parent_path());
    fs::create_symlink(text, at);
  }
  TemporaryFolder folder_ = std::move(
      TemporaryFolder::create(fs::canonical(fs::temp_directory_path()), "mcpac-test-launch")
          .value());
};

using Names = std::set<std::string>;

const Names kNode = {"home/.nvm/current -> v20", "home/.nvm/v20/bin/node", "home/.nvm/v20/lib"};

Names with(Names names, const Names& more) {
  names.insert(more.begin(), more.end());
  return names;
}

}  // namespace

TEST_SUITE("execute/confined servers") {
  TEST_CASE("a server is given what its program is made of, and no folder that holds more") {
    const Disk disk;
    const std::string node = disk.path("home/.nvm/current/bin/node");
    CHECK(disk.needed("/usr/bin/true").empty());
    // A package, its own packages and what is beside it, however its script is named.
    const Names packages = with(kNode, {"home/project/node_modules"});
    CHECK(disk.needed(node, {"node_modules/a/dist/index.js", "/etc"}) == packages);
    CHECK(disk.needed(node, {"--no-warnings", "node_modules/.bin/a"}) == packages);
    CHECK(disk.needed("./node_modules/.bin/a") == packages);
    CHECK(disk.needed(node, {"node_modules/a/node_modules/b/index.js"}) == packages);
    // A script of one's own: not the folder of mcpac.json.
    CHECK(disk.needed(node, {"own.js"}) ==
          with(packages, {"home/project/own.js", "home/project/package.json"}));
    CHECK(disk.needed(node, {"tool/src/main.js"}) ==
          with(kNode, {"home/project/tool/src", "home/project/tool/node_modules",
                       "home/project/tool/package.json"}));
    CHECK(disk.needed(node, {"--import", "./node_modules/a/dist/index.js", "tool/src/main.js"})
              .contains("home/project/node_modules"));
    CHECK(disk.needed("/usr/bin/env", {"A=b", "node", "node_modules/a/dist/index.js"}) == packages);
    // Python: the venv, by whichever link; of a script in a folder of all kinds the code alone.
    CHECK(disk.needed(disk.path("home/bin/serve")) ==
          Names{"home/bin/serve -> ../venv/bin/serve", "home/venv"});
    CHECK(disk.needed(disk.path("home/venv/bin/python"), {"-m", "serve"}) == Names{"home/venv"});
    CHECK(disk.needed("/usr/bin/python3", {"../scripts/serve.py"}) ==
          Names{"home/scripts/run.sh", "home/scripts/serve.py"});
    CHECK(disk.needed(disk.path("home/scripts/run.sh")) == Names{"home/scripts/run.sh"});
  }

  TEST_CASE("links of a project and its variables make nothing else a part of a server's program") {
    const Disk disk;
    const std::string node = disk.path("home/.nvm/current/bin/node");
    // What another wrote and the entry does not say: a home, keys, mcpac's own.
    disk.put("home/.ssh/id");
    const Names own{"home/.nvm/v20/bin/node", "home/.nvm/v20/lib", "home/app/src"};
    for (const char* packages : {"..", "../..", "../.ssh", "/"}) {
      disk.put("home/app/src/main.js");
      fs::remove_all(disk.path("home/app/node_modules"));
      fs::create_directory_symlink(packages, disk.path("home/app/node_modules"));
      fs::remove(disk.path("home/app/package.json"));
      fs::create_symlink("../.ssh/id", disk.path("home/app/package.json"));
      INFO(packages);
      CHECK(disk.trees(node, {"../app/src/main.js"}) == own);
    }
    // Nor does a name in the project that leads to a key, as a file or with its folder.
    for (const char* target : {"../.ssh/id", "../.ssh"}) {
      fs::remove(disk.path("home/project/x"));
      fs::create_symlink(target, disk.path("home/project/x"));
      INFO(target);
      for (const std::string word : {"--title=./x", "x"}) {
        const auto refused = disk.needed(node, {word, "tool/src/main.js"});
        REQUIRE(refused.size() == 1);
        CHECK(refused.begin()->contains("leads out of the project to"));
        CHECK(refused.begin()->contains("which is no program"));
      }
    }
    // One that leads to a program elsewhere is that.
    fs::remove(disk.path("home/project/x"));
    fs::create_symlink("../app/src/main.js", disk.path("home/project/x"));
    CHECK(disk.trees(node, {"x"}).contains("home/app/src"));
    // What is called so elsewhere is that.
    fs::remove_all(disk.path("home/app/node_modules"));
    fs::create_directory_symlink("../project/tool/node_modules",
                                 disk.path("home/app/node_modules"));
    CHECK(disk.trees(node, {"../app/src/main.js"}).contains("home/project/tool/node_modules"));
    disk.put("home/unpacked/bin/tool");
    fs::permissions(disk.path("home/unpacked/bin/tool"), fs::perms(0755));
    fs::create_directory_symlink("..", disk.path("home/unpacked/lib"));
    CHECK(disk.trees(disk.path("home/unpacked/bin/tool")) == Names{"home/unpacked/bin/tool"});
    // A venv that was made in the project's folder is not all of that.
    disk.put("home/project/pyvenv.cfg");
    disk.put("home/project/lib/site.py");
    disk.put("home/project/.env");
    fs::create_directories(disk.path("home/project/bin"));
    fs::create_symlink("/usr/bin/python3", disk.path("home/project/bin/python"));
    CHECK(disk.trees(disk.path("home/project/bin/python"), {"-m", "serve"}) ==
          Names{"home/project/bin", "home/project/lib", "home/project/pyvenv.cfg"});
    project::Project project;
    project.config_file = disk.path("home/project/mcpac.json");
    project.folder = disk.path("home/project");
    project::Folders folders;
    folders.libexec = "/nowhere";
    folders.state = disk.path("home/state");
    disk.put("home/state/audit/run.py");
    disk.put("home/project/own.py");
    mcp::SpawnOptions options{.program = "/usr/bin/python3"};
    options.arguments = {"python3", "own.py"};
    options.environment = {"PYTHONPATH=" + disk.path("home/state/audit")};
    options.keeper = "/keeper";
    options.working_directory = project.folder.string();
    options.confined = mcp::ConfinedSpawn{.confiner = nullptr, .server = "one"};
    const auto refusal = [&] {
      const auto spec = servers::confined_spec(project, folders, options);
      return spec ? std::string() : spec.error().to_text();
    };
    CHECK(refusal().contains("home/state/audit is mcpac's own"));
    options.environment.clear();
    CHECK(refusal().empty());
    options.arguments = {"python3", disk.path("home/state/audit/run.py")};
    CHECK(refusal().contains("is mcpac's own"));
  }

  TEST_CASE("what chooses, downloads or starts its program elsewhere is refused by name") {
    const Disk disk;
    const auto words = [&](const std::string& program, std::vector<std::string> arguments = {}) {
      const auto names = disk.needed(program, std::move(arguments));
      return names.size() == 1 ? *names.begin() : std::string();
    };
    for (const char* program : {"/usr/bin/npx", "/opt/uv", "/opt/uvx"})
      CHECK(words(program).contains("downloads what it runs"));
    for (const char* program : {"/usr/bin/docker", "/opt/ssh", "/usr/bin/sudo"})
      CHECK(words(program).contains("no child of it"));
    CHECK(words(disk.path("home/shims/python3")).contains("pyenv which python3"));
    CHECK(words("/usr/bin/env", {"npx", "-y", "x"}).contains("MCPAC-E0300"));
    CHECK(words("./nowhere").contains("MCPAC-E0300"));
  }

  TEST_CASE(
      "what is proposed is the smallest cover of what was used, and neither a home nor keys") {
    using sandbox::kCreated;
    using sandbox::kEnsured;
    using sandbox::kExecuted;
    using sandbox::kLooked;
    using sandbox::kRead;
    using sandbox::kRemoved;
    using sandbox::kReplaced;
    using sandbox::kWritten;
    using Uses = std::vector<std::pair<std::string, int>>;
    const Disk disk;
    for (const char* file : {"home/project/data/one",
                             "home/project/data/two",
                             "home/project/list/a/x",
                             "home/project/list/b/x",
                             "home/project/list/c/x",
                             "home/project/list/d/x",
                             "home/project/alone/text",
                             "home/project/memory.json",
                             "home/.config/tool/a/b.json",
                             "home/.config/single.json",
                             "home/.config/one.json",
                             "home/.config/one/a/b.json",
                             "home/.config/gh/hosts.yml",
                             "home/.config/mcp-server/x",
                             "home/.cache/serve/x",
                             "home/.local/share/one-mcp-server/x",
                             "home/.onerc",
                             "home/.ssh/id",
                             "home/.aws/credentials",
                             "home/.own/state",
                             "home/.other/settings",
                             "home/.bash_history",
                             "home/Documents/a.txt",
                             "home/.config/mcpac/accept",
                             "home/.config/google-chrome/Default/Cookies"})
      disk.put(file);
    const Disk::Home home(disk);
    const auto lines = [&](const Uses& uses, std::vector<std::string> arguments = {}) {
      return disk.proposed(uses, std::move(arguments));
    };
    using Lines = std::vector<std::string>;
    const auto at = [&](const std::string& below) { return disk.path("home/" + below); };
    // A file alone, several by their folder, folders by the one that they lie in; rw where it must.
    CHECK(lines({{at("project/alone/text"), kRead}}) == Lines{"./alone/text"});
    CHECK(lines({{at("project/data/one"), kRead}, {at("project/data/two"), kRead}}) ==
          Lines{"./data"});
    CHECK(lines({{at("project/data/one"), kRead | kWritten}}) == Lines{"./data/one:rw"});
    CHECK(lines({{at("project/data/new"), kCreated | kRemoved},
                 {at("project/data/one"), kReplaced}}) == Lines{"./data:rw"});
    CHECK(lines({{at("project/list/a/x"), kRead},
                 {at("project/list/b/x"), kRead},
                 {at("project/list/c/x"), kRead},
                 {at("project/list/d"), kRead}}) ==
          Lines{"./list/a/x", "./list/b/x", "./list/c/x", "./list/d"});
    CHECK(lines({{at("project/list/a"), kRead},
                 {at("project/list/b"), kRead},
                 {at("project/list/c"), kRead},
                 {at("project/list/d"), kRead}}) == Lines{"./list"});
    // What is read of the project is named file by file, and a listing of it, as Python makes to
    // find modules, is no reason to give all of it.
    Uses modules = {{at("project"), kLooked | kRead}};
    Lines named;
    for (const char* module : {"a.py", "b.py", "c.py", "d.py", "e.py"}) {
      disk.put(fmt::format("home/project/{}", module));
      modules.emplace_back(at(fmt::format("project/{}", module)), kRead);
      named.push_back(fmt::format("./{}", module));
    }
    named.emplace_back("- .");
    CHECK(lines(modules) == named);
    // The project itself only where its names change; else the file.
    CHECK(lines({{at("project/memory.json"), kCreated | kWritten}}) == Lines{"./memory.json:rw"});
    CHECK(lines({{at("project/memory.json"), kReplaced}}) == Lines{".:rw"});
    // What is only asked about, what it is made of, and what every server has, are no lines.
    CHECK(lines({{at("project"), kLooked},
                 {at("project/data"), kLooked},
                 {at(".config"), kCreated},
                 {at("scripts/serve.py"), kRead},
                 {"/usr/bin/git", kExecuted | kRead},
                 {"/etc/hosts", kRead},
                 {"/tmp/of its own", kCreated}}) == Lines{});
    // Of a home the program's own folders, whole; what it made; documents that it was sent to.
    // Own is what is called as the server or its script is, and what it made.
    CHECK(lines({{at(".config/one/a/b.json"), kRead}}) == Lines{at(".config/one")});
    CHECK(lines({{at(".cache/serve/x"), kWritten},
                 {at(".config/one.json"), kRead},
                 {at(".local/share/one-mcp-server/x"), kRead},
                 {at(".onerc"), kRead}}) == Lines{at(".cache/serve") + ":rw",
                                                  at(".config/one.json"),
                                                  at(".local/share/one-mcp-server"), at(".onerc")});
    CHECK(lines({{at(".own"), kCreated}, {at(".own/state"), kCreated | kWritten}}) ==
          Lines{at(".own") + ":rw"});
    disk.put("home/.cache/other/a/b.json");
    CHECK(lines({{at(".cache/other"), kCreated}, {at(".cache/other/a/b.json"), kCreated}}) ==
          Lines{at(".cache/other") + ":rw"});
    // What it would make and finds there, as the look before this one made it: its own by its name,
    // of the project, or empty.
    fs::create_directories(at(".local/share/serve"));
    fs::create_directories(at("Notes"));
    CHECK(lines({{at(".local/share"), kEnsured | kLooked},
                 {at(".local/share/one-mcp-server"), kEnsured | kLooked},
                 {at("Notes"), kEnsured},
                 {at("project"), kEnsured | kLooked},
                 {at("project/list/a"), kEnsured},
                 {at("project/data/one"), kLooked},
                 {at("Documents"), kEnsured},
                 {at(".local/share/serve"), kLooked},
                 {at(".config/tool"), kEnsured}}) ==
          Lines{at(".local/share/one-mcp-server") + ":rw", at(".local/share/serve") + ":rw",
                at("Notes") + ":rw", "./list/a:rw", "- " + at("Documents") + ":rw",
                "- " + at(".config/tool") + ":rw"});
    CHECK(lines({{at(".config/one"), kLooked}}) == Lines{});
    CHECK(lines({{at(".config/tool/a/b.json"), kRead},
                 {at(".config/tool/a"), kCreated | kRemoved},
                 {at(".config/single.json"), kRead},
                 {at(".config/gh/hosts.yml"), kRead},
                 {at(".config/mcp-server/x"), kRead},
                 {at(".own/state"), kCreated | kWritten}}) ==
          Lines{"- " + at(".config/tool") + ":rw", "- " + at(".config/single.json"),
                "- " + at(".config/gh"), "- " + at(".config/mcp-server"),
                "- " + at(".own/state") + ":rw"});
    CHECK(lines({{at("Documents/a.txt"), kRead}}) == Lines{at("Documents/a.txt")});
    // Neither keys nor others' folders, nor a home, a machine's files or the root.
    CHECK(lines({{at(".ssh/id"), kRead},
                 {at(".aws/credentials"), kRead | kWritten},
                 {at(".other/settings"), kRead},
                 {at(".bash_history"), kRead},
                 {at(".config/mcpac/accept"), kRead | kWritten},
                 {at(".config/google-chrome/Default/Cookies"), kRead},
                 {at("project/mcpac.json"), kRead | kWritten},
                 {at(""), kRead},
                 {at(".config"), kRead},
                 {at("new in a home"), kCreated | kRemoved},
                 {"/", kRead},
                 {"/etc/passwd-", kRead},
                 {"/var/lib/dpkg/status", kRead}}) ==
          Lines{"- " + at(".ssh"), "- " + at(".aws") + ":rw", "- " + at(".other/settings"),
                "- " + at(".bash_history"), "- " + at(".config/mcpac") + ":rw",
                "- " + at(".config/google-chrome"), "- ./mcpac.json:rw",
                "- " + at("").substr(0, at("").size() - 1), "- " + at(".config"),
                "- " + at("new in a home") + ":rw", "- /", "- /etc/passwd-",
                "- /var/lib/dpkg/status"});
    // What its entry names, without anything observed, and together with it.
    CHECK(lines({}, {"data", "--verbose", "--out=./list"}) == Lines{"./data:rw", "./list:rw"});
    CHECK(lines({{at("project/data/one"), kWritten}}, {"./data"}) == Lines{"./data:rw"});
    CHECK(lines({}, {"./not/there"}) == Lines{});
    CHECK(lines({}, {"--log=./data/to be made.log"}) == Lines{"./data:rw"});
    CHECK(lines({}, {"/", at(".ssh"), "mcpac.json"}) ==
          Lines{"- " + at(".ssh") + ":rw", "- ./mcpac.json"});
    // Of thousands of files one line, and never more lines than a person reads.
    Uses many;
    for (int i = 0; i < 5000; ++i)
      many.emplace_back(at(fmt::format("project/data/f{}", i)), kCreated | kWritten);
    CHECK(lines(many) == Lines{"./data:rw"});
    many.clear();
    for (int i = 0; i < 60; ++i) {
      disk.put(fmt::format("home/d{}/x/f", i));
      many.emplace_back(at(fmt::format("d{}/x/f", i)), kRead);
    }
    CHECK(lines(many).size() == 24);
  }

  TEST_CASE("a program is called by its file, its script and its package, not by what runs it") {
    const Disk disk;
    const std::string node = disk.path("home/.nvm/current/bin/node");
    CHECK(disk.names("/usr/bin/true") == Names{"true"});
    CHECK(disk.names(node, {"node_modules/a/dist/index.js", "/etc"}) == Names{"a", "index"});
    CHECK(disk.names("/usr/bin/python3", {"../scripts/serve.py"}) == Names{"serve"});
    CHECK(disk.names("/usr/bin/python3", {"-W", "error", "-m", "notes.main"}) == Names{"notes"});
    // Nor is a folder of keys its own, whatever it is called.
    disk.put("home/.config/gh/hosts.yml");
    const Disk::Home home(disk);
    CHECK(disk.proposed({{disk.path("home/.config/gh/hosts.yml"), sandbox::kRead}}, {}, true,
                        std::nullopt,
                        "gh") == std::vector<std::string>{"- " + disk.path("home/.config/gh")});
  }

  TEST_CASE("a host is proposed by its name only where that is read as a name") {
    const Disk disk;
    const Disk::Home home(disk);
    using Lines = std::vector<std::string>;
    const auto line = [&](const std::string& asked) {
      return disk.hosts({{.address = "192.0.2.1", .port = 443, .asked = asked}});
    };
    for (const char* name : {"a.example", "1.2.3.4.nip.io", "xn--bcher-kva.example", "a_b.example"})
      CHECK(line(name) == Lines{std::string(name) + ":443"});
    for (const char* odd :
         {"10.0.0.1", "127.1", "2130706433", "0x7f.0.0.1", "010.0.0.1", "1.2.3.0x4", "localhost",
          "a.localhost", "ip6-localhost", "metadata.google.internal", "xn--", "a..b", ""})
      CHECK_MESSAGE(line(odd) == Lines{"192.0.2.1:443"}, std::string(odd));
    CHECK(disk.hosts({{.address = "2001:db8::1", .port = 80, .asked = "10.0.0.1"}}) ==
          Lines{"[2001:db8::1]:80"});
    // Who answers there gives out keys, as a file of them.
    for (const char* service : {"169.254.169.254", "100.100.100.200"})
      CHECK(disk.hosts({{.address = service, .port = 80, .asked = ""}}) ==
            Lines{"- " + std::string(service) + ":80"});
    CHECK(disk.hosts({{.address = "fd00:ec2::254", .port = 80, .asked = "a.localhost"}}) ==
          Lines{"- [fd00:ec2::254]:80"});
    CHECK(disk.hosts({{.address = "::ffff:169.254.169.254", .port = 80, .asked = ""}}).front()[0] ==
          '-');
  }

  TEST_CASE("a failed call is explained by what is there and was not given, and by nothing else") {
    const Disk disk;
    for (const char* file :
         {"home/.config/x/config.json", "home/project/data/one", "home/shown/text"})
      disk.put(file);
    mcp::ServerConfig server;
    server.name = "notes";
    server.sandbox.emplace();
    GivenToServer given{.readable = {disk.path("home/project/data"), disk.path("home/shown")},
                        .writable = {disk.path("home/project/data")}};
    const std::string root_mount = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n";
    project::MountTable mounts = project::MountTable::parse(root_mount);
    const auto told = [&](const std::string& said) {
      std::vector<std::string> all;
      for (const FailedFor& one : failed_for(said, server, given, {disk.path("home")}, mounts)) {
        CHECK(one.text.contains("mcpac server confine notes --learn --call"));
        const bool is_network = one.path.empty();
        CHECK((is_network || one.text.contains(": " + shell_quoted(one.path) + " is ")));
        all.push_back(is_network ? "network" : one.path.substr(disk.path("home").size()));
        if (one.text.contains("to read alone")) all.back() += " ro";
      }
      return all;
    };
    using Lines = std::vector<std::string>;
    const std::string home = disk.path("home");
    const Lines config = {"/.config/x/config.json"};
    CHECK(told("ENOENT: no such file or directory, open '" + home + "/.config/x/config.json'") ==
          config);
    CHECK(told("cannot open /home/mcpac-server/.config/x/config.json: No such file") == config);
    CHECK(told("please create ~/.config/x/config.json.") == config);
    CHECK(told("[Errno 2] No such file or directory: \"" + home + "/.config/x/new\"") ==
          Lines{"/.config/x"});
    CHECK(told("EROFS: read-only file system, open '" + home + "/shown/text'") ==
          Lines{"/shown/text ro"});
    CHECK(told("Permission denied (" + home + "/shown/new)") == Lines{"/shown ro"});
    // Two places are two mounts, which no look at its calls would change.
    const std::string moved = "EXDEV: cross-device link not permitted, rename '" + home +
                              "/project/data/one' -> '" + home + "/shown/two'";
    GivenToServer both = given;
    both.writable.push_back(disk.path("home/shown"));
    const auto across = failed_for(moved, server, both, {disk.path("home")}, mounts);
    REQUIRE(across.size() == 1);
    CHECK(across.front().text.contains("give the folder above both"));
    CHECK_FALSE(across.front().text.contains("--learn"));
    CHECK(told("connect ENETUNREACH 192.0.2.1:443") == Lines{"network"});
    CHECK(told("getaddrinfo EAI_AGAIN api.example.com") == Lines{"network"});
    // What is told is what was looked at, within quotes where it has blanks.
    disk.put("home/project/a b/text");
    CHECK(told("ENOENT: '" + home + "/project/a b/text'") == Lines{"/project/a b/text"});
    using std::string_view_literals::operator""sv;
    for (const std::string_view behind : {"\0 is not given to it; run: x"sv, "\0b"sv, "\x1b[2J"sv,
                                          "\xe2\x80\xae"sv, "\n"sv, "\xff"sv}) {
      CHECK(
          told("ENOENT: '" + home + "/.config/x/config.json" + std::string(behind) + "'").empty());
    }
    server.sandbox->network = {"a.example:443"};  // whose refusals are told one by one
    CHECK(told("connect ENETUNREACH 192.0.2.1:443").empty());
    for (const std::string& text :
         {"ENOENT: no such file or directory, open '" + home + "/project/data/two'",
          "EACCES: " + home + "/project/data/one", "no text in " + home + "/shown/text",
          std::string("cannot open /nowhere/at/all"), std::string("cannot open /tmp/x, /usr/bin/y"),
          std::string("see https://a.example/etc/passwd and a/etc/passwd"), std::string("/"),
          std::string("'"), std::string()}) {
      CAPTURE(text);
      CHECK(told(text).empty());
    }
    // In tier A /tmp is its own but for what was given there, in tier B it is the host's.
    const TemporaryFolder in_tmp =
        std::move(TemporaryFolder::create("/tmp", "mcpac-test-own").value());
    const auto of_tmp = [&](sandbox::Tier tier) {
      return failed_for("cannot open " + in_tmp.path().string(), server,
                        {.readable = {}, .writable = {}, .tier = tier}, {home}, mounts);
    };
    CHECK(of_tmp(sandbox::Tier::kA).empty());
    REQUIRE(of_tmp(sandbox::Tier::kB).size() == 1);
    CHECK(of_tmp(sandbox::Tier::kB).front().path == in_tmp.path());

    // What may wait for a network or a process is not looked at, nor what leads there.
    disk.put("home/far/host/x");
    fs::create_symlink(disk.path("home/far"), disk.path("home/link"));
    const auto far = [&](const std::string& type) {
      return fmt::format("{}31 27 0:50 / {} rw shared:1 - {} somewhere rw\n", root_mount,
                         disk.path("home/far"), type);
    };
    const std::vector<std::string> ways = {home + "/far/host/x", home + "/far/none", home + "/far",
                                           home + "/link/host/x", home + "/link/none"};
    for (const std::string& way : ways) {
      CAPTURE(way);
      CHECK_FALSE(told("cannot open " + way).empty());
      for (const char* type :
           {"autofs", "nfs", "nfs4", "cifs", "smb3", "9p", "fuse", "fuseblk", "fuse.sshfs"}) {
        CAPTURE(type);
        mounts = project::MountTable::parse(far(type));
        CHECK(told("cannot open " + way).empty());
      }
      mounts = project::MountTable();
      CHECK(told("cannot open " + way).empty());
      // What lies over it counts.
      mounts = project::MountTable::parse(
          far("autofs") +
          fmt::format("32 31 254:1 / {} rw - ext4 /dev/vdb rw\n", disk.path("home/far")));
      CHECK_FALSE(told("cannot open " + way).empty());
      mounts = project::MountTable::parse(root_mount);
    }
  }

  TEST_CASE("a proposal begins with what the entry has, and takes nothing away in silence") {
    const Disk disk;
    for (const char* file : {"home/project/data/one", "home/project/other/two"}) disk.put(file);
    const Disk::Home home(disk);
    const mcp::Confinement has{.files = {"./data", "./gone/x"}, .network = {"b.example:443"}};
    const std::string one = disk.path("home/project/data/one");
    const std::string two = disk.path("home/project/other/two");
    using Lines = std::vector<std::string>;
    // Not observed: all of it stays, and nothing is given to write that was given to read.
    CHECK(disk.proposed({}, {"./data", "./other"}, false, has) ==
          Lines{"./data", "./gone/x", "./other:rw", "b.example:443", "in its entry", "in its entry",
                "args[2] names it"});
    // Observed: what it was seen to do is said of its lines, or beside them.
    CHECK(disk.proposed({{one, sandbox::kRead}, {two, sandbox::kRead}}, {}, true, has) ==
          Lines{"./data", "./other/two", "takes away ./gone/x", "b.example:443", "a.example:443",
                "in its entry; read ./data/one", "read ./other/two"});
    CHECK(disk.proposed({{one, sandbox::kCreated | sandbox::kRemoved}}, {}, true, has) ==
          Lines{"./data:rw", "takes away ./gone/x", "b.example:443", "a.example:443",
                "in its entry as read-only; created ./data/one"});
    // What is not proposed, and given by a person, is given.
    disk.put("home/.config/other/x");
    const std::string other = disk.path("home/.config/other");
    CHECK(disk.proposed({{other + "/x", sandbox::kRead}}, {}, true,
                        mcp::Confinement{.files = {other}, .network = {"a.example:443"}}) ==
          Lines{other, "a.example:443", "in its entry; read " + other + "/x"});
    CHECK(disk.proposed({{other + "/x", sandbox::kWritten}}, {}, true,
                        mcp::Confinement{.files = {other}, .network = {"a.example:443"}}) ==
          Lines{other, "- " + other + ":rw", "a.example:443", "in its entry"});
    // What reaches as much already is no line again.
    CHECK(disk.proposed({{one, sandbox::kRead}}, {"./data"}, true,
                        mcp::Confinement{.files = {".:rw"}, .network = {"a.example:*"}}) ==
          Lines{".:rw", "a.example:*", "in its entry; read ./data/one"});
  }

  TEST_CASE("settings of its own a server may write, and none that other programs run or obey") {
    const Disk disk;
    for (const char* file :
         {"home/.config/plain/a/x", "home/.config/nvim/init.lua", "home/.config/Code/x",
          "home/.config/plain.json", "home/.config/plain/.git/HEAD", "home/.config/.vscode/x"})
      disk.put(file);
    fs::create_directory_symlink("nvim", disk.path("home/.config/linked"));
    const Disk::Home home(disk);
    const auto refused = [&](const std::string& below) {
      const auto lines =
          disk.proposed({}, {}, true, mcp::Confinement{.files = {disk.path(below) + ":rw"}});
      return std::ranges::any_of(
          lines, [&](const std::string& line) { return line.starts_with("takes away "); });
    };
    CHECK_FALSE(refused("home/.config/plain"));
    CHECK_FALSE(refused("home/.config/plain/a"));
    for (const char* below :
         {"home/.config", "home/.config/nvim", "home/.config/Code", "home/.config/plain.json",
          "home/.config/plain/.git", "home/.config/.vscode", "home/.config/linked",
          "home/project/../.config/nvim"})
      CHECK_MESSAGE(refused(below), std::string(below));
    // A look proposes its own, also to write.
    CHECK(disk.proposed({{disk.path("home/.config/plain/a/x"), sandbox::kWritten}}, {}, true,
                        std::nullopt, "plain") ==
          std::vector<std::string>{disk.path("home/.config/plain") + ":rw"});
    // A program of an agent's is no server.
    CHECK_FALSE(project::mounts_of(std::vector<policy::FilePlace>{{
                                       .path = disk.path("home/.config/plain"),
                                       .mode = policy::FileMode::kReadWrite,
                                       .said_in = "--files",
                                   }},
                                   {})
                    .has_value());
    for (const char* name : {"git", "GIT", "systemd", "autostart", "fish", "google-chrome-beta"})
      CHECK_MESSAGE(project::is_protected_settings(name), std::string(name));
  }

  TEST_CASE("a server that may not start without its sandbox is never started bare") {
    boost::asio::io_context loop;
    mcp::SpawnOptions options{.program = "/bin/sh"};
    options.arguments = {"sh", "-c", "exit 0"};
    options.confined = mcp::ConfinedSpawn{.confiner = nullptr, .server = "one"};
    const auto started = mcp::ChildProcess::spawn(loop.get_executor(), options);
    REQUIRE_FALSE(started.has_value());
    CHECK(started.error().id == ErrorId::kServerStart);
    CHECK(started.error().why.contains("it would have more"));
  }

  TEST_CASE("what it may write is by its entry, and what mcpac obeys there stays as it is") {
    const Disk disk;
    fs::create_directories(disk.path("home/project/data/.git/hooks"));
    project::Project project;
    project.config_file = disk.path("home/project/mcpac.json");
    project.folder = disk.path("home/project");
    project::Folders folders;
    folders.libexec = "/nowhere";
    mcp::SpawnOptions options{.program = "/bin/sh"};
    options.arguments = {"sh"};
    options.keeper = "/keeper";
    options.working_directory = project.folder.string();
    options.confined =
        mcp::ConfinedSpawn{.confiner = nullptr, .server = "one", .places = {"data:rw", "tool"}};
    const auto spec = servers::confined_spec(project, folders, options);
    INFO((spec ? std::string() : spec.error().to_text()));
    REQUIRE(spec.has_value());
    const auto access = [&](const std::string& place) {
      for (const auto& mount : spec->mounts) {
        if (mount.inside == disk.path(place) && mount.kind == sandbox::Mount::Kind::kHost)
          return mount.access == sandbox::Mount::Access::kReadWrite ? "rw" : "ro";
      }
      return "none";
    };
    CHECK(access("home/project/data") == std::string("rw"));
    CHECK(access("home/project/data/.git") == std::string("ro"));
    // A mode that there is not is answered by those that there are, unless it is part of a name.
    const auto fix_of = [&](const std::string& place) {
      options.confined->places = {place};
      const auto refused = servers::confined_spec(project, folders, options);
      if (refused) return std::string();
      CHECK(refused.error().where.ends_with("mcpServers.one.sandbox.files"));
      CHECK(refused.error().why.contains("the mode to write is :rw"));
      return refused.error().fix;
    };
    for (const char* meant : {"data:RW", "data:w", "data:Rwx", "data/*:rw", "data/**:RW"})
      CHECK_MESSAGE(fix_of(meant) == R"(write "data:rw")", std::string(meant));
    for (const char* meant : {"data:r", "data:rx", "data:RO", "data/*", "data:x"})
      CHECK_MESSAGE(fix_of(meant) == R"(write "data")", std::string(meant));
    disk.put("home/project/odd:r");
    CHECK(fix_of("odd:r").empty());
    options.confined->places = {"data:rw", "tool"};
    CHECK(access("home/project/tool") == std::string("ro"));
    CHECK(access("home/project") == std::string("none"));
    CHECK(spec->work_directory == project.folder);
    CHECK(spec->admits.has<sandbox::Serves>());
    CHECK(spec->lowest_tier == sandbox::Tier::kA);
    // Of the folder of mcpac.json what decides what runs can be read, and nothing else done to it.
    options.confined->places = {".:rw"};
    const auto whole = servers::confined_spec(project, folders, options);
    INFO((whole ? std::string() : whole.error().to_text()));
    REQUIRE(whole.has_value());
    CHECK(std::ranges::any_of(whole->mounts, [&](const sandbox::Mount& mount) {
      return mount.inside == project.config_file && mount.access == sandbox::Mount::Access::kRead;
    }));
    // So do mcpac's programs, as in a folder where mcpac is built.
    folders.libexec = disk.path("home/project/build/libexec/mcpac");
    disk.put("home/project/build/libexec/mcpac/mcpac");
    disk.put("home/project/build/bin/mcpac");
    disk.put("home/project/build/bin/other");
    const auto built = servers::confined_spec(project, folders, options);
    REQUIRE(built.has_value());
    const auto held = [&](const std::string& place) {
      return std::ranges::any_of(built->mounts, [&](const sandbox::Mount& mount) {
        return mount.inside == disk.path(place) && mount.access == sandbox::Mount::Access::kRead;
      });
    };
    CHECK(held("home/project/build/libexec/mcpac"));
    CHECK(held("home/project/build/bin/mcpac"));
    CHECK_FALSE(held("home/project/build/bin"));
    CHECK_FALSE(held("home/project/build/bin/other"));
  }

  TEST_CASE("rules that mcpac reads by other files are held where a server may write them") {
    const Disk disk;
    for (const char* file : {"home/project/of-token.policy", "home/project/of-serve.policy",
                             "home/project/rules/real.policy"})
      disk.put(file);
    fs::create_directories(disk.path("home/state"));
    const auto tokens = [&](const std::string& policy) {
      const std::string file = disk.path("home/state/tokens.json");
      std::ofstream(file) << Json{{"tokens", {{{"policy", disk.path("home/project/" + policy)}}}}};
      fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
    };
    project::Project project;
    project.config_file = disk.path("home/project/mcpac.json");
    project.folder = disk.path("home/project");
    project.obeyed = {disk.path("home/project/of-serve.policy")};
    project::Folders folders;
    folders.libexec = "/nowhere";
    folders.state = disk.path("home/state");
    mcp::SpawnOptions options{.program = "/bin/sh"};
    options.arguments = {"sh"};
    options.keeper = "/keeper";
    options.working_directory = project.folder.string();
    options.confined = mcp::ConfinedSpawn{.confiner = nullptr, .server = "one", .places = {".:rw"}};
    const auto at = [&](const std::string& below) -> std::string {
      const auto spec = servers::confined_spec(project, folders, options);
      if (!spec) return spec.error().to_text();
      for (const auto& mount : spec->mounts) {
        if (mount.inside == disk.path("home/project/" + below))
          return mount.access == sandbox::Mount::Access::kReadWrite ? "rw" : "ro";
      }
      return "none";
    };
    tokens("of-token.policy");
    CHECK(at("of-token.policy") == "ro");
    CHECK(at("of-serve.policy") == "ro");
    CHECK(at("rules/real.policy") == "none");
    // What leads there stays as well: folders are mounts, and a link cannot be held.
    tokens("rules/real.policy");
    CHECK(at("rules/real.policy") == "ro");
    CHECK(at("rules") == "rw");
    fs::create_symlink("rules", disk.path("home/project/by-link"));
    tokens("by-link/real.policy");
    CHECK(at("by-link").contains("by-link in it is a link to what mcpac starts or obeys"));
    tokens("of-token.policy");
    fs::rename(project.config_file, disk.path("home/project/rules/mcpac.json"));
    fs::create_symlink("rules/mcpac.json", project.config_file);
    CHECK(at("mcpac.json").contains("mcpac.json is a link"));
    options.confined->places = {"rules:rw"};  // the link lies beside it
    CHECK(at("rules/mcpac.json") == "ro");
  }

  TEST_CASE("its own code stays as it is where another mount shows it in a writable place") {
    const Disk disk;
    fs::create_directories(disk.path("home/project/data/other"));
    if (::mount(disk.path("home/project/tool").c_str(),
                disk.path("home/project/data/other").c_str(), nullptr, MS_BIND, nullptr) != 0) {
      MESSAGE("skipped: nothing can be mounted here");
      return;
    }
    project::Project project;
    project.config_file = disk.path("home/project/mcpac.json");
    project.folder = disk.path("home/project");
    project::Folders folders;
    folders.libexec = "/nowhere";
    mcp::SpawnOptions options{.program = "/usr/bin/python3"};
    options.arguments = {"python3", "tool/src/main.js"};
    options.keeper = "/keeper";
    options.working_directory = project.folder.string();
    options.confined =
        mcp::ConfinedSpawn{.confiner = nullptr, .server = "one", .places = {"data:rw"}};
    const auto spec = servers::confined_spec(project, folders, options);
    CHECK(::umount2(disk.path("home/project/data/other").c_str(), MNT_DETACH) == 0);
    INFO((spec ? std::string() : spec.error().to_text()));
    REQUIRE(spec.has_value());
    std::set<std::string> read_only;
    for (const auto& mount : spec->mounts) {
      if (mount.access != sandbox::Mount::Access::kReadWrite) read_only.insert(mount.inside);
    }
    CHECK(read_only.contains(disk.path("home/project/data/other/src")));
  }

  TEST_CASE("a learning session is about one folder, and not about links to its file elsewhere") {
    const Disk disk;
    fs::create_directories(disk.path("home/other"));
    fs::create_symlink("../project/mcpac.json", disk.path("home/other/mcpac.json"));
    fs::create_symlink("mcpac.json", disk.path("home/project/again.json"));
    fs::create_symlink("project", disk.path("home/same"));
    project::Folders folders;
    folders.temporary = fs::temp_directory_path();
    const auto project_at = [&](const std::string& folder, const char* file = "mcpac.json") {
      project::Project project;
      project.folder = disk.path("home/" + folder);
      project.config_file = project.folder / file;
      mcp::ServerConfig server;
      server.name = "one";
      server.command = "./serve";
      server.sandbox.emplace();
      project.config.servers = {server};
      return project;
    };
    const auto observer = servers::ServerObserver::joined(
        sandbox::ObserverEnd(UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC))),
        mcp::ServerConfig());
    const auto session =
        servers::LearnSession::open(project_at("project"), folders, "one", *observer);
    REQUIRE(session.has_value());
    const std::string told = disk.path("home/told");
    REQUIRE((*session)->run({"sh", "-c", "printf %s \"$MCPAC_LEARN\" >" + told}).has_value());
    const auto joins = [&](project::Project project) {
      const auto joined =
          servers::join_learn_session(project, folders, read_file(told).value_or(""));
      REQUIRE(joined.has_value());
      const bool is_bare = !project.config.servers.front().sandbox.has_value();
      CHECK(is_bare == joined->has_value());
      return is_bare;
    };
    CHECK(joins(project_at("project")));
    CHECK(joins(project_at("same")));
    CHECK_FALSE(joins(project_at("other")));
    CHECK_FALSE(joins(project_at("project", "again.json")));
  }

  TEST_CASE("a program behind a link is held where it lies, and the link is in no place to write") {
    const Disk disk;
    project::Project project;
    project.config_file = disk.path("home/project/mcpac.json");
    project.folder = disk.path("home/project");
    project::Folders folders;
    folders.libexec = "/nowhere";
    mcp::SpawnOptions options{.program = "/bin/sh"};
    options.keeper = "/keeper";
    options.working_directory = project.folder.string();
    options.confined = mcp::ConfinedSpawn{.confiner = nullptr, .server = "one"};
    fs::create_directories(disk.path("home/project/data"));
    disk.put("home/shared/run.sh");
    fs::create_directory_symlink("../shared", disk.path("home/project/linked"));
    fs::create_directory_symlink("../tool", disk.path("home/project/node_modules/pkg"));
    const auto started = [&](const std::string& script, const std::string& place) {
      options.arguments = {"sh", script};
      options.confined->places = {place};
      return servers::confined_spec(project, folders, options);
    };
    const auto led = started("linked/run.sh", ".:rw");
    REQUIRE_FALSE(led.has_value());
    CHECK(led.error().what.contains("home/project/linked in it is a link"));
    CHECK(led.error().fix.contains(disk.path("home/shared/run.sh")));
    CHECK(started("linked/run.sh", "data:rw").has_value());
    CHECK(started("linked/run.sh", ".").has_value());
    const auto of_package = started("node_modules/pkg/src/main.js", ".:rw");
    INFO((of_package ? std::string() : of_package.error().to_text()));
    REQUIRE(of_package.has_value());
    for (const auto& mount : of_package->mounts)
      CHECK_FALSE(mount.inside.string().starts_with(disk.path("home/project/node_modules/pkg")));
    CHECK(std::ranges::any_of(of_package->mounts, [&](const auto& mount) {
      return mount.inside == disk.path("home/project/tool/src/main.js") &&
             mount.access != sandbox::Mount::Access::kReadWrite;
    }));
  }

  TEST_CASE("what rules hold back is mounted over, and never what its program is made of") {
    const Disk disk;
    for (const char* folder : {"data/secret/.git", "data/reads", "out"})
      fs::create_directories(disk.path("home/project") + "/" + folder);
    std::ofstream(disk.path("home/project/data/key.pem")) << "canary";
    project::Project project;
    project.config_file = disk.path("home/project/mcpac.json");
    project.folder = disk.path("home/project");
    project::Folders folders;
    folders.libexec = "/nowhere";
    mcp::SpawnOptions options{.program = "/usr/bin/python3"};
    options.arguments = {"python3", disk.path("home/project/tool/src/main.js")};
    options.keeper = "/keeper";
    options.working_directory = project.folder.string();
    options.confined =
        mcp::ConfinedSpawn{.confiner = nullptr, .server = "one", .places = {"data:rw", "own.js"}};
    const auto place = [&](const std::string& below,
                           policy::FileMode mode = policy::FileMode::kReadOnly) {
      return project::ServerPlaces::Place{disk.path("home/project/" + below), mode, {"a rule"}};
    };
    project::ServerPlaces rules;
    rules.given = {place("out", policy::FileMode::kReadWrite), place("gone"),
                   place("node_modules/.bin/a")};
    rules.absent = {place("data/secret"),      place("data/key.pem"), place("data/nowhere"),
                    place("own.js"),           place("tool"),         {"/etc/passwd", {}, {}},
                    {"/usr/share/doc", {}, {}}};
    rules.read_only = {place("data/reads"), place("beside")};
    const auto spec = servers::confined_spec(project, folders, options, rules);
    INFO((spec ? std::string() : spec.error().to_text()));
    REQUIRE(spec.has_value());
    using Kind = sandbox::Mount::Kind;
    const auto at = [&](const fs::path& path) -> std::string {
      for (const auto& mount : spec->mounts) {
        if (mount.inside != path) continue;
        if (mount.kind == Kind::kAbsent) return "absent";
        return mount.access == sandbox::Mount::Access::kReadWrite ? "rw" : "ro";
      }
      return "none";
    };
    const auto in = [&](const std::string& below) {
      return at(disk.path("home/project/" + below));
    };
    CHECK(in("data") == "rw");
    CHECK(in("out") == "rw");
    CHECK(in("data/secret") == "absent");
    CHECK(in("data/secret/.git") == "none");  // it was held by itself, and lies behind that now
    CHECK(in("data/key.pem") == "absent");
    CHECK(in("data/reads") == "ro");
    for (const char* missing : {"gone", "data/nowhere", "beside", "own.js", "node_modules/.bin/a"})
      CHECK_MESSAGE(in(missing) == "none", missing);
    CHECK(in("tool/src") == "ro");
    CHECK(at("/etc/passwd") == "none");
    CHECK(at("/usr") == "ro");
    CHECK((at("/usr/share/doc") == "absent") == fs::exists("/usr/share/doc"));
    // Files in memory are no way around its limit.
    options.confined->memory = std::uint64_t{16} << 20U;
    const auto bounded = servers::confined_spec(project, folders, options, rules);
    REQUIRE(bounded.has_value());
    for (const auto& mount : bounded->mounts)
      CHECK((mount.kind != Kind::kPrivate || mount.size == options.confined->memory));
    // More than it has room for is no reason to leave any out.
    for (int i = 0; i < 60; ++i) {
      const std::string name = fmt::format("data/many{}", i);
      fs::create_directories(disk.path("home/project/" + name));
      rules.absent.push_back(place(name));
    }
    const auto refused = servers::confined_spec(project, folders, options, rules);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().fix == "deny folders that hold several");
  }

  TEST_CASE(
      "a folder above what is held in a writable place is held, too, and so is its own code") {
    const Disk disk;
    for (const char* folder : {"data/deep/repository/.git", "data/reads", "tool/data"})
      fs::create_directories(disk.path("home/project") + "/" + folder);
    std::ofstream(disk.path("home/project/data/memory.json")) << "{}";
    project::Project project;
    project.config_file = disk.path("home/project/mcpac.json");
    project.folder = disk.path("home/project");
    mcp::ServerConfig own;
    own.name = "one";
    own.command = "/usr/bin/python3";
    own.arguments = {"tool/src/main.js", "data/memory.json"};
    project.config.servers = {own};
    project::Folders folders;
    folders.libexec = "/nowhere";
    mcp::SpawnOptions options{.program = "/usr/bin/python3"};
    options.arguments = {"python3", "tool/src/main.js", "data/memory.json"};
    options.keeper = "/keeper";
    options.working_directory = project.folder.string();
    options.confined = mcp::ConfinedSpawn{.confiner = nullptr, .server = "one", .places = {".:rw"}};
    project::ServerPlaces rules;
    const auto modes = [&] {
      const auto spec = servers::confined_spec(project, folders, options, rules);
      INFO((spec ? std::string() : spec.error().to_text()));
      REQUIRE(spec.has_value());
      std::map<std::string, std::string> found;
      for (const auto& mount : spec->mounts) {
        const fs::path below = mount.inside.lexically_relative(project.folder);
        if (below.empty() || *below.begin() == "..") continue;
        using Access = sandbox::Mount::Access;
        found[below.string()] = mount.access == Access::kReadWrite     ? "rw"
                                : mount.access == Access::kReadExecute ? "code"
                                                                       : "ro";
      }
      return found;
    };
    auto found = modes();
    CHECK(found["data/deep/repository/.git"] == "ro");
    for (const char* above : {"data", "data/deep", "data/deep/repository", "tool"})
      CHECK_MESSAGE(found[above] == "rw", above);
    CHECK(found["tool/src"] == "code");
    CHECK(found["tool/src/main.js"] == "code");       // and no mount over it that is not executed
    CHECK_FALSE(found.contains("data/memory.json"));  // its own data
    // A place that rules make read-only is one of its entry, with another in it.
    options.confined->places = {"data:rw", "data/reads:rw"};
    rules.read_only = {{project.folder / "data", {}, {"a rule"}}};
    found = modes();
    CHECK(found["data"] == "ro");
    CHECK(found["data/reads"] == "ro");
    // What rules name in a writable place takes nothing from it.
    rules.read_only.clear();
    rules.given = {{project.folder / "data/reads", policy::FileMode::kReadOnly, {"a rule"}}};
    options.confined->places = {"data:rw"};
    CHECK_FALSE(modes().contains("data/reads"));
    // A denied place that holds the program cannot be absent, nor be left as it is.
    options.confined->places = {".:rw"};
    rules.given.clear();
    rules.absent = {{project.folder / "tool", {}, {"a rule"}}};
    const auto refused = servers::confined_spec(project, folders, options, rules);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().what.contains("holds its program"));
  }

  TEST_CASE(
      "what is given of a home is in the server's own, of HOME's first, and both are held back") {
    const Disk disk;
    for (const char* folder : {"home/.config/notes", "home/.ssh"})
      fs::create_directories(disk.path(folder));
    const Disk::Home home(disk);  // HOME, and not what the system's record of users has
    const auto homes = servers::homes_of_servers();
    REQUIRE(homes.size() == 2);
    CHECK(homes[0] == disk.path("home"));
    CHECK(homes[1] == project::home_of_user());
    project::Project project;
    project.config_file = disk.path("home/project/mcpac.json");
    project.folder = disk.path("home/project");
    // "~/" is the system's, in entries as in rules.
    CHECK(project::place_of_entry("~/x:rw", project, "one").path == project::home_of_user() + "/x");
    project::Folders folders;
    folders.libexec = "/nowhere";
    mcp::SpawnOptions options{.program = "/bin/sh"};
    options.arguments = {"sh"};
    options.keeper = "/keeper";
    options.confined = mcp::ConfinedSpawn{
        .confiner = nullptr, .server = "one", .places = {disk.path("home/.config/notes")}};
    const auto spec = servers::confined_spec(project, folders, options);
    INFO((spec ? std::string() : spec.error().to_text()));
    REQUIRE(spec.has_value());
    const fs::path own = fs::path(servers::kConfinedHome) / ".config/notes";
    CHECK(std::ranges::any_of(spec->mounts, [&](const sandbox::Mount& mount) {
      return mount.inside == own && mount.host == disk.path("home/.config/notes");
    }));
  }

  TEST_CASE("places, network and memory of a server's start are shown together") {
    project::ServerPlaces places;
    places.entry = {{"/srv/data", policy::FileMode::kReadWrite, {"mcpac.json: its entry"}}};
    places.network = {"api.example.com:443"};
    places.memory = 512'000'000;
    const auto lines = servers::lines_of_places(servers::to_json({{"one", places}}));
    CHECK(lines == std::vector<std::string>{"one: /srv/data read-write: mcpac.json: its entry",
                                            "one: network api.example.com:443: its entry",
                                            "one: at most 512MB of memory: its entry"});
    places.network_denied = "mcpac.policy:3";
    CHECK(servers::lines_of_places(servers::to_json({{"one", places}}))[1] ==
          "one: no network: mcpac.policy:3");
  }

  TEST_CASE("rules hold what an entry names by a reference, and nobody is told what that is") {
    const Disk disk;
    fs::create_directories(disk.path("home/project/data/secret"));
    ::setenv("MCPAC_TEST_PLACE", disk.path("home/project/data").c_str(), 1);
    project::Project project;
    project.config_file = disk.path("home/project/mcpac.json");
    project.folder = disk.path("home/project");
    mcp::ServerConfig server;
    server.name = "one";
    server.command = "/usr/bin/true";
    server.sandbox = mcp::Confinement{.files = {"${env:MCPAC_TEST_PLACE}:rw"}};
    project.config.servers = {server};
    project::Folders folders;
    folders.libexec = "/nowhere";
    servers::ReachOfServer reach;
    const auto places = [&] {
      return servers::places_of_servers(project, folders, {{"one", reach}}).at("one");
    };
    const auto before = places();
    const std::string secret = disk.path("home/project/data/secret");
    reach.places.held_back = {{.path = secret, .rules = {"mcpac.policy:3: deny"}}};
    const auto held = places();
    CHECK(held.speaks_of(secret));
    const Json shown = servers::to_json({{"one", held}}).at("one");
    REQUIRE(shown.at("absent").size() == 1);
    CHECK(shown.at("absent")[0].at("path") == secret);
    REQUIRE(shown.at("places").size() == 1);
    CHECK(shown.at("places")[0].at("path") == "${env:MCPAC_TEST_PLACE}");
    CHECK(shown.at("places")[0].at("mode") == "read-write");
    // Given back, a running server is started again for it.
    CHECK(servers::gives_more(before, held));
    CHECK_FALSE(servers::gives_more(held, before));
  }

  TEST_CASE("a session says how its command ended, also where ends of children are ignored") {
    project::Project project;
    project.config_file = "/nowhere/mcpac.json";
    project::Folders folders;
    folders.temporary = fs::temp_directory_path();
    const auto observer =
        servers::ServerObserver::joined(sandbox::ObserverEnd(UniqueFd()), mcp::ServerConfig());
    const auto session = servers::LearnSession::open(project, folders, "one", *observer);
    REQUIRE(session.has_value());
    const auto before = ::signal(SIGCHLD, SIG_IGN);
    const auto failed = (*session)->run({"sh", "-c", "exit 3"});
    const bool is_as_before = ::signal(SIGCHLD, before) == SIG_IGN;
    CHECK(is_as_before);
    REQUIRE(failed.has_value());
    CHECK(WEXITSTATUS(*failed) == 3);
  }

  TEST_CASE("a server that was started with other places is another one") {
    using Places = project::ServerPlaces;
    const auto mode = policy::FileMode::kReadWrite;
    const Places none;
    const servers::ConfinedRules::Started bare{none, {"/data", "/usr"}};
    CHECK(servers::is_confined_alike(none, bare));
    // What lies in nothing that it has is absent anyhow.
    CHECK(servers::is_confined_alike(Places{.absent = {{"/home/x/.ssh", {}, {}}}}, bare));
    for (const Places& other :
         {Places{.given = {{"/srv", {}, {}}}}, Places{.absent = {{"/data/secret", {}, {}}}},
          Places{.absent = {{"/", {}, {}}}}, Places{.read_only = {{"/data/secret", {}, {}}}},
          Places{.network_denied = "a:1"}})
      CHECK_FALSE(servers::is_confined_alike(other, bare));
    // A wider one is started again, a narrower one serves on.
    const Places reads{.given = {{"/srv", {}, {}}}};
    const Places writes{.given = {{"/srv", mode, {}}}};
    const Places held{.given = {{"/srv", mode, {}}}, .absent = {{"/srv/secret", {}, {}}}};
    const Places kept{.given = {{"/srv", mode, {}}}, .read_only = {{"/srv/secret", {}, {}}}};
    CHECK(servers::gives_more(reads, none));
    CHECK(servers::gives_more(writes, reads));
    CHECK(servers::gives_more(writes, held));
    CHECK(servers::gives_more(writes, kept));
    CHECK(servers::gives_more(kept, held));
    CHECK_FALSE(servers::gives_more(none, writes));
    CHECK_FALSE(servers::gives_more(reads, writes));
    CHECK_FALSE(servers::gives_more(held, writes));
    CHECK_FALSE(servers::gives_more(held, kept));
    CHECK_FALSE(servers::gives_more(writes, writes));
    CHECK_FALSE(servers::gives_more(Places{.given = {{"/srv/in", {}, {}}}}, reads));
  }
}
