#include "run/check/authorities.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>

#include "core/clock.h"
#include "core/file.h"
#include "run/check/attenuate.h"
#include "run/check/server_root.h"

using namespace mcpac;
using namespace mcpac::project;
using namespace mcpac::run;

namespace {

namespace fs = std::filesystem;

Result<policy::Authority> load_in(const fs::path& folder) {
  const Project project{.config_file = folder / "mcpac.json", .folder = folder, .config = {}};
  const SystemClock clock;
  PolicyWorld world(project, clock);
  return load_authority(
      project, world,
      {{.name = "the command line", .grants = {}, .asks = {}, .denies = {}, .files = {}}});
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text + "\n").find("\n" + line + "\n") != std::string::npos;
}

}  // namespace

TEST_SUITE("execute/authorities") {
  TEST_CASE("a ceiling that is there and cannot be read stops the run") {
    const auto folder = TemporaryFolder::create(fs::temp_directory_path(), "mcpac-test-").value();
    const fs::path ceiling = folder.path() / "mcpac.policy";
    CHECK(load_in(folder.path()).has_value());
    fs::create_symlink("/nonexistent/mcpac.policy", ceiling);
    CHECK_FALSE(load_in(folder.path()).has_value());
    fs::remove(ceiling);
    fs::create_symlink(ceiling, ceiling);
    CHECK_FALSE(load_in(folder.path()).has_value());
    fs::remove(ceiling);
    fs::create_directory(ceiling);
    CHECK_FALSE(load_in(folder.path()).has_value());
  }

  TEST_CASE("a server that is started elsewhere has its relative paths there, root or none") {
    ::setenv("MCPAC_TEST_FOLDER", "/by/name", 1);
    const SystemClock clock;
    Project project{.config_file = "/p/mcpac.json", .folder = "/p", .config = {}};
    for (const auto& [name, cwd, root] : {std::array{"plain", "", ""},
                                          {"moved", "/elsewhere", ""},
                                          {"said", "/elsewhere", "docs"},
                                          {"named", "${env:MCPAC_TEST_FOLDER}/x", ""}}) {
      auto& server = project.config.servers.emplace_back();
      server.name = name;
      server.command = "true";
      server.working_directory = cwd;
      server.root = root;
    }
    const PolicyWorld world(project, clock);
    CHECK(world.bases.roots == std::map<std::string, std::string>{{"moved", "/elsewhere"},
                                                                  {"said", "/p/docs"},
                                                                  {"named", "/by/name/x"}});
  }

  TEST_CASE(
      "folders among the arguments of a server are folders that its relative paths may mean") {
    const auto temporary =
        TemporaryFolder::create(fs::temp_directory_path(), "mcpac-test-").value();
    const fs::path folder = fs::canonical(temporary.path());
    for (const char* name : {"start/inner", "notes", "more", "listed"})
      fs::create_directories(folder / name);
    fs::create_directory_symlink(folder / "start", folder / "link");
    static_cast<void>(std::ofstream(folder / "file"));
    ::setenv("MCPAC_TEST_FOLDER", (folder / "more").c_str(), 1);
    const std::string at = folder.string();
    mcp::ServerConfig server;
    server.name = "files";
    server.command = "true";
    server.working_directory = at + "/start";
    server.arguments = {"-y",
                        at + "/notes",
                        at + "/notes/",
                        "inner",
                        "--dir=${env:MCPAC_TEST_FOLDER}",
                        at + "/missing",
                        at + "/file",
                        at + "/link",
                        ".",
                        "--allow=" + at + "/missing," + at + "/listed"};
    auto found = folders_of(server, folder);
    CHECK(found.starts_in == at + "/start");
    CHECK(found.root == at + "/start");
    CHECK(found.given == std::vector<std::string>{at + "/notes", at + "/start/inner", at + "/more",
                                                  at + "/listed"});
    server.root = "notes";
    found = folders_of(server, folder);
    CHECK(found.root == at + "/notes");
    CHECK(found.given.front() == at + "/start/inner");
    const SystemClock clock;
    const Project project{
        .config_file = folder / "mcpac.json", .folder = folder, .config = {.servers = {server}}};
    const PolicyWorld world(project, clock);
    CHECK(world.bases.given_folders.at("files") == found.given);
    CHECK(servers_without_root(project).empty());
    server.command.clear();
    server.url = "https://files.example/mcp";
    CHECK(folders_of(server, folder).given.empty());
  }

  TEST_CASE("a folder is found wherever the command, its arguments or its environment name it") {
    const auto temporary =
        TemporaryFolder::create(fs::temp_directory_path(), "mcpac-test-").value();
    const fs::path folder = fs::canonical(temporary.path());
    const std::string at = folder.string();
    fs::create_directories(folder / "start");
    fs::create_directories(folder / "a b");
    fs::create_directories(folder / "notes/more");
    const auto given = [&](std::vector<std::string> arguments,
                           std::map<std::string, std::string> environment = {}) {
      mcp::ServerConfig server;
      server.name = "files";
      server.command = "true";
      server.working_directory = at + "/start";
      server.arguments = std::move(arguments);
      server.environment = std::move(environment);
      return folders_of(server, folder).given;
    };
    const std::vector<std::string> notes = {at + "/notes"};
    for (const std::string& text :
         {at + "/notes", "--dir=" + at + "/notes", "-d" + at + "/notes", "@" + at + "/notes",
          "'" + at + "/notes'", R"({"allowed": [")" + at + R"(/notes"]})", std::string("../notes"),
          "file://" + at + "/notes", "cd " + at + "/notes && exec server", "x:" + at + "/notes:ro",
          "type=bind,src=" + at + "/notes,dst=/x", std::string("cd ../notes;exec x")}) {
      CAPTURE(text);
      CHECK(given({"-c", text}) == notes);
      CHECK(given({}, {{"DATA", text}}) == notes);
    }
    CHECK(given({"cd \"" + at + "/a b\" && x"}) == std::vector<std::string>{at + "/a b"});
    CHECK(given({"/bin:" + at + "/notes"}).size() == 2);
    // What is for programs.
    CHECK(given({}, {{"PATH", "/usr/bin:" + at + "/notes"}, {"HOME", at + "/notes"}}).empty());
    CHECK(given({"--separator", "a / b", "--name=x", "-v"}).empty());
  }

  TEST_CASE("a name that is a file or a folder as a whole is not taken apart") {
    const auto temporary =
        TemporaryFolder::create(fs::temp_directory_path(), "mcpac-test-").value();
    const fs::path folder = fs::canonical(temporary.path());
    const std::string at = folder.string();
    const std::string package = at + "/start/node_modules/@scope/server/dist";
    for (const std::string& name :
         {package, at + "/My Project", at + "/My", at + "/a,b", at + "/a", at + "/a=b",
          at + "/data", at + "/start/node_modules/scope/server/dist"})
      fs::create_directories(name);
    for (const std::string& name : {package + "/index.js", at + "/My Project/notes.py",
                                    at + "/a,b/notes.py", at + "/a=b/notes.py"})
      static_cast<void>(std::ofstream(name));
    mcp::ServerConfig server;
    server.name = "files";
    server.working_directory = at + "/start";
    const auto given = [&](std::vector<std::string> words,
                           std::map<std::string, std::string> environment = {}) {
      server.command = words.front();
      server.arguments.assign(words.begin() + 1, words.end());
      server.environment = std::move(environment);
      return folders_of(server, folder).given;
    };
    const std::vector<std::string> data = {at + "/data"};
    const std::string relative = "node_modules/@scope/server/dist/index.js";
    for (const std::string& program :
         {relative, package + "/index.js", std::string("node_modules/@scope/server/dist/index"),
          package + "/index", at + "/My Project/notes.py", at + "/a,b/notes.py",
          at + "/a=b/notes.py", "--import=" + at + "/a=b/notes.py",
          "--import=" + at + "/My Project/notes.py"}) {
      CAPTURE(program);
      CHECK(given({"node", program, "."}).empty());
      CHECK(given({"node", program, "../data"}) == data);
      CHECK(given({"node", program, "--dir=" + at + "/data"}) == data);
      CHECK(given({"node"}, {{"PROGRAM", program}}).empty());
      CHECK(given({"sh", "-c", "cd '" + at + "/data' && exec node '" + program + "' ."}) == data);
    }
    CHECK(given({at + "/My Project/notes.py", at + "/data"}) == data);
    CHECK(given({"sh", "-c", "exec " + at + "/My\\ Project/notes.py ../data"}) == data);
    // Folders with such names are given as a whole, and no part of them.
    for (const std::string& name : {at + "/My Project", at + "/a,b", at + "/a=b"}) {
      CAPTURE(name);
      for (const std::string& text : {name, "--dir=" + name, "-d" + name, "@" + name,
                                      "x:" + name + ":ro", Json{{"dirs", {name}}}.dump()})
        CHECK(given({"server", text}) == std::vector<std::string>{name});
      CHECK(given({"server"}, {{"DIRS", name + "," + at + "/data"}}) ==
            std::vector<std::string>{name, at + "/data"});
    }
    // A part that is given beside the whole is given.
    CHECK(given({"server", "--dirs=" + at + "/My," + at + "/My Project/notes.py"}) ==
          std::vector<std::string>{at + "/My"});
    // An interpreter's folder is the program; of another command it is given.
    static_cast<void>(std::ofstream(at + "/data/package.json"));
    CHECK(given({"node", at + "/data"}).empty());
    CHECK(given({"server", at + "/data"}) == data);
    CHECK(given({"node", relative, at + "/data"}) == data);
  }

  TEST_CASE("what a container sees by other names is held by both, and its start is unknown") {
    const auto temporary =
        TemporaryFolder::create(fs::temp_directory_path(), "mcpac-test-").value();
    const fs::path folder = fs::canonical(temporary.path());
    const std::string at = folder.string();
    fs::create_directories(folder / "notes/secret");
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"run", "-i", "-v", at + "/notes:/x", "image", "/x"},
          {"run", "-v" + at + "/notes:/x:ro", "image"},
          {"run", "--volume=" + at + "/notes:/x/", "image"},
          {"run", "--mount", "type=bind,src=" + at + "/notes,dst=/x", "image"},
          {"run", "--mount=type=bind,source=" + at + "/notes,target=/x,readonly", "image"},
          {"run", "-iv", at + "/notes:/x", "image"},
          {"run", "-itv" + at + "/notes:/x", "image"},
          {"run", "-v=" + at + "/notes:/x", "image"},
          {"run", "--mount", "type=bind,\"src=" + at + "/notes\",dst=/x", "image"},
          {"env", "A=1", "B=2", "C=3", "D=4", "docker", "run", "-v", at + "/notes:/x", "image"},
          {"sh", "-c", "exec docker run -v " + at + "/notes:/x image"},
          {"bash", "-lc", "cd /; '/usr/bin/podman' run -v \"" + at + "/notes:/x\" image"},
          {"docker-compose", "run", "-v", at + "/notes:/x", "image"},
          {"podman", "run", "-v", at + "/notes:/x", "image"},
          {"nerdctl", "run", "-v", at + "/notes:/x", "image"}}) {
      CAPTURE(fmt::format("{}", fmt::join(arguments, " ")));
      mcp::ServerConfig server;
      server.name = "files";
      server.command = "/usr/bin/docker";
      server.arguments = arguments;
      if (arguments.front() != "run") {
        server.command = arguments.front();
        server.arguments.erase(server.arguments.begin());
      }
      const auto folders = folders_of(server, folder);
      CHECK(folders.mounts == std::map<std::string, std::string>{{"/x", at + "/notes"}});
      CHECK(folders.given == std::vector<std::string>{at + "/notes"});
      CHECK(folders.unknown == "in a container");
      const Project project{
          .config_file = folder / "mcpac.json", .folder = folder, .config = {.servers = {server}}};
      CHECK(servers_without_root(project).size() == 2);
      CHECK_FALSE(check_root(server, "/x", folder));
      CHECK(check_root(server, "notes", folder).value().empty());
      const SystemClock clock;
      PolicyWorld world(project, clock);
      const Json schema = {{"type", "object"}, {"properties", {{"path", {{"type", "string"}}}}}};
      const Permission read = Permission::parse("files.read").value();
      world.tools.emplace(read, schema);
      const auto allowed = [&](const std::string& grant, const std::string& deny,
                               const std::string& path) {
        policy::LayerText run;
        run.name = "the command line";
        run.grants = {grant};
        if (!deny.empty()) run.denies = {deny};
        return policy::Authority::load({run}, world.environment())
            .value()
            .decide(read, {{"path", path}})
            .allowed();
      };
      const std::string deny = "*.*(* within " + at + "/notes/secret)";
      for (const char* path : {"/x/secret/key", "/x", "/x/../x/secret", "secret/key", "/"})
        CHECK_FALSE(allowed("files.read", deny, path));
      CHECK(allowed("files.read", deny, "/x/open"));
      CHECK(allowed("files.read", deny, "/xsecret/key"));
      CHECK(allowed("files.read(path within /x)", "", "/x/open"));
      CHECK_FALSE(allowed("files.read(path within /x except {" + at + "/notes/secret})", "",
                          "/x/secret/key"));
      // Where it counts a relative path from is not said.
      CHECK_FALSE(allowed("files.read(path within ./)", "", "open"));
      CHECK_FALSE(allowed("files.read(path within " + at + ")", "", "open"));
    }
  }

  TEST_CASE("the name of a folder, or of a server, is no program that starts it elsewhere") {
    const auto temporary =
        TemporaryFolder::create(fs::temp_directory_path(), "mcpac-test-").value();
    const std::string at = fs::canonical(temporary.path()).string();
    fs::create_directories(at + "/docker");
    const auto unknown = [&](std::vector<std::string> words) {
      mcp::ServerConfig server;
      server.name = "files";
      server.command = words.front();
      server.arguments.assign(words.begin() + 1, words.end());
      return folders_of(server, at).unknown;
    };
    CHECK(unknown({"npx", "-y", "server-filesystem", at + "/docker"}).empty());
    CHECK(unknown({"npx", "-y", "docker-mcp", "--note", "a docker server"}).empty());
    CHECK(unknown({"sh", "-c", "exec server ./"}).empty());
    CHECK(unknown({"sh", "-c", "exec ssh host server"}) == "behind ssh");
    CHECK(unknown({"env", "A=1", "B=2", "C=3", "sh", "-c", "cd /srv; server"}) ==
          "by a shell that changes its folder");
  }

  TEST_CASE("tools that act on one entry alone are those that mcpac.json names") {
    const auto config = mcp::parse_config(
        R"({"mcpServers": {"files": {"command": "true", "entry_only": ["list", "stat"]}}})", "a");
    REQUIRE(config.has_value());
    CHECK(mcp::to_json(config->servers.front())["entry_only"] == OrderedJson({"list", "stat"}));
    CHECK_FALSE(mcp::parse_config(
        R"({"mcpServers": {"files": {"command": "true", "entry_only": "list"}}})", "a"));
    const SystemClock clock;
    const Project project{.config_file = "/p/mcpac.json", .folder = "/p", .config = *config};
    const PolicyWorld world(project, clock);
    CHECK(world.bases.entry_only == std::set{Permission::parse("files.list").value(),
                                             Permission::parse("files.stat").value()});
  }

  TEST_CASE("what users stated is told with its layer, and without what the program declares") {
    const Json schema = {{"type", "object"}};
    policy::ToolSchemas tools;
    tools.emplace(Permission::parse("fs.read").value(), schema);
    const SystemClock clock;
    policy::LayerText run;
    run.name = "the command line";
    run.grants = {"fs.read"};
    run.places = {"network any"};
    policy::LayerText ceiling;
    ceiling.name = "mcpac.policy";
    ceiling.asks = {"fs.read"};
    const auto authority = policy::Authority::load(
        {run, declaration_layer({"fs.read"}), ceiling},
        {.tools = &tools, .resolver = nullptr, .clock = &clock, .bases = {}});
    REQUIRE(authority.has_value());
    CHECK(stated_rules(*authority) == std::vector<std::string>{"the command line: allow fs.read",
                                                               "the command line: network any",
                                                               "mcpac.policy: ask fs.read"});
  }

  TEST_CASE(
      "what is handed on is asked about and counted behind, and given and declared as before") {
    const auto folder = TemporaryFolder::create(fs::temp_directory_path(), "mcpac-test-").value();
    const Project project{
        .config_file = folder.path() / "mcpac.json", .folder = folder.path(), .config = {}};
    const SystemClock clock;
    PolicyWorld world(project, clock);
    const Json schema = {{"type", "object"}, {"properties", {{"path", {{"type", "string"}}}}}};
    const Permission read = Permission::parse("fs.read").value();
    world.tools.emplace(read, schema);
    world.tools.emplace(Permission::parse("fs.write").value(), schema);
    policy::LayerText client;
    client.name = "the command line";
    client.grants = {"fs.read calls <= 1 audit meta", "fs.write"};
    client.places = {"network a.example:443", "files " + folder.path().string() + " read-only"};
    policy::LayerText ceiling;
    ceiling.name = "mcpac.policy";
    ceiling.asks = {"fs.*"};
    ceiling.places = {"network any", "files " + folder.path().string() + " read-write"};
    const auto whole = policy::Authority::load(
        {client, declaration_layer({"fs.read(path == \"a\")", "mcpac.files"}), ceiling},
        world.environment());
    REQUIRE(whole.has_value());
    auto part = attenuate(*whole, {read}, world);
    REQUIRE(part.has_value());
    // Neither the limit nor the question is met here; what the program declares holds.
    for (int i = 0; i < 3; ++i) CHECK(part->decide(read, {{"path", "a"}}).allowed());
    CHECK_FALSE(part->decide(read, {{"path", "b"}}).allowed());
    CHECK_FALSE(part->decide(Permission::parse("fs.write").value(), Json::object()).allowed());
    CHECK(part->audit_level(read) == policy::AuditLevel::kMeta);
    REQUIRE(part->files().size() == 1);
    CHECK(part->files().front().path == whole->files().front().path);
    CHECK(part->files().front().mode == policy::FileMode::kReadOnly);
    CHECK(part->networks().empty());
    CHECK(whole->networks().empty());
  }

  TEST_CASE("a project that is kept is the one that was there, whatever lies there now") {
    const auto folder = TemporaryFolder::create(fs::temp_directory_path(), "mcpac-test-").value();
    Project project{
        .config_file = folder.path() / "mcpac.json", .folder = folder.path(), .config = {}};
    auto kept = std::make_shared<KeptProject>();
    kept->policy = policy::PolicyFile("deny network", std::string(kPolicyLayer));
    project.kept = kept;
    REQUIRE(write_file_atomic(project.policy_file(), "network any\n").has_value());
    const SystemClock clock;
    const PolicyWorld world(project, clock);
    const auto authority = load_authority(project, world, {});
    REQUIRE(authority.has_value());
    CHECK(has_line(authority->print(), "deny network"));
  }
}
